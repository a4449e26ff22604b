package versions

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
)

// KeyWaiters has the keys for which a channel of Notify is open.
type KeyWaiters struct {
	count atomic.Int64 // length of byKey; if it is 0, a writer takes no lock

	mu    sync.Mutex // guards following
	byKey map[types.NamespacedName]*keyWaiter
}

// keyWaiter is the channel of one key, and the number of its users.
type keyWaiter struct {
	changed chan struct{}
	users   int
}

// Add returns a channel that Notify closes, and a function that ends the wait.
func (w *KeyWaiters) Add(key types.NamespacedName) (<-chan struct{}, func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.byKey[key]
	if k == nil {
		if w.byKey == nil {
			w.byKey = make(map[types.NamespacedName]*keyWaiter)
		}
		k = &keyWaiter{changed: make(chan struct{})}
		w.byKey[key] = k
		w.count.Add(1)
	}
	k.users++
	return k.changed, sync.OnceFunc(func() { w.remove(key, k) })
}

// Keys returns the keys. If there are no keys, it costs one atomic load.
func (w *KeyWaiters) Keys() []types.NamespacedName {
	if w.count.Load() == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.byKey))
}

// remove ends the wait of one user.
func (w *KeyWaiters) remove(key types.NamespacedName, k *keyWaiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k.users--
	if k.users == 0 && w.byKey[key] == k {
		w.dropLocked(key)
	}
}

// Notify closes the channel of a key that has changed.
func (w *KeyWaiters) Notify(key types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k := w.byKey[key]; k != nil {
		close(k.changed)
		w.dropLocked(key)
	}
}

func (w *KeyWaiters) dropLocked(key types.NamespacedName) {
	delete(w.byKey, key)
	w.count.Add(-1)
}
