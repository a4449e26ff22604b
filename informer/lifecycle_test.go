package informer_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// G8, RC-24: if lists have no version, the watch begins with the existing objects, in no particular
// order. The version of one of these events says nothing about the others.
func TestG8_UnorderedInitialEventsDoNotAdvanceTheVersion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake("", item("a", "7", "x"), item("b", "3", "x"))
		inf := newInformer(t, f, informer.Options[*obj]{})
		start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		waited := make(chan error, 1)
		go func() { waited <- inf.Store().WaitRV(t.Context(), "8") }()

		f.Events <- ev(listwatch.Added, "c", "9", "x") // created later, but sent first
		synctest.Wait()
		_, stored := inf.Store().Get(types.NamespacedName{Name: "c"})
		require.True(t, stored)
		require.Empty(t, waited, "the change of b at version 8 has not arrived")
		f.Events <- ev(listwatch.Added, "b", "8", "y")
		synctest.Wait()
		require.Empty(t, waited, "another change up to version 8 may follow")
		f.Events <- ev(listwatch.Bookmark, "", "9", "")
		synctest.Wait()
		require.NoError(t, <-waited)
		require.Equal(t, "9", inf.Store().ResourceVersion())
	})
}

// G1, G2: while the informer is busy, one object is deleted and created again many times. Handlers
// receive the deletion of the object that they knew, and then the last object.
func TestAnObjectThatIsRecreatedForEverTakesBoundedMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1", item("a", "1", "first"))
		hold := make(chan struct{})
		o := informer.Options[*obj]{Observer: &informer.Observer{OnApplied: func(informer.AppliedInfo) { <-hold }}}
		o.Queue.MaxDeltasPerKey = 8
		inf := newInformer(t, f, o)
		type told struct {
			event    string
			old, new string
		}
		var got []told
		value := func(o *obj) string {
			if o == nil {
				return ""
			}
			return o.v
		}
		_, err := inf.AddHandler(func(e informer.Event[*obj]) {
			got = append(got, told{names(e), value(e.Old), value(e.New)})
		}, informer.HandlerOptions{})
		require.NoError(t, err)
		start(t, inf)
		synctest.Wait() // The first list is applied, and the informer is blocked there.
		rv := 1
		for range 1000 {
			rv += 2
			f.Events <- ev(listwatch.Deleted, "a", fmt.Sprint(rv), fmt.Sprint(rv-2))
			f.Events <- ev(listwatch.Added, "a", fmt.Sprint(rv+1), fmt.Sprint(rv))
		}
		synctest.Wait()
		require.LessOrEqual(t, inf.Status().Queue.Deltas, 8+3)
		close(hold)
		synctest.Wait()
		require.Equal(t, told{"Added a@1", "", "first"}, got[0])
		require.Equal(t, told{"Deleted a@3", "first", "1"}, got[1])
		require.Equal(t, told{"Added a@2002", "", "2001"}, got[len(got)-1])
		for i, e := range got[1:] {
			require.Equal(t, i%2 == 0, e.old != "", "Deleted and Added alternate: %v", got)
		}
		require.Less(t, len(got), 12)
		require.Equal(t, "2002", inf.Store().ResourceVersion())
	})
}

// A handler that is removed while Run ends disappears from Status. A handler that the informer has
// stopped stays in Status.
func TestAHandlerRemovedAtTheEndLeavesStatus(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inf := newInformer(t, newFake("1", item("a", "1", "x")), informer.Options[*obj]{})
		release := make(chan struct{})
		stays, err := inf.AddHandler(func(informer.Event[*obj]) { <-release }, informer.HandlerOptions{Name: "stays"})
		require.NoError(t, err)
		goes, err := inf.AddHandler(func(informer.Event[*obj]) {}, informer.HandlerOptions{Name: "goes"})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- inf.Run(ctx) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		require.Empty(t, ended, "a call is in progress")
		goes.Remove()
		<-goes.Done()
		close(release)
		require.NoError(t, <-ended)
		<-stays.Done()
		require.Len(t, inf.Status().Handlers, 1)
		require.Equal(t, "stays", inf.Status().Handlers[0].Name)
		stays.Remove()
		require.Empty(t, inf.Status().Handlers)
	})
}

// SI-19, SI-20: after Remove, Done waits for the call in progress, and no call begins later.
func TestDoneComesAfterTheCallInProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1", item("a", "1", "x"))
		inf := newInformer(t, f, informer.Options[*obj]{})
		start(t, inf)
		var returned time.Time
		calls := 0
		registration, err := inf.AddHandler(func(informer.Event[*obj]) {
			calls++
			time.Sleep(time.Minute)
			returned = time.Now()
		}, informer.HandlerOptions{})
		require.NoError(t, err)
		synctest.Wait()
		f.Events <- ev(listwatch.Modified, "a", "2", "y")
		synctest.Wait()
		registration.Remove()
		<-registration.Done()
		require.Equal(t, returned, time.Now())
		time.Sleep(time.Hour)
		require.Equal(t, 1, calls)
	})
}

// SI-1, SI-5: an informer runs once. After that run, it refuses handlers.
func TestAnInformerRunsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inf := newInformer(t, newFake("1"), informer.Options[*obj]{})
		stop := start(t, inf)
		synctest.Wait()
		require.ErrorIs(t, inf.Run(t.Context()), informer.ErrAlreadyRun)
		stop()
		require.ErrorIs(t, inf.Run(t.Context()), informer.ErrAlreadyRun)
		_, err := inf.AddHandler(func(informer.Event[*obj]) {}, informer.HandlerOptions{})
		require.ErrorIs(t, err, informer.ErrStopped)
	})
}

// SI-18: one function may be registered twice. Each registration has its own state.
func TestOneHandlerMayBeRegisteredTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake("1", item("a", "1", "x"))
		inf := newInformer(t, f, informer.Options[*obj]{})
		calls := 0
		handle := func(informer.Event[*obj]) { calls++ }
		first, err := inf.AddHandler(handle, informer.HandlerOptions{})
		require.NoError(t, err)
		start(t, inf)
		require.NoError(t, first.WaitForSync(t.Context()))
		second, err := inf.AddHandler(handle, informer.HandlerOptions{})
		require.NoError(t, err)
		require.NoError(t, second.WaitForSync(t.Context()))
		require.Equal(t, 2, calls)
		first.Remove()
		f.Events <- ev(listwatch.Modified, "a", "2", "y")
		synctest.Wait()
		require.Equal(t, 3, calls)
	})
}
