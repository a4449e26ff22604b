package browser

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
)

// fakeLaboratory is a laboratory with two buttons: one at a box, and one for the whole picture.
type fakeLaboratory struct{ created, paused atomic.Value }

func (b *fakeLaboratory) Actions() []view.Action {
	return []view.Action{
		{ID: "create", Box: "server", Label: "Create pods", Help: "They appear on the server.", Inputs: []view.Input{{ID: "n", Label: "how many", Default: "3", Min: 1, Max: 50}}},
		{ID: "pause", Label: "Pause", Help: "The workers wait.", Key: "p"},
		{ID: "break", Box: "reflector", Label: "Break", Help: "It fails."},
	}
}

func (b *fakeLaboratory) Do(_ context.Context, action string, values map[string]string) (string, error) {
	switch action {
	case "create":
		b.created.Store(values["n"])
		return "created <b>" + values["n"] + "</b>", nil
	case "pause":
		b.paused.Store("yes")
		return "paused", nil
	}
	return "", errors.New("this cannot be broken")
}

func (b *fakeLaboratory) State() map[string]string {
	if b.paused.Load() != nil {
		return map[string]string{"paused": "workers"}
	}
	return nil
}

// The page has a button for each action. A press sends the page's session, which the page got for
// the code in its address.
func TestButtonsOfALaboratory(t *testing.T) {
	lab := &fakeLaboratory{}
	r := start(t, 1, nil, func(o *view.Options) { o.Laboratory = lab })
	p := r.open(t, 1200, 900)
	require.NotContains(t, eval[string](p, `location.href`), "code")
	said := func(text string) {
		t.Helper()
		p.until(`document.getElementById("said").textContent === ` + quote(text))
	}
	eval[any](p, `document.querySelector("#box-server [name=n]").value = "7"`)
	eval[any](p, `document.querySelector("#box-server [data-action=create]").click()`)
	said("created <b>7</b>")
	require.Equal(t, "7", lab.created.Load())
	p.allow("the server responded with a status of 409")
	eval[any](p, `document.querySelector("#box-reflector [data-action=break]").click()`)
	said("✗ this cannot be broken")
	p.key("p")
	said("paused")
	p.until(`document.getElementById("state").textContent === "live, paused: workers"`)
}
