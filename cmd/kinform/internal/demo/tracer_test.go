package demo

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/workqueue"
)

var web = types.NamespacedName{Namespace: "ns", Name: "web"}

// stages simulates the pipeline for a tracer. A test can call the stages in any order.
type stages struct {
	*tracer
	journeys []journey
}

func newStages() *stages {
	s := &stages{}
	s.tracer = newTracer(func(j journey) { s.journeys = append(s.journeys, j) })
	return s
}

// listed simulates the end of the first list.
func (s *stages) listed() { s.informer().OnApplied(informer.AppliedInfo{Initial: true}) }

func (s *stages) event(version string) {
	s.tracer.reflector().OnEvent(reflector.EventInfo{Type: listwatch.Modified, Key: web, ResourceVersion: version})
}

func (s *stages) item(version string, state listwatch.ItemState) {
	s.tracer.reflector().OnItem(reflector.ItemInfo{Key: web, ResourceVersion: version, State: state})
}

func (s *stages) applied(version string) {
	s.informer().OnApplied(informer.AppliedInfo{Keys: []types.NamespacedName{web}, ResourceVersion: version})
}

func (s *stages) delivered(version string, cause informer.Cause) {
	s.onEvent(informer.Event[*pod]{Type: informer.Updated, Cause: cause, Key: web, ResourceVersion: version})
}

// worked simulates a worker that gets the key and finishes it.
func (s *stages) worked(waited, ran time.Duration) {
	s.queue().OnGet(workqueue.Item[types.NamespacedName]{Key: web, Waited: waited})
	s.queue().OnDone(web, ran)
}

func TestJourneyHasTheTimeOfEachStage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStages()
		s.listed()
		s.event("7")
		time.Sleep(3 * time.Millisecond)
		s.applied("7")
		time.Sleep(5 * time.Millisecond)
		s.delivered("7", informer.Watch)
		s.worked(7*time.Millisecond, 11*time.Millisecond)

		require.Equal(t, []journey{{
			Type: informer.Updated, Cause: informer.Watch, Key: web, ResourceVersion: "7",
			FIFO: 3 * time.Millisecond, Mailbox: 5 * time.Millisecond,
			Workqueue: 7 * time.Millisecond, Worker: 11 * time.Millisecond,
		}}, s.journeys)
		require.Equal(t, 26*time.Millisecond, s.journeys[0].total())
		require.Empty(t, s.arrivals)

		s.worked(0, 0)
		require.Len(t, s.journeys, 1, "a reconcile without a new change must have no journey")
	})
}

func TestMergedChangesAreOneJourney(t *testing.T) {
	t.Parallel()
	t.Run("in the workqueue", func(t *testing.T) {
		t.Parallel()
		s := newStages()
		s.listed()
		for _, version := range []string{"7", "8", "9"} {
			s.event(version)
			s.applied(version)
			s.delivered(version, informer.Watch)
		}
		s.worked(0, 0)
		require.Len(t, s.journeys, 1)
		require.Equal(t, "9", s.journeys[0].ResourceVersion)
		require.Equal(t, 2, s.journeys[0].Merged)
	})
	t.Run("in the mailbox", func(t *testing.T) {
		t.Parallel()
		s := newStages()
		s.listed()
		s.event("7")
		s.event("8")
		s.applied("8")
		s.delivered("8", informer.Watch)
		s.worked(0, 0)
		require.Len(t, s.journeys, 1)
		require.Equal(t, 1, s.journeys[0].Merged)
		require.Empty(t, s.arrivals)
	})
}

func TestChangesOfOneBatchHaveSeparateJourneys(t *testing.T) {
	t.Parallel()
	s := newStages()
	s.listed()
	s.event("7")
	s.event("8")
	s.event("12") // This event arrives while the batch up to 8 is being applied.
	s.applied("8")
	for _, version := range []string{"7", "8"} {
		s.delivered(version, informer.Watch)
		s.worked(0, 0)
	}
	require.Len(t, s.journeys, 2)
	require.Zero(t, s.arrivals[web][0].stored, "version 12 must not count as stored yet")
	s.applied("12")
	s.delivered("12", informer.Watch)
	s.worked(0, 0)
	require.Len(t, s.journeys, 3)
}

func TestChangesOfARelistAreTracedAndTheFirstListIsNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStages()
		s.item("3", listwatch.Decoded)
		s.listed()
		s.delivered("3", informer.Initial)
		s.worked(0, 0)
		require.Empty(t, s.journeys)

		s.item("3", listwatch.Unchanged)
		require.Empty(t, s.arrivals)
		// This list is interrupted, and the next list has the object again.
		s.item("5", listwatch.Decoded)
		time.Sleep(time.Second)
		s.item("5", listwatch.Decoded)
		time.Sleep(time.Millisecond)
		s.applied("6")
		s.delivered("5", informer.Relist)
		s.worked(0, 0)
		require.Len(t, s.journeys, 1)
		require.Equal(t, informer.Relist, s.journeys[0].Cause)
		require.Equal(t, time.Millisecond, s.journeys[0].FIFO)

		s.delivered("5", informer.Relist) // a deletion that a relist found, with the last state
		s.worked(0, 0)
		require.Len(t, s.journeys, 1)
	})
}

func TestBookmarksHaveNoJourney(t *testing.T) {
	t.Parallel()
	s := newStages()
	s.listed()
	s.tracer.reflector().OnEvent(reflector.EventInfo{Type: listwatch.Bookmark, ResourceVersion: "9"})
	require.Empty(t, s.arrivals)
}
