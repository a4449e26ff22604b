package sources_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
)

// A part may report an event after its watch has passed the event's version, for instance for an
// object that becomes visible late. A list finds the object, as in a reflector, at most once in
// five minutes.
func TestLateEventOfAPartLeadsToAList(t *testing.T) { // G2
	synctest.Test(t, func(t *testing.T) {
		a, b := newFake("10", item("a", "9", "x")), newFake("10", item("b", "8", "x"))
		// No idle timeout: a new watch of the fake would not begin with the last event.
		inf := newInformer(t, sources.Merge[*obj](a, b), informer.Options[*obj]{Reflector: reflector.Options{WatchIdleTimeout: -1}})
		start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		lists := func() uint64 { return inf.Status().Reflector.Lists }
		stored := func(name string) bool {
			synctest.Wait()
			_, ok := inf.Store().Get(types.NamespacedName{Name: name})
			return ok
		}
		before := lists()
		a.Events <- ev(listwatch.Modified, "a", "20", "y")
		// an object that neither store nor server has
		a.Events <- ev(listwatch.Deleted, "unheard", "12", "x")
		time.Sleep(time.Second)
		require.Equal(t, before, lists())
		a.Set("21", item("a", "20", "y"), item("shown", "15", "x"))
		a.Events <- ev(listwatch.Added, "shown", "15", "x")
		time.Sleep(10 * time.Second)
		require.True(t, stored("shown"))
		require.Equal(t, before+1, lists())

		a.Set("21", item("a", "20", "y"), item("shown", "15", "x"), item("second", "16", "x"))
		a.Events <- ev(listwatch.Added, "shown", "15", "x") // sent again
		for range 100 {
			a.Events <- ev(listwatch.Added, "second", "16", "x")
		}
		time.Sleep(4 * time.Minute)
		require.Equal(t, before+1, lists())
		time.Sleep(time.Minute)
		a.Events <- listwatch.Event[*obj]{Type: listwatch.Bookmark, Item: item("", "22", "")}
		time.Sleep(10 * time.Second)
		require.True(t, stored("second"))
		require.Equal(t, before+2, lists())
	})
}

// A late deletion whose object cannot be decoded may be about an object that is gone. Only a list
// can show this.
func TestALateUndecodableDeletionOfAPartLeadsToAList(t *testing.T) { // G2
	type source = listwatch.Source[*obj]
	for name, of := range map[string]func(a, b source) source{
		"merged": func(a, b source) source { return quietMerge(a, b) },
		"alone":  func(a, _ source) source { return a },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := newFake("100", item("stays", "8", "x"), item("goes", "8", "x")), newFake("100")
				inf := newInformer(t, of(a, b), informer.Options[*obj]{
					Reflector: reflector.Options{WatchIdleTimeout: -1, Logger: slog.New(slog.DiscardHandler)},
				})
				start(t, inf)
				require.NoError(t, inf.WaitForSync(t.Context()))
				undecodable := func(name string, kind listwatch.EventType) *listwatch.ObjectError {
					return &listwatch.ObjectError{Key: types.NamespacedName{Name: name}, ResourceVersion: "9", Type: kind, Err: errors.New("no JSON")}
				}
				a.Events <- undecodable("stays", listwatch.Modified) // not a deletion
				synctest.Wait()
				require.EqualValues(t, 1, inf.Status().Reflector.Lists)
				a.Set("100", item("stays", "8", "x"))
				a.Events <- undecodable("goes", listwatch.Deleted)
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Equal(t, 1, inf.Store().Len())
				require.EqualValues(t, 2, inf.Status().Reflector.Lists)
			})
		})
	}
}

// streaming is a fake that has streaming lists.
type streaming struct{ *fake }

func (s streaming) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[*obj], error) {
	stream, err := s.fake.Watch(ctx, opts)
	w := &initialEventsWatch{WatchStream: stream}
	if opts.SendInitialEvents {
		version, items := s.Listed()
		for _, item := range items {
			w.initial = append(w.initial, listwatch.Event[*obj]{Type: listwatch.Added, Item: item})
		}
		w.initial = append(w.initial, listwatch.Event[*obj]{Type: listwatch.Bookmark, InitialEventsEnd: true, Item: item("", version, "")})
	}
	return w, err
}

// initialEventsWatch is a watch that begins with given events.
type initialEventsWatch struct {
	listwatch.WatchStream[*obj]
	initial []listwatch.Event[*obj]
}

func (w *initialEventsWatch) Next() (event listwatch.Event[*obj], err error) {
	if len(w.initial) == 0 {
		return w.WatchStream.Next()
	}
	event, w.initial = w.initial[0], w.initial[1:]
	return event, nil
}

// A streaming list after a late event of a part works like any other list.
func TestLateEventOfAPartLeadsToOneStreamingList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newFake("10", item("a", "9", "x")), newFake("10", item("b", "8", "x"))
		inf := newInformer(t, sources.Merge[*obj](streaming{a}, streaming{b}), informer.Options[*obj]{
			Reflector: reflector.Options{ListMode: reflector.WatchList, WatchIdleTimeout: time.Hour, WatchTimeout: time.Hour},
		})
		start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		require.Equal(t, reflector.WatchList, inf.Status().Reflector.ListMode)
		before := inf.Status().Reflector.Lists
		a.Events <- ev(listwatch.Modified, "a", "20", "y")
		time.Sleep(time.Second)
		a.Set("21", item("a", "20", "y"), item("shown", "15", "x"))
		a.Events <- ev(listwatch.Added, "shown", "15", "x")
		time.Sleep(10 * time.Second)
		_, shown := inf.Store().Get(types.NamespacedName{Name: "shown"})
		require.True(t, shown)
		for range 5 {
			a.Events <- listwatch.Event[*obj]{Type: listwatch.Bookmark, Item: item("", "21", "")}
			time.Sleep(5 * time.Minute)
		}
		require.Equal(t, before+1, inf.Status().Reflector.Lists)
	})
}

// In some APIs each object counts its own versions. The first late event leads to a list. After
// that list, the part's events are delivered, as in a reflector.
func TestLateEventsOfAPartAreAcceptedAfterAList(t *testing.T) { // G2
	type source = listwatch.Source[*obj]
	for name, of := range map[string]func(a, b source) source{
		"merged": func(a, b source) source { return quietMerge(a, b) },
		"alone":  func(a, _ source) source { return a },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := newFake("100", item("a", "8", "0")), newFake("100")
				inf := newInformer(t, of(a, b), informer.Options[*obj]{
					Reflector: reflector.Options{WatchIdleTimeout: -1, Logger: slog.New(slog.DiscardHandler)},
				})
				start(t, inf)
				require.NoError(t, inf.WaitForSync(t.Context()))
				for _, v := range []string{"9", "10", "11"} {
					a.Set("100", item("a", v, v))
					a.Events <- ev(listwatch.Modified, "a", v, v)
					time.Sleep(time.Second)
					stored, _ := inf.Store().Get(types.NamespacedName{Name: "a"})
					require.Equal(t, v, stored.v)
				}
				a.Set("100")
				a.Events <- ev(listwatch.Deleted, "a", "11", "11")
				synctest.Wait()
				require.Zero(t, inf.Store().Len())
			})
		})
	}
}

// A watch logs an undecodable event that is older than its position.
func TestALateUndecodableEventOfAPartIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newFake("10"), newFake("10")
		var log bytes.Buffer
		source := sources.MergeWith(sources.MergeOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))}, a, b)
		inf := newInformer(t, source, informer.Options[*obj]{Reflector: reflector.Options{WatchIdleTimeout: -1}})
		stop := start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		undecodable := &listwatch.ObjectError{Key: types.NamespacedName{Name: "broken"}, ResourceVersion: "9", Type: listwatch.Modified, Err: errors.New("no JSON")}
		a.Events <- undecodable
		a.Events <- undecodable
		synctest.Wait()
		stop()
		require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=WARN")), log.String())
		require.Contains(t, log.String(), "broken")
	})
}
