package reflector

import (
	"io"
	"testing"
	"time"

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
			play(modified("c@8")),
		}
		g.run(t, time.Second,
			`0s list "0" limit=500`,
			`0s replace "5": a@3`,
			`0s watch "5"`,
			`0s added b@9`,
			`0s modified a@7`,
			`0s bookmark @7`,
			`0s deleted a@8`,
			`0s watch "7"`,
			`0s modified c@8`,
		)
	})
}
