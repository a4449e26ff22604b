package sources_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
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

// unversioned is a fake without versions. Each watch begins with the objects that exist.
type unversioned struct{ *fake }

func (u unversioned) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[*obj], error) {
	stream, err := u.fake.Watch(ctx, opts)
	w := &initialEventsWatch{WatchStream: stream}
	_, items := u.Listed()
	for _, item := range items {
		w.initial = append(w.initial, listwatch.Event[*obj]{Type: listwatch.Added, Item: item})
	}
	return w, err
}

// A watch without a version does not show earlier deletions. So a part without a version is listed
// again after its watch, however the watch ended, and whatever the position of the other part is.
func TestG2_APartWithoutAVersionLosesNoDeletion(t *testing.T) {
	for _, version := range []string{"", "0"} {
		for name, end := range map[string]error{
			"in order": io.EOF, "cut": io.ErrUnexpectedEOF, "an error": errors.New("500"), "silence": reflector.ErrIdle,
		} {
			for other, quiet := range map[string]string{"of no version": version, "of a version": "10"} {
				t.Run(name+" from "+version+" beside a part "+other, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						a, b := newFake(version, item("stays", "", "x"), item("goes", "", "x")), newFake(quiet)
						inf := newInformer(t, quietMerge(unversioned{a}, b), informer.Options[*obj]{
							Reflector: reflector.Options{WatchIdleTimeout: -1, Logger: slog.New(slog.DiscardHandler)},
						})
						start(t, inf)
						require.NoError(t, inf.WaitForSync(t.Context()))
						time.Sleep(time.Minute)
						require.Equal(t, 2, inf.Store().Len())
						a.Set(version, item("stays", "", "x"))
						a.Events <- end
						time.Sleep(10 * time.Minute)
						synctest.Wait()
						require.Equal(t, 1, inf.Store().Len())
					})
				})
			}
		}
	}
}

// The versions of the initial events do not show the position of a watch without a version.
func TestG2_InitialEventsDoNotAdvanceAPartWithoutAVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newFake("0", item("stays", "9", "x"), item("goes", "7", "x")), newFake("0")
		inf := newInformer(t, quietMerge(unversioned{a}, b), informer.Options[*obj]{Reflector: reflector.Options{WatchIdleTimeout: -1}})
		start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		time.Sleep(time.Minute)
		require.EqualValues(t, 1, inf.Status().Reflector.Lists)
		a.Set("0", item("stays", "9", "x"))
		a.Events <- io.EOF
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 1, inf.Store().Len())
	})
}

// If all parts of a merged watch fail together, the watch is resumed from the oldest of their
// versions. If a part has no version, the watch is not resumed: all parts are listed again.
func TestG2_AMergedWatchIsNotResumedWithAPartWithoutAVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newFake("", item("goes", "", "x")), newFake("10")
		inf := newInformer(t, quietMerge(unversioned{a}, b), informer.Options[*obj]{
			Reflector: reflector.Options{WatchIdleTimeout: -1, WatchTimeout: time.Minute, Logger: slog.New(slog.DiscardHandler)},
		})
		start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		synctest.Wait()
		a.Set("")
		var ends sync.WaitGroup
		for _, part := range []*fake{a, b} {
			ends.Go(func() { part.Events <- errors.New("500") }) // both at the same time
		}
		ends.Wait()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.Zero(t, inf.Store().Len())
	})
}

// refusingSource is a part whose lists sometimes fail.
type refusingSource struct {
	unversioned
	refuses atomic.Bool
}

func (r *refusingSource) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[*obj], error) {
	if r.refuses.Load() {
		return nil, errors.New("refused")
	}
	return r.unversioned.List(ctx, opts)
}

// A part that was listed without a version counts as listed. Its stored objects stay while the part
// cannot be listed, and Healthy reports the part.
func TestAPartWithoutAVersionStaysWhileItCannotBeListed(t *testing.T) { // G2
	synctest.Test(t, func(t *testing.T) {
		a, b := &refusingSource{unversioned: unversioned{newFake("", item("stays", "", "x"))}}, newFake("10")
		inf := newInformer(t, quietMerge(a, b), informer.Options[*obj]{
			Reflector: reflector.Options{WatchIdleTimeout: -1, Logger: slog.New(slog.DiscardHandler)},
		})
		start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		synctest.Wait()
		a.refuses.Store(true)
		a.Events <- io.EOF
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.Equal(t, 1, inf.Store().Len())
		require.Len(t, inf.Status().Parts, 1)
		require.False(t, inf.Status().Parts[0].Missing)
		b.Events <- listwatch.Event[*obj]{Type: listwatch.Bookmark, Item: item("", "11", "")}
		synctest.Wait()
		require.ErrorIs(t, inf.Healthy(time.Minute), informer.ErrPart)
		a.Set("")
		a.refuses.Store(false)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.Zero(t, inf.Store().Len())
		require.Empty(t, inf.Status().Parts)
	})
}

// A bookmark is a hint: if a bookmark is unusable, the watch ignores it.
func TestABookmarkOfAnOldVersionIsIgnored(t *testing.T) { // G8
	for _, old := range []string{"5", "0", ""} {
		t.Run(old, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := newFake("10"), newFake("10")
				var log bytes.Buffer
				source := sources.MergeWith(sources.MergeOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))}, a, b)
				inf := newInformer(t, source, informer.Options[*obj]{Reflector: reflector.Options{WatchIdleTimeout: -1}})
				stop := start(t, inf)
				require.NoError(t, inf.WaitForSync(t.Context()))
				b.Events <- ev(listwatch.Added, "b", "20", "x")
				a.Events <- listwatch.Event[*obj]{Type: listwatch.Bookmark, Item: item("", old, "")}
				a.Events <- listwatch.Event[*obj]{Type: listwatch.Bookmark, Item: item("", old, "")}
				synctest.Wait()
				require.Equal(t, "10", inf.Store().ResourceVersion())
				require.Empty(t, inf.Status().Parts)
				require.EqualValues(t, 1, inf.Status().Reflector.Lists)
				a.Events <- ev(listwatch.Added, "a", "30", "x")
				synctest.Wait()
				require.Equal(t, "20", inf.Store().ResourceVersion())
				stop()
				if old == "5" {
					require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=WARN")), log.String())
				}
			})
		})
	}
}

// A bookmark without a version is an unusable hint: the store stays at its slowest part.
func TestABookmarkWithoutAVersionAdvancesNoPart(t *testing.T) { // G8
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := newFake("10"), newFake("10")
		inf := newInformer(t, sources.Merge[*obj](a, b), informer.Options[*obj]{})
		start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		b.Events <- ev(listwatch.Added, "b", "20", "x")
		a.Events <- ev(listwatch.Added, "a", "30", "x")
		b.Events <- listwatch.Event[*obj]{Type: listwatch.Bookmark}
		synctest.Wait()
		require.Equal(t, "20", inf.Store().ResourceVersion())
		b.Events <- listwatch.Event[*obj]{Type: listwatch.Bookmark, Item: item("", "25", "")}
		synctest.Wait()
		require.Equal(t, "25", inf.Store().ResourceVersion())
	})
}

// A part that reconnects alone may find a server that was restored from a backup. The part must not
// watch from a version that this server does not have yet.
func TestPartWithAnotherHistoryIsListed(t *testing.T) { // G2
	for name, sends := range map[string]any{
		"the watch broke":      io.ErrUnexpectedEOF,
		"a bookmark went back": listwatch.Event[*obj]{Type: listwatch.Bookmark, Item: item("", "6", "")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := newFake("10", item("a", "9", "old")), newFake("10", item("b", "8", "old"))
				inf := newInformer(t, sources.Merge[*obj](a, b), informer.Options[*obj]{Reflector: reflector.Options{AllowTimeTravel: true}})
				start(t, inf)
				require.NoError(t, inf.WaitForSync(t.Context()))
				a.Set("6", item("a", "4", "older"))
				b.Set("6", item("b", "4", "older"))
				a.Events <- sends
				time.Sleep(10 * time.Second)
				synctest.Wait()
				for _, name := range []string{"a", "b"} {
					stored, _ := inf.Store().Get(types.NamespacedName{Name: name})
					require.Equal(t, "older", stored.v)
				}
				require.Equal(t, "6", inf.Store().ResourceVersion())
			})
		})
	}
}

// If a server repeats an older state, it was restored from a backup, and its state is accepted.
// Objects that it lacks are deleted, older states replace newer ones, and handlers and store agree.
func TestPartsThatReturnToAnOlderStateAreFollowed(t *testing.T) { // G2
	synctest.Test(t, func(t *testing.T) {
		a, b := newFake("10", item("a", "9", "new"), item("lost", "8", "x")), newFake("10", item("b", "8", "new"), item("lost-too", "7", "x"))
		inf := newInformer(t, sources.Merge[*obj](a, b), informer.Options[*obj]{})
		seen := map[string]string{}
		_, err := inf.AddHandler(func(e informer.Event[*obj]) {
			if seen[e.Key.Name] = e.ResourceVersion; e.Type == informer.Deleted {
				delete(seen, e.Key.Name)
			}
		}, informer.HandlerOptions{})
		require.NoError(t, err)
		start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		a.Set("6", item("a", "4", "older"))
		b.Set("6", item("b", "5", "older"))
		a.Events <- io.ErrUnexpectedEOF
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.Equal(t, map[string]string{"a": "4", "b": "5"}, seen)
		require.Equal(t, 2, inf.Store().Len())
		require.Equal(t, "6", inf.Store().ResourceVersion())
	})
}
