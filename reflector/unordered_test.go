package reflector

import (
	"io"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/listwatch"
)

func unordered(ev listwatch.Event[string]) listwatch.Event[string] {
	ev.Unordered = true
	return ev
}

func TestUnorderedEventsMoveNoVersionAndAreNeverStale(t *testing.T) { // G1, G8
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{whole("5", "a@3")}
		g.source.watches = []reply{
			play(unordered(added("b@9")), unordered(modified("a@7")), bookmark("7"), unordered(deleted("a@8")), io.EOF),
			play(modified("c@6"), modified("c@8")),
		}
		g.run(t, time.Second,
			`0s list "0" limit=500`,
			`0s replace "5": a@3`,
			`0s watch "5"`,
			`0s added b@9`,
			`0s modified a@7`,
			`0s bookmark @7`,
			`0s deleted a@8`,
			`0s watch "7"`, // where c@6, which is ordered, is stale
			`0s modified c@8`,
		)
	})
}

func TestWakeEndsAWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		wake := make(chan struct{}, 1)
		g := newRig(Options{Wake: wake, Backoff: Backoff{Base: 10 * time.Second}})
		missing := apierrors.NewNotFound(schema.GroupResource{Resource: "widgets"}, "")
		g.source.lists = []reply{refuse(missing), refuse(missing), whole("5")}
		time.AfterFunc(3*time.Second, func() { wake <- struct{}{} })
		g.run(t, time.Minute,
			`0s list "0" limit=500`,
			`0s reflector: listing: widgets "" not found (failure 1 in a row, next attempt in 10s)`,
			`3s list "0" limit=500`,
			`3s reflector: listing: widgets "" not found (failure 2 in a row, next attempt in 20s)`,
			`23s list "0" limit=500`,
			`23s replace "5":`,
			`23s watch "5"`,
		)
	})
}
