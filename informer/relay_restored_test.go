package informer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The second informer's server has another history, and has passed the versions that the handler
// received. Existing objects are not deleted, and objects that exist again are added.
func TestG2_ARelayDeletesNoExistingObject(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var d eventLines
			relay := relayed(t, &d, []listwatch.Item[*obj]{item("back", "1", "R1"), item("gone", "1", "G1")},
				of(1, ev(listwatch.Added, "a", "900", "A900")), of(2, ev(listwatch.Added, "b", "901", "B901")), of(3, ev(listwatch.Added, "c", "902", "C902")),
				ev(listwatch.Deleted, "back", "950", "R1"))
			second := newFake("1200", of(1, ev(listwatch.Added, "a", "400", "A400")).Item, of(2, ev(listwatch.Added, "b", "1150", "B1150")).Item,
				of(4, ev(listwatch.Added, "c", "401", "D401")).Item, item("back", "1", "R1"))
			inf := newInformer(t, second, informer.Options[*obj]{})
			if running {
				start(t, inf)
				synctest.Wait()
			}
			registration, err := relay.MoveTo(t.Context(), inf, informer.HandlerOptions{})
			require.NoError(t, err)
			if !running {
				start(t, inf)
			}
			synctest.Wait()
			require.ElementsMatch(t, []string{
				"Updated relist A900>A400", "Updated relist B901>B1150", "Deleted? relist C902", "Added relist >D401",
				"Added relist >R1", "Deleted? relist G1",
			}, d.read())
			require.True(t, isSynced(registration))
			second.events <- of(1, ev(listwatch.Modified, "a", "1201", "A1201"))
			second.events <- ev(listwatch.Modified, "back", "1202", "R1202")
			synctest.Wait()
			require.Equal(t, []string{"Updated watch A400>A1201", "Updated watch R1>R1202"}, d.read())
			second.set("1202", of(1, ev(listwatch.Added, "a", "1201", "A1201")).Item, of(2, ev(listwatch.Added, "b", "1150", "B1150")).Item,
				of(4, ev(listwatch.Added, "c", "401", "D401")).Item, item("back", "1202", "R1202"))
			time.Sleep(20 * time.Minute)
			require.Empty(t, d.read())
		})
	}
}

// A cluster is restored between one informer and the next. After that it is quiet, or has passed
// the delivered versions.
func TestG2_ARelayAcrossARestoredCluster(t *testing.T) {
	t.Parallel()
	for _, others := range []int{0, 100} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, informer.Options[*corev1.Pod]{})
			for n := range 4 {
				r.write(n, "first")
			}
			backup := r.server.Backup()
			p := &contentHandler{}
			deleted, restored := 0, 0
			relay := informer.NewRelay(func(e informer.Event[*corev1.Pod]) {
				if e.Type == informer.Deleted && e.Key != key(4) {
					deleted++
				}
				if e.Restored {
					restored++
				}
				p.handle(e)
			})
			_, err := relay.MoveTo(t.Context(), r.informer, informer.HandlerOptions{})
			require.NoError(t, err)
			r.runSynced()
			for n := range 5 {
				r.write(n, "after the backup")
			}
			synctest.Wait()
			require.NoError(t, r.stop())
			r.server.Restore(backup)
			for n := range others {
				_, err := r.server.Create(newPod(types.NamespacedName{Namespace: "others", Name: fmt.Sprint(n)}))
				require.NoError(t, err)
			}
			inf, err := informer.New(r.client(), informer.Options[*corev1.Pod]{})
			require.NoError(t, err)
			r.informer = inf
			registration, err := relay.MoveTo(t.Context(), inf, informer.HandlerOptions{})
			require.NoError(t, err)
			r.run()
			ctx, cancel := context.WithTimeout(t.Context(), 7*time.Minute)
			defer cancel()
			require.NoError(t, registration.WaitForSync(ctx), "%d others", others)
			synctest.Wait()
			r.requireEqual(p)
			require.Zero(t, deleted)
			require.Equal(t, 4, restored)
			require.NoError(t, r.stop())
		})
	}
}

// watchesFail is a source that can only be listed while its field down is set.
type watchesFail struct {
	*fake
	down atomic.Bool
}

func (f *watchesFail) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[*obj], error) {
	if f.down.Load() {
		return nil, errors.New("no connection")
	}
	return f.fake.Watch(ctx, opts)
}

// Time without a connection does not count as part of the five minutes.
func TestARelayAcceptsTheLagOfAConnectedInformerOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d eventLines
		relay := relayed(t, &d, nil, ev(listwatch.Added, "a", "1000", "A1000"), ev(listwatch.Added, "b", "1001", "B1001"))
		second := &watchesFail{fake: newFake("10", item("a", "5", "A5"))}
		second.down.Store(true)
		inf := newInformer(t, second, informer.Options[*obj]{})
		registration, err := relay.MoveTo(t.Context(), inf, informer.HandlerOptions{})
		require.NoError(t, err)
		start(t, inf)
		time.Sleep(time.Hour)
		require.Empty(t, d.read())
		require.False(t, isSynced(registration))
		second.down.Store(false)
		time.Sleep(5 * time.Minute)
		require.ElementsMatch(t, []string{"Updated relist A1000>A5", "Deleted? relist B1001"}, d.read())
		require.True(t, isSynced(registration))
	})
}

// An object that the second informer cannot read is not gone unless an event says so (G11).
func TestG2_ARelayDoesNotTakeUndecodableForDeleted(t *testing.T) {
	t.Parallel()
	undecodable := func(name, version string) error {
		return &listwatch.ObjectError{Key: types.NamespacedName{Name: name}, ResourceVersion: version, Type: listwatch.Modified, Err: errors.New("unreadable")}
	}
	bookmark := listwatch.Event[*obj]{Type: listwatch.Bookmark, Item: listwatch.Item[*obj]{ResourceVersion: "30"}}
	for name, c := range map[string]struct {
		listed []listwatch.Item[*obj]
		event  error
		then   any
		want   string
	}{
		"stored, then readable":         {[]listwatch.Item[*obj]{item("a", "5", "a5")}, undecodable("a", "20"), ev(listwatch.Modified, "a", "31", "a31"), "Updated watch a20>a31"},
		"stored, then gone":             {[]listwatch.Item[*obj]{item("a", "5", "a5")}, undecodable("a", "20"), ev(listwatch.Deleted, "a", "31", "a5"), "Deleted watch a20 last a5"},
		"not stored, then readable":     {nil, undecodable("a", "20"), ev(listwatch.Added, "a", "31", "a31"), "Updated relist a20>a31"},
		"not stored, then gone":         {nil, undecodable("a", "20"), ev(listwatch.Deleted, "a", "31", "a5"), "Deleted? relist a20"},
		"without a name, then readable": {nil, undecodable("", "20"), ev(listwatch.Added, "a", "31", "a31"), "Updated relist a20>a31"},
		"without a name, then gone":     {nil, undecodable("", "20"), io.EOF, "Deleted? relist a20"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var d eventLines
				relay := relayed(t, &d, []listwatch.Item[*obj]{item("b", "6", "b6")}, ev(listwatch.Added, "a", "20", "a20"))
				second := newFake("10", append(c.listed, item("b", "6", "b6"))...)
				inf := newInformer(t, second, informer.Options[*obj]{})
				registration, err := relay.MoveTo(t.Context(), inf, informer.HandlerOptions{})
				require.NoError(t, err)
				start(t, inf)
				synctest.Wait()
				second.events <- c.event
				second.events <- bookmark
				synctest.Wait()
				require.Empty(t, d.read())
				require.True(t, isSynced(registration))
				time.Sleep(10 * time.Second)
				if second.set("31", item("b", "6", "b6")); strings.HasPrefix(c.want, "Updated") {
					second.set("31", item("b", "6", "b6"), item("a", "31", "a31"))
				}
				second.events <- c.then
				time.Sleep(3 * time.Minute)
				require.Equal(t, []string{c.want}, d.read())
				time.Sleep(time.Hour)
				require.Empty(t, d.read())
			})
		})
	}
}

// An object that a transform or an index function of the second informer refuses is not gone
// either.
func TestG2_ARelayDoesNotTakeRefusedForDeleted(t *testing.T) {
	t.Parallel()
	errRefused := errors.New("refused")
	for _, gone := range []bool{true, false} {
		for _, how := range []string{"index", "transform"} {
			t.Run(fmt.Sprint(how, gone), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var d eventLines
					relay := relayed(t, &d, []listwatch.Item[*obj]{item("a", "1", "a1"), item("odd", "1", "odd1")})
					second := newFake("10", item("a", "1", "a1"), item("odd", "5", "bad"))
					source := listwatch.Source[*obj](second)
					opts := informer.Options[*obj]{}
					opts.Reflector.SkipUndecodable = true
					refuse := func(o *obj) error {
						if o.v == "bad" {
							return errRefused
						}
						return nil
					}
					if how == "index" {
						opts.Store.Indexes = map[string]indexer.IndexFunc[*obj]{"v": func(o *obj) ([]string, error) { return nil, refuse(o) }}
					} else {
						source = sources.Transform(source, func(o *obj) (*obj, error) { return o, refuse(o) })
					}
					inf := newInformer(t, source, opts)
					registration, err := relay.MoveTo(t.Context(), inf, informer.HandlerOptions{})
					require.NoError(t, err)
					start(t, inf)
					time.Sleep(10 * time.Second)
					require.Empty(t, d.read())
					require.True(t, isSynced(registration))
					then, want := ev(listwatch.Modified, "odd", "12", "odd12"), "Updated relist odd1>odd12"
					if gone {
						then, want = ev(listwatch.Deleted, "odd", "12", "bad"), "Deleted? relist odd1"
					}
					if second.set("12", item("a", "1", "a1")); !gone {
						second.set("12", item("a", "1", "a1"), item("odd", "12", "odd12"))
					}
					second.events <- then
					time.Sleep(3 * time.Minute)
					require.Equal(t, []string{want}, d.read())
				})
			})
		}
	}
}
