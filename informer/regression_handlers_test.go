package informer_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

func TestAddIndexBetweenApplyAndDeliveryDeliversNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1")
		var inf *informer.Informer[*obj]
		var got []string
		armed := false
		inf = newInformer(t, f, informer.Options[*obj]{Observer: &informer.Observer{OnApplied: func(a informer.AppliedInfo) {
			if armed && len(a.Keys) > 0 {
				armed = false
				_, err := inf.AddHandler(func(e informer.Event[*obj]) { got = append(got, names(e)) }, informer.HandlerOptions{})
				require.NoError(t, err)
				require.NoError(t, inf.AddIndex("v", func(o *obj) ([]string, error) { return []string{o.v}, nil }))
			}
		}}})
		stop := start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		armed = true
		f.Events <- ev(listwatch.Added, "a", "2", "x")
		synctest.Wait()
		stop()
		require.Equal(t, []string{"Added a@2"}, got)
	})
}

func TestAnIndexErrorThatWrapsSeveralIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1", item("a", "1", "x"))
		o := informer.Options[*obj]{Reflector: reflector.Options{SkipUndecodable: true}}
		o.Store.Indexes = map[string]indexer.IndexFunc[*obj]{"v": func(*obj) ([]string, error) {
			return nil, errors.Join(errors.New("one"), errors.New("two"))
		}}
		inf := newInformer(t, f, o)
		var got []string
		_, _ = inf.AddHandler(func(e informer.Event[*obj]) { got = append(got, names(e)) }, informer.HandlerOptions{})
		stop := start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		f.Events <- ev(listwatch.Modified, "a", "2", "y")
		synctest.Wait()
		stop()
		require.Zero(t, inf.Store().Len())
		require.Empty(t, got, "handlers do not receive an object that is not stored")
	})
}

func TestBlockStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1", item("a", "1", "0"))
		inf := newInformer(t, f, informer.Options[*obj]{})
		release := make(chan struct{})
		n := 0
		_, _ = inf.AddHandler(func(e informer.Event[*obj]) { <-release; n++ }, informer.HandlerOptions{Overflow: informer.Block, Mailbox: 1})
		stop := start(t, inf)
		var sent atomic.Int32
		go func() {
			for i := range 500 {
				f.Events <- ev(listwatch.Modified, "a", fmt.Sprint(i+2), "x")
				sent.Add(1)
				// The time is virtual: every goroutine runs until it blocks.
				time.Sleep(time.Millisecond)
			}
		}()
		time.Sleep(time.Minute)
		require.Less(t, sent.Load(), int32(10), "a handler that is stuck keeps the reflector from reading")
		close(release)
		time.Sleep(time.Minute)
		require.EqualValues(t, 500, sent.Load())
		stop()
		require.Positive(t, n)
		entry, _ := inf.Store().Entry(types.NamespacedName{Name: "a"})
		require.Equal(t, "501", entry.ResourceVersion)
	})
}

func TestRunEndsAlthoughAHandlerBlocks(t *testing.T) { // SI-3
	synctest.Test(t, func(t *testing.T) {
		var items []listwatch.Item[*obj]
		for i := range 1000 {
			items = append(items, item(fmt.Sprint(i), fmt.Sprint(i+1), "x"))
		}
		f := newFake("1000", items...)
		inf := newInformer(t, f, informer.Options[*obj]{})
		_, _ = inf.AddHandler(func(e informer.Event[*obj]) { time.Sleep(time.Second) }, informer.HandlerOptions{Overflow: informer.Block, Mailbox: 1})
		stop := start(t, inf)
		time.Sleep(1500 * time.Millisecond)
		began := time.Now()
		stop()
		require.Less(t, time.Since(began), 10*time.Second, "events that no handler has taken are dropped")
	})
}

func TestSyncedDoesNotWaitForABlockingHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("3", item("a", "1", "x"), item("b", "2", "x"), item("c", "3", "x"))
		inf := newInformer(t, f, informer.Options[*obj]{})
		release := make(chan struct{})
		_, _ = inf.AddHandler(func(e informer.Event[*obj]) { <-release }, informer.HandlerOptions{Overflow: informer.Block, Mailbox: 1})
		start(t, inf)
		synctest.Wait()
		l := inf.Store().Len()
		s := inf.Status().Synced
		close(release)
		require.Equal(t, 3, l)
		require.True(t, s, "the first list is in the store")
	})
}

func TestRemoveBeforeRunClosesDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inf := newInformer(t, newFake("1"), informer.Options[*obj]{})
		r, _ := inf.AddHandler(func(e informer.Event[*obj]) {}, informer.HandlerOptions{})
		r.Remove()
		stop := start(t, inf)
		synctest.Wait()
		stop()
		select {
		case <-r.Done():
		default:
			t.Fatal("Done is not closed although the handler was removed and Run has returned")
		}
	})
}

func TestARemovedRegistrationReleasesItsSnapshot(t *testing.T) {
	big := item("a", "1", "x")
	collected := make(chan struct{})
	runtime.AddCleanup(big.Object, func(c chan struct{}) { close(c) }, collected)
	f := newFake("2", big, item("b", "2", "x"))
	inf := newInformer(t, f, informer.Options[*obj]{})
	big = listwatch.Item[*obj]{}
	start(t, inf)
	require.NoError(t, inf.WaitForSync(t.Context()))
	in := make(chan struct{}, 2)
	release := make(chan struct{})
	r, _ := inf.AddHandler(func(e informer.Event[*obj]) { in <- struct{}{}; <-release }, informer.HandlerOptions{})
	<-in
	r.Remove()
	close(release)
	<-r.Done()
	f.Set("2")
	f.Events <- ev(listwatch.Deleted, "a", "3", "x")
	f.Events <- ev(listwatch.Bookmark, "", "4", "")
	require.NoError(t, inf.Store().WaitRV(t.Context(), "4"))
	require.Eventually(t, func() bool {
		runtime.GC()
		select {
		case <-collected:
			return true
		default:
			return false
		}
	}, time.Minute, 10*time.Millisecond, "a removed registration holds what was stored when it was added")
	runtime.KeepAlive(r)
}

// A handler may panic, or end its goroutine as testing's FailNow does. It still gets each event
// once, with every overflow policy, whether it was added before or after Run: the event counts as
// handled. Such a handler delays no other handler. It is logged and counted, and WaitForSync
// returns.
func TestAHandlerThatEndsItsGoroutineGoesOn(t *testing.T) {
	for name, end := range map[string]func(){"panics": func() { panic("a bug") }, "exits": runtime.Goexit} {
		for _, overflow := range []informer.Overflow{informer.Coalesce, informer.Block, informer.Unbounded} {
			for _, late := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%v/late=%v", name, overflow, late), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						var log bytes.Buffer
						f := newFake("3", item("a", "1", "x"), item("b", "2", "x"), item("c", "3", "x"), item("d", "4", "x"))
						inf := newInformer(t, f, informer.Options[*obj]{Logger: slog.New(slog.NewTextHandler(&log, nil))})
						var stop func()
						if late {
							stop = start(t, inf)
							require.NoError(t, inf.WaitForSync(t.Context()))
						}
						received := map[string]int{}
						r, err := inf.AddHandler(func(e informer.Event[*obj]) {
							received[e.Key.Name+" "+e.Type.String()]++
							end()
						}, informer.HandlerOptions{Name: "odd", Overflow: overflow, Mailbox: 1})
						require.NoError(t, err)
						if !late {
							stop = start(t, inf)
						}
						require.NoError(t, r.WaitForSync(t.Context()))
						f.Events <- ev(listwatch.Added, "e", "5", "x")
						f.Events <- ev(listwatch.Deleted, "a", "6", "x")
						synctest.Wait()
						require.Equal(t, map[string]int{"a Added": 1, "b Added": 1, "c Added": 1, "d Added": 1, "e Added": 1, "a Deleted": 1}, received)
						require.Equal(t, 4, inf.Store().Len())
						status := r.Status()
						require.EqualValues(t, 6, status.Panics)
						require.EqualValues(t, 6, status.Delivered)
						require.Equal(t, 1, strings.Count(log.String(), "handler=odd"), "%s", &log)
						stop()
						<-r.Done()
					})
				})
			}
		}
	}
}

// A handler that ends its goroutine during its initial adds can be removed at that time.
func TestAHandlerThatEndsItsGoroutineCanBeRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("3", item("a", "1", "x"), item("b", "2", "x"), item("c", "3", "x"), item("d", "4", "x"))
		inf := newInformer(t, f, informer.Options[*obj]{Logger: slog.New(slog.DiscardHandler)})
		stop := start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		calls := 0
		registered := make(chan *informer.Registration[*obj], 1)
		r, err := inf.AddHandler(func(informer.Event[*obj]) {
			if calls++; calls == 2 {
				(<-registered).Remove()
			}
			runtime.Goexit()
		}, informer.HandlerOptions{})
		require.NoError(t, err)
		registered <- r
		<-r.Done()
		require.Equal(t, 2, calls)
		stop()
	})
}

func TestAResyncOfAnEmptyStoreDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1")
		inf := newInformer(t, f, informer.Options[*obj]{})
		var at []time.Duration
		began := time.Now()
		_, _ = inf.AddHandler(func(e informer.Event[*obj]) {
			if e.Cause == informer.Resync {
				at = append(at, time.Since(began))
			}
		}, informer.HandlerOptions{Resync: time.Hour})
		_, _ = inf.AddHandler(func(e informer.Event[*obj]) {}, informer.HandlerOptions{Resync: 7 * time.Minute})
		stop := start(t, inf)
		time.Sleep(61 * time.Minute)
		f.Events <- ev(listwatch.Added, "a", "2", "x")
		time.Sleep(50 * time.Minute)
		stop()
		require.Empty(t, at, "the next resync is due after two hours")
	})
}

func TestTheErrorOfARemovedHandlerSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1", item("a", "1", "x"))
		inf := newInformer(t, f, informer.Options[*obj]{Name: "pods"})
		start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		release := make(chan struct{})
		r, _ := inf.AddHandler(func(e informer.Event[*obj]) { <-release }, informer.HandlerOptions{Name: "h"})
		synctest.Wait()
		r.Remove()
		err := r.WaitForSync(t.Context())
		close(release)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "informer pods is not synced", "the informer is synced: only the handler was removed")
	})
}

func TestANilHandlerIsRefused(t *testing.T) {
	inf := newInformer(t, newFake("1"), informer.Options[*obj]{})
	_, err := inf.AddHandler(nil, informer.HandlerOptions{})
	require.Error(t, err)
}

func TestADeleteIsDeliveredEvenIfTheNextObjectCannotBeIndexed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1", item("a", "1", "x"))
		proceed := make(chan struct{}, 10)
		o := informer.Options[*obj]{Observer: &informer.Observer{OnApplied: func(informer.AppliedInfo) { <-proceed }}}
		o.Store.Indexes = map[string]indexer.IndexFunc[*obj]{"v": func(o *obj) ([]string, error) {
			if o.v == "bad" {
				return nil, errors.New("no")
			}
			return nil, nil
		}}
		inf := newInformer(t, f, o)
		var got []string
		_, _ = inf.AddHandler(func(e informer.Event[*obj]) { got = append(got, names(e)) }, informer.HandlerOptions{})
		stop := start(t, inf)
		// The first list is applied and the informer is blocked, so the following events are one
		// batch.
		synctest.Wait()
		f.Events <- ev(listwatch.Modified, "a", "2", "x")
		f.Events <- ev(listwatch.Deleted, "a", "3", "x")
		f.Events <- ev(listwatch.Added, "a", "4", "bad")
		synctest.Wait()
		close(proceed)
		synctest.Wait()
		stop()
		require.Equal(t, []string{"Added a@1", "Updated a@2", "Deleted a@3"}, got)
		require.Zero(t, inf.Store().Len(), "the old object is gone from the server")
	})
}

// A handler that is always behind still gets resyncs.
func TestAHandlerThatIsAlwaysBehindIsResynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("2", item("a", "1", "x"), item("b", "2", "x"))
		inf := newInformer(t, f, informer.Options[*obj]{})
		n := 0
		_, _ = inf.AddHandler(func(e informer.Event[*obj]) {
			time.Sleep(1100 * time.Millisecond)
			if e.Cause == informer.Resync {
				n++
			}
		}, informer.HandlerOptions{Resync: 10 * time.Second})
		stop := start(t, inf)
		for i := range 300 {
			f.Events <- ev(listwatch.Modified, "a", fmt.Sprint(i+10), "x")
			time.Sleep(time.Second)
		}
		got := n
		stop()
		require.Positive(t, got, "in 300 s, a handler that is always busy receives some of its resyncs, which are due every 10 s")
	})
}

func TestStressOfHandlersAndIndexes(t *testing.T) { // SI-21
	f := newFake("1")
	inf := newInformer(t, f, informer.Options[*obj]{})
	stop := start(t, inf)
	require.NoError(t, inf.WaitForSync(t.Context()))
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		for i := 2; ; i++ {
			e := ev([]listwatch.EventType{listwatch.Added, listwatch.Modified, listwatch.Deleted}[i%3], fmt.Sprint(i/3%7), fmt.Sprint(i), "x")
			select {
			case f.Events <- e:
			case <-done:
				return
			}
		}
	})
	dup := 0
	var mu sync.Mutex
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				known := map[string]bool{}
				r, err := inf.AddHandler(func(e informer.Event[*obj]) {
					if known[e.Key.Name] == (e.Type == informer.Added) {
						mu.Lock()
						dup++
						mu.Unlock()
					}
					known[e.Key.Name] = e.Type != informer.Deleted
				}, informer.HandlerOptions{Resync: time.Millisecond})
				if err != nil {
					return
				}
				time.Sleep(2 * time.Millisecond)
				r.Remove()
				<-r.Done()
			}
		})
	}
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				_ = inf.AddIndex(fmt.Sprint(i%8), func(o *obj) ([]string, error) { return nil, nil })
				time.Sleep(50 * time.Microsecond)
			}
			if i%8 == 7 {
				i = -1
			}
		}
	})
	// Real time: the goroutines that race must not be synchronised by a bubble.
	time.Sleep(time.Second)
	close(done)
	wg.Wait()
	stop()
	require.Zero(t, dup)
}
