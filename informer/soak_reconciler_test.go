package informer_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/testing/guarantees"
	"github.com/kinform/kinform/workqueue"
)

// reconciler is a controller that a handler feeds. Its copy of the store must in the end equal the
// server, and no two workers may have the same key (G9).
type reconciler struct {
	queue *workqueue.Queue[types.NamespacedName]
	stop  func()

	mu   sync.Mutex // guards following
	busy map[types.NamespacedName]bool
	made guarantees.State
}

func newReconciler(s *soakRun) *reconciler {
	r := &reconciler{
		queue: workqueue.New(workqueue.Options[types.NamespacedName]{}),
		busy:  map[types.NamespacedName]bool{},
		made:  guarantees.State{},
	}
	random := rand.New(rand.NewPCG(s.random.Uint64(), 4))
	ctx, cancel := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			for {
				key, err := r.queue.Get(ctx)
				if err != nil {
					return
				}
				r.mu.Lock()
				if r.busy[key] {
					s.violate("G9: %v is with two workers", key)
				}
				r.busy[key] = true
				pace := time.Duration(random.IntN(50)) * time.Millisecond
				r.mu.Unlock()
				entry, exists := s.informer.Store().Entry(key)
				time.Sleep(pace)
				r.mu.Lock()
				delete(r.busy, key)
				if delete(r.made, key); exists {
					r.made[key] = entry.ResourceVersion
				}
				r.mu.Unlock()
				r.queue.Done(key)
				soaked.reconciled.Add(1)
			}
		})
	}
	r.stop = func() {
		r.queue.ShutDown()
		cancel()
		workers.Wait()
	}
	return r
}

func (r *reconciler) enqueue(e informer.Event[*corev1.Pod]) { r.queue.Add(e.Key) }

func (r *reconciler) differs(truth guarantees.State) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !maps.Equal(r.made, truth) {
		return fmt.Sprintf("the reconciler has made %v, the server has %v", r.made, truth)
	}
	return ""
}
