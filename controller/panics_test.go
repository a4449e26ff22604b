package controller_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// panicker is a function of the program that panics, or ends its goroutine, when it is called with
// a certain name.
type panicker struct {
	end func()

	mu    sync.Mutex // guards following
	left  int        // how many more times the function panics or exits
	calls map[string]int
}

func (o *panicker) mayPanic(where string, k key) {
	o.mu.Lock()
	hit := where != "" && k.Name == "odd" && o.left > 0
	if hit {
		o.left--
		o.calls[where]++
	}
	o.mu.Unlock()
	if hit {
		o.end()
	}
}

// Every function between an event and a key may panic or exit. The key of that event is still
// reconciled, later, and keys of other events at once. This holds for events of the first list and
// of the watch, including a deletion.
func TestFunctionsThatPanicLoseNoReconcile(t *testing.T) {
	for _, at := range []string{"When", "Owns", "Watch", "the sequence of Watch", "Group", "Enqueue", "a filled queue"} {
		for how, end := range map[string]func(){"panics": func() { panic("a bug") }, "exits": runtime.Goexit} {
			for _, early := range []bool{true, false} {
				name := at + " " + how
				if early {
					name += " at the start"
				}
				t.Run(name, func(t *testing.T) {
					o := &panicker{end: end, calls: map[string]int{}}
					reach := func(where string, k key) {
						if where == at {
							o.mayPanic(where, k)
						}
					}
					opts := controller.Options{Observer: &controller.Observer{
						Enqueue: func(_, _ string, queue enqueue.Queue) (enqueue.Queue, func(key, string)) {
							return panickingQueue{queue, reach}, func(k key, _ string) { reach("Enqueue", k) }
						},
					}}
					play(t, opts, func(t *testing.T, r *rig) {
						maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
						secrets := controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{})
						var seen nameLog
						see := func(k key) { seen.add(k.Name) }
						c := controller.Manage(r.manager, "odd", maps, func(_ context.Context, m *configMap) (controller.Result, error) {
							see(keyOf(m))
							return controller.Done, nil
						}, controller.Settings[*configMap]{
							When:    func(e informer.Event[*configMap]) bool { reach("When", e.Key); return true },
							Deleted: func(_ context.Context, k key) error { see(key{Name: "no " + k.Name}); return nil },
							Queue:   workqueue.Options[key]{Group: func(k key) string { reach("Group", k); return "" }},
						})
						controller.Owns(c, secrets, func(e informer.Event[*corev1.Secret]) bool { reach("Owns", e.Key); return true })
						controller.Watch(c, secrets, func(e informer.Event[*corev1.Secret]) iter.Seq[key] {
							reach("Watch", e.Key)
							return func(yield func(key) bool) {
								reach("the sequence of Watch", e.Key)
								yield(e.Key)
							}
						}, nil)
						begin := func(times int) {
							o.mu.Lock()
							o.left = times
							o.mu.Unlock()
						}
						has := func(names ...string) {
							t.Helper()
							r.waitIdle()
							got := seen.take()
							for _, name := range names {
								require.Contains(t, got, name)
							}
						}
						if early {
							begin(3)
						}
						for _, name := range []string{"odd", "other"} {
							r.create(newMap(name))
							_, err := r.server.Create(newSecret(name))
							require.NoError(t, err)
						}
						r.run()
						has("odd", "other")
						if !early {
							begin(3)
							for _, name := range []string{"odd", "other"} {
								m := r.get(name)
								m.Data = map[string]string{"n": "1"}
								_, err := r.maps.Update(t.Context(), m, metav1.UpdateOptions{})
								require.NoError(t, err)
								require.NoError(t, r.server.Delete(corev1.SchemeGroupVersion.WithResource("secrets"), key{Namespace: "web", Name: name}))
							}
							has("odd", "other")
							begin(3)
							require.NoError(t, r.server.Delete(corev1.SchemeGroupVersion.WithResource("configmaps"), key{Namespace: "web", Name: "odd"}))
							_, err := r.server.Create(newSecret("odd"))
							require.NoError(t, err)
							has("no odd")
						}
						require.NotEmpty(t, o.calls)
						require.Zero(t, r.manager.Status().Controllers[0].Undelivered)
						require.Contains(t, r.logged(), map[string]string{"panics": "a bug", "exits": "runtime.Goexit"}[how])
					})
				})
			}
		}
	}
}

// nameLog records names, in the order of their arrival.
type nameLog struct {
	mu    sync.Mutex // guards following
	names []string
}

// add adds a name, and returns its number of occurrences.
func (n *nameLog) add(name string) (times int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names = append(n.names, name)
	for _, other := range n.names {
		if other == name {
			times++
		}
	}
	return times
}

func (n *nameLog) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	names := n.names
	n.names = nil
	return names
}

// panickingQueue is the queue of an observer.
type panickingQueue struct {
	enqueue.Queue
	mayPanic func(string, key)
}

func (f panickingQueue) AddWith(k key, how workqueue.AddOptions) {
	f.mayPanic("a filled queue", k)
	f.Queue.AddWith(k, how)
}

// A predicate that always panics for one object prevents only the reconcile of that object. The
// predicate is called at longer and longer intervals, and the status counts the waiting objects.
func TestPredicateThatAlwaysPanicsIsCalledAtLongerIntervals(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		var seen nameLog
		var mu sync.Mutex
		calls := 0
		var types []informer.EventType // handled events of the object
		controller.Manage(r.manager, "odd", maps, func(_ context.Context, m *configMap) (controller.Result, error) {
			seen.add(m.Name + m.Data["n"])
			return controller.Done, nil
		}, controller.Settings[*configMap]{When: func(e informer.Event[*configMap]) bool {
			mu.Lock()
			defer mu.Unlock()
			if e.Key.Name != "odd" {
				return true
			}
			if e.New.Data["n"] != "mended" {
				calls++
				panic("a bug")
			}
			types = append(types, e.Type)
			return true
		}})
		r.run()
		r.create(newMap("odd", "n", "0"))
		r.create(newMap("other"))
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"other"}, seen.take())
		require.Less(t, calls, 30)
		require.Equal(t, 1, r.manager.Status().Controllers[0].Undelivered)
		require.Equal(t, 1, strings.Count(r.logged(), "handler panicked"))
		for _, n := range []string{"1", "2", "mended"} {
			m := r.get("odd")
			m.Data["n"] = n
			_, err := r.maps.Update(t.Context(), m, metav1.UpdateOptions{})
			require.NoError(t, err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"oddmended"}, slices.Compact(seen.take()))
		require.Zero(t, r.manager.Status().Controllers[0].Undelivered)
		require.ElementsMatch(t, []informer.EventType{informer.Added, informer.Updated}, types, "one event for all lost events, and the last event")
	})
}

// panicking is an error whose Unwrap panics.
type panicking struct{}

func (panicking) Error() string { return "odd" }
func (panicking) Unwrap() error { panic("a bug") }

// A reconcile, a function Deleted and a part may return an error that panics when it is examined,
// such as a nil *rest.Error. This counts as a failure: the key is retried, and an optional part is
// restarted.
func TestErrorsThatPanicEndNothing(t *testing.T) {
	var nilError *rest.Error
	for name, failed := range map[string]error{"a nil pointer": nilError, "Unwrap panics": panicking{}, "joined": errors.Join(errors.New("x"), panicking{})} {
		t.Run(name, func(t *testing.T) {
			play(t, controller.Options{}, func(t *testing.T, r *rig) {
				maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
				var seen nameLog
				first := func(what string) error {
					if n := seen.add(what); n == 1 {
						return failed
					}
					return nil
				}
				controller.Manage(r.manager, "odd", maps, func(_ context.Context, m *configMap) (controller.Result, error) {
					return controller.Done, first(m.Name)
				}, controller.Settings[*configMap]{Deleted: func(_ context.Context, k key) error { return first("no " + k.Name) }})
				r.manager.Add("part", func(ctx context.Context) error { return first("part") }, controller.PartOptions{Optional: true})
				r.run()
				r.create(newMap("a"))
				r.waitIdle()
				require.NoError(t, r.server.Delete(corev1.SchemeGroupVersion.WithResource("configmaps"), key{Namespace: "web", Name: "a"}))
				r.waitIdle()
				got := seen.take()
				slices.Sort(got)
				require.Equal(t, []string{"a", "a", "no a", "no a", "part", "part"}, got)
				require.Contains(t, r.logged(), "reconcile failed")
				require.NoError(t, r.manager.Ready())
			})
		})
	}
}
