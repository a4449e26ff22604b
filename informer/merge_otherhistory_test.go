package informer_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
)

// A cluster that was restored from a backup reaches its former versions with other contents. If the
// informer has noticed nothing except broken connections, only a comparison of the last event
// reveals this.
func TestG2_MergedSourcesNoticeAnotherHistoryOfTheSameVersions(t *testing.T) {
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		for _, writes := range testsize.Sample([]int{20, 3, 16, 19, 17, 18, 21, 40}, 3) {
			for _, outage := range []time.Duration{0, 20 * time.Second} {
				t.Run(fmt.Sprint(mode, " ", writes, " writes ", outage), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						r := newMergedRig(t, apitest.Options{}, informer.Options[*corev1.Pod]{Reflector: reflector.Options{ListMode: mode}})
						for n := range 10 {
							r.write(n, "first")
						}
						p := &contentHandler{}
						r.add(p.handle, informer.HandlerOptions{})
						r.runSynced()
						backup := r.server.Backup()
						for n := range 20 {
							r.write(n%10, "after the backup")
						}
						synctest.Wait()
						if outage > 0 {
							down := r.server.Inject(apitest.Fault{Action: apitest.Drop()})
							defer down.Remove()
							r.restore(backup, writes)
							time.Sleep(outage)
							down.Remove()
						} else {
							r.restore(backup, writes)
						}
						time.Sleep(time.Minute)
						r.requireContents(p)
					})
				})
			}
		}
	}
}

// restore restores the server from the backup. It then makes other changes than before, in another
// order.
func (r *rig) restore(backup *apitest.Backup, writes int) {
	r.server.Restore(backup)
	r.rewrite(writes)
}

func (r *rig) rewrite(writes int) {
	for n := range writes {
		r.write((n+5)%10, "another history")
	}
}

// requireContents requires that store and handler have the contents of the server's objects in the
// namespaces of a merged rig. Equal versions are not enough.
func (r *rig) requireContents(p *contentHandler) {
	r.t.Helper()
	objects, _, err := r.server.List(pods, "")
	require.NoError(r.t, err)
	want := contents(objects)
	for key := range want {
		if key.Namespace == "ns-1" {
			delete(want, key)
		}
	}
	var stored []apitest.Object
	for entry := range r.informer.Store().Entries() {
		stored = append(stored, entry.Object)
	}
	require.Equal(r.t, want, contents(stored), "store")
	require.Equal(r.t, want, p.contents(), "handler")
}

func TestG2_MergedSourcesNoticeAnotherHistoryInEveryCase(t *testing.T) {
	for name, c := range map[string]struct {
		after   func(r *rig, n int) bool // whether to write the pod after the backup
		restore func(r *rig) (mend func())
		within  time.Duration
	}{
		"a quiet part beside a busy one": {
			after: func(_ *rig, n int) bool { return key(n).Namespace == "ns-0" },
		},
		"passed by other resources alone": {
			restore: func(r *rig) func() {
				for n := range 30 {
					_, err := r.server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint(n)}})
					require.NoError(r.t, err)
				}
				return nil
			},
		},
		"the last event is forgotten, and versions are behind": {
			restore: func(r *rig) func() { r.server.Compact(); return nil },
		},
		"a part cannot be listed for a while": {
			restore: func(r *rig) func() {
				r.rewrite(20)
				return r.server.Inject(apitest.Fault{Verb: "list", Match: inNamespace("ns-2"), Action: apitest.Code(500, 0)}).Remove
			},
			within: 10 * time.Minute,
		},
		"the last event cannot be read": {
			restore: func(r *rig) func() {
				r.rewrite(20)
				return r.server.Inject(apitest.Fault{Verb: "watch", Times: 2, Action: apitest.UndecodableObject(1)}).Remove
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newMergedRig(t, apitest.Options{}, informer.Options[*corev1.Pod]{})
				for n := range 10 {
					r.write(n, "first")
				}
				p := &contentHandler{}
				r.add(p.handle, informer.HandlerOptions{})
				r.runSynced()
				backup := r.server.Backup()
				for n := range 20 {
					if c.after == nil || c.after(r, n%10) {
						r.write(n%10, "after the backup")
					}
				}
				synctest.Wait()
				r.server.Restore(backup)
				if c.restore == nil {
					r.rewrite(20)
				} else if mend := c.restore(r); mend != nil {
					time.Sleep(time.Minute)
					mend()
				}
				time.Sleep(max(c.within, time.Minute))
				r.requireContents(p)
				require.NoError(t, r.informer.Healthy(time.Minute))
			})
		})
	}
}

// If the server has the known history, a lost connection costs a comparison and a repeated event.
// No handler receives that event.
func TestPartsThatRepeatTheirLastEventAreNotListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const losses = 10
		parts := testsize.Scale(50, 25)
		s := apitest.New(apitest.Options{BookmarkInterval: time.Minute})
		require.NoError(t, s.ListenMemory())
		t.Cleanup(s.Close)
		var requests counter
		var all []listwatch.Source[*corev1.Pod]
		var namespaces []string
		for n := range parts {
			namespaces = append(namespaces, fmt.Sprintf("part-%d", n))
		}
		for _, source := range podsOf(t, s, namespaces...) {
			all = append(all, counted{source, &requests})
		}
		inf, err := informer.New(sources.MergeWith(sources.MergeOptions{Logger: slog.New(slog.DiscardHandler)}, all...), informer.Options[*corev1.Pod]{})
		require.NoError(t, err)
		r := &rig{t: t, server: s, informer: inf}
		var events atomic.Int64
		r.add(func(informer.Event[*corev1.Pod]) { events.Add(1) }, informer.HandlerOptions{Mailbox: 1, Overflow: informer.Block})
		r.runSynced()
		for n := range parts {
			_, err := s.Create(newPod(partKey(n)))
			require.NoError(t, err)
		}
		time.Sleep(time.Second)
		lists, watches := requests.lists.Load(), requests.watches.Load()
		for range losses {
			s.DropWatches("pods")
			time.Sleep(10 * time.Second)
		}
		// If all parts lose their watches at the same time, the merged watch has failed. Three such
		// failures in a row cause a list.
		require.LessOrEqual(t, inf.Status().Reflector.Lists, uint64(1+losses/3))
		require.LessOrEqual(t, requests.watches.Load()-watches, int64(parts*(losses+losses/3)), "each part opens one watch after each loss, and one after each list")
		require.LessOrEqual(t, requests.lists.Load()-lists, int64(parts*(7+losses/3)+losses),
			"a part compares at growing intervals; the reflector compares after each loss")
		synctest.Wait()
		require.EqualValues(t, parts, events.Load())

		// An expired resume position does not cause a list either.
		s.Compact()
		s.DropWatches("pods")
		time.Sleep(10 * time.Second)
		for n := range parts {
			pod := newPod(partKey(n))
			pod.Labels["changed"] = "at last"
			_, err := s.Update(pod)
			require.NoError(t, err)
		}
		time.Sleep(2 * time.Minute)
		require.EqualValues(t, 2*parts, events.Load())
		require.NoError(t, inf.Healthy(5*time.Minute))
	})
}

// counter counts the requests to counted sources.
type counter struct{ lists, watches atomic.Int64 }

type counted struct {
	listwatch.Source[*corev1.Pod]
	*counter
}

func (c counted) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[*corev1.Pod], error) {
	c.lists.Add(1)
	return c.Source.List(ctx, opts)
}

func (c counted) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[*corev1.Pod], error) {
	c.watches.Add(1)
	return c.Source.Watch(ctx, opts)
}
