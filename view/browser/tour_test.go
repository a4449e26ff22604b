package browser

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view/lab"
)

// tour starts a laboratory and opens a lesson in a tab.
func tour(t *testing.T, lesson int, width, height int64, media ...string) *tab {
	t.Helper()
	laboratory, err := lab.New(lab.Options{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- laboratory.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	served := httptest.NewServer(laboratory.View())
	t.Cleanup(served.Close)
	t.Cleanup(laboratory.View().Close)
	p := newTab(t, width, height, media...)
	p.do(chromedp.Navigate(laboratory.View().Address(served.URL+"/") + fmt.Sprintf("&tour=%d", lesson)))
	return p
}

// The tour plays by itself, and stops when the user asks for it. On a phone, nothing is wider than
// the screen.
func TestTourByItself(t *testing.T) {
	p := tour(t, 1, 390, 844, "prefers-color-scheme:dark", "prefers-reduced-motion:reduce")
	p.until(`document.querySelector("#tour .place").textContent.startsWith("1 /")`)
	eval[any](p, `document.getElementById("tour-language").click()`)
	eval[any](p, `document.getElementById("tour-play").click()`)
	p.until(`document.querySelector("#tour .place").textContent.startsWith("2 /")`)
	eval[any](p, `document.getElementById("tour-play").click()`)
	require.Equal(t, "false", eval[string](p, `document.getElementById("tour-play").getAttribute("aria-pressed")`))
	require.True(t, eval[bool](p, `document.documentElement.scrollWidth <= innerWidth`))
	if dir := os.Getenv("KINFORM_SCREENSHOTS"); dir != "" {
		png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "phone.png"), png, 0o600))
	}
	p.key("\u001b")
	p.until(`document.getElementById("tour").hidden`)
}

// Without a laboratory, the tour names the command to run.
func TestTourWithoutLaboratory(t *testing.T) {
	p := start(t, 1, nil).open(t, 1000, 800)
	p.key("l")
	p.until(`document.querySelector("#tour .caption").textContent.includes("kinform lab")`)
	p.key("l")
	p.until(`document.getElementById("tour").hidden`)
}
