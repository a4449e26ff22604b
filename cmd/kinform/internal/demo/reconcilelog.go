package demo

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// reconcileLog is the demo's controller. Its reconcile function looks up an object in the store and
// records the object's version. At the end, the records show whether the last state of each key was
// reconciled.
type reconcileLog struct {
	// stored returns the version of an object in the store, or "" if the store does not have the
	// object.
	stored func(types.NamespacedName) string

	mu sync.Mutex // guards following
	// reconciled is the version of each object at its last reconcile, or "" if the store did not
	// have the object.
	reconciled map[types.NamespacedName]string
}

func newReconcileLog(stored func(types.NamespacedName) string) *reconcileLog {
	return &reconcileLog{stored: stored, reconciled: make(map[types.NamespacedName]string)}
}

func (l *reconcileLog) reconcile(_ context.Context, key types.NamespacedName) error {
	version := l.stored(key)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reconciled[key] = version
	return nil
}

// stale counts the keys whose last reconciled version differs from the version on the server. The
// map versions has all objects on the server.
func (l *reconcileLog) stale(versions map[types.NamespacedName]string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	stale := 0
	for key, version := range versions {
		if l.reconciled[key] != version {
			stale++
		}
	}
	for key, version := range l.reconciled {
		if _, exists := versions[key]; !exists && version != "" {
			stale++
		}
	}
	return stale
}
