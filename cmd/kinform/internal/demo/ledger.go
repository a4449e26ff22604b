package demo

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// ledger is the demo's controller. Its reconcile function looks an object up in the store and
// records its version. At the end, the records show whether the last state of each key was
// reconciled.
type ledger struct {
	// stored returns the version of a key in the store, or "" if the store has no such object.
	stored func(types.NamespacedName) string

	mu sync.Mutex // guards following
	// seen is the version of each key at its last reconcile, or "" if the store had no such object.
	seen map[types.NamespacedName]string
}

func newLedger(stored func(types.NamespacedName) string) *ledger {
	return &ledger{stored: stored, seen: make(map[types.NamespacedName]string)}
}

func (l *ledger) reconcile(_ context.Context, key types.NamespacedName) error {
	version := l.stored(key)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[key] = version
	return nil
}

// stale counts the keys whose last reconciled version differs from the server's. The map versions
// has all objects on the server.
func (l *ledger) stale(versions map[types.NamespacedName]string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	stale := 0
	for key, version := range versions {
		if l.seen[key] != version {
			stale++
		}
	}
	for key, version := range l.seen {
		if _, exists := versions[key]; !exists && version != "" {
			stale++
		}
	}
	return stale
}
