package reflector

import (
	"testing"
	"time"
)

func TestWakeEndsAWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		wake := make(chan struct{}, 1)
		g := newRig(Options{Wake: wake, Backoff: Backoff{Base: 10 * time.Second}})
		g.source.lists = []reply{refuse(errNotFound), refuse(errNotFound), whole("5")}
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

// Many programs signal by closing a channel. A closed Wake must not make the reflector send
// requests without waits.
func TestAClosedWakeEndsOneWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		wake := make(chan struct{})
		g := newRig(Options{Wake: wake, Backoff: Backoff{Base: 10 * time.Second}})
		g.source.lists = append(times(2, refuse(errNotFound)), whole("5"))
		time.AfterFunc(3*time.Second, func() { close(wake) })
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
