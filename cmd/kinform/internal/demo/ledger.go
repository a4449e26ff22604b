package demo

import (
	"context"
	"sync"

	"github.com/kinform/kinform/indexer"
	"k8s.io/apimachinery/pkg/types"
)

// ledger is what the demo's controller does: its reconcile function reads an
// object from the store and writes down which version it saw. That is enough to
// tell, in the end, whether each key was reconciled in its last state.
type ledger struct {
	store *indexer.Reader[*pod]

	mu sync.Mutex // guards following
	// seen is the version of each key at its last reconcile, "" where the store had
	// no object.
	seen map[types.NamespacedName]string
}

func newLedger(store *indexer.Reader[*pod]) *ledger {
	return &ledger{store: store, seen: make(map[types.NamespacedName]string)}
}

func (l *ledger) reconcile(_ context.Context, key types.NamespacedName) error {
	entry, _ := l.store.Entry(key)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[key] = entry.ResourceVersion
	return nil
}

// stale counts the keys whose last reconciled state is not the server's, which
// has these versions and no other objects.
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
