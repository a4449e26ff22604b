package events_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kinform/kinform/events"
)

func TestAnEventIsCreatedOnTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, events.Options{}).run(t)
		begun := time.Now()
		r.Warning(pod("web"), "Failed", "no %s of size %d", "image", 3)
		synctest.Wait()
		stored := r.stored(t)
		require.Len(t, stored, 1)
		e := stored[0]
		require.Equal(t, "default", e.Namespace)
		require.Regexp(t, `^web\.[0-9a-f]{16}$`, e.Name)
		require.Equal(t, corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: "default", Name: "web", UID: "a-uid", ResourceVersion: "7"}, e.Regarding)
		require.Nil(t, e.Related)
		require.Equal(t, []string{"Warning", "Failed", "Failed", "no image of size 3"}, []string{e.Type, e.Reason, e.Action, e.Note})
		require.Equal(t, []string{controller, "websites-1"}, []string{e.ReportingController, e.ReportingInstance})
		require.True(t, begun.Equal(e.EventTime.Time))
		require.Nil(t, e.Series)
		require.Zero(t, e.DeprecatedCount, "a server refuses deprecated fields")
		require.Empty(t, e.DeprecatedSource)
		require.EqualValues(t, 1, r.balanced(t).Sent)
	})
}

func TestASeriesIsCounted(t *testing.T) {
	t.Parallel()
	for _, core := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, events.Options{CoreV1: core}).run(t)
			// count returns the count and time of the only Event on the server.
			count := func() (int32, time.Time) {
				t.Helper()
				synctest.Wait()
				gvr := eventsGVR
				if core {
					gvr = coreGVR
				}
				objects, _, err := r.server.List(gvr, "")
				require.NoError(t, err)
				require.Len(t, objects, 1)
				if core {
					e := objects[0].(*corev1.Event)
					require.Equal(t, []string{"Pulled", "the image", controller}, []string{e.Reason, e.Message, e.Source.Component})
					return e.Count, e.LastTimestamp.Time
				}
				e := objects[0].(*eventsv1.Event)
				if e.Series == nil {
					return 1, e.EventTime.Time
				}
				return e.Series.Count, e.Series.LastObservedTime.Time
			}
			record := func() { r.Normal(pod("web"), "Pulled", "the image") }
			record()
			n, _ := count()
			require.EqualValues(t, 1, n)
			record()
			record()
			last := time.Now()
			n, _ = count()
			require.EqualValues(t, 1, n, "the count is written after ten seconds")
			time.Sleep(10 * time.Second)
			n, at := count()
			require.EqualValues(t, 3, n)
			require.True(t, last.Equal(at), "%v %v", last, at)
			record()
			time.Sleep(19 * time.Second)
			n, _ = count()
			require.EqualValues(t, 3, n)
			time.Sleep(time.Second)
			n, _ = count()
			require.EqualValues(t, 4, n, "the second interval is twice as long")
			for range 3600 {
				record()
				time.Sleep(time.Second)
			}
			n, _ = count()
			require.Greater(t, n, int32(3600-300), "the count is at most five minutes old")
			require.Less(t, r.balanced(t).Updated, uint64(20))
			time.Sleep(5 * time.Minute)
			n, _ = count()
			require.EqualValues(t, 3604, n)
			require.Equal(t, 1, r.Stats().Series)
			time.Sleep(time.Minute)
			require.Equal(t, 0, r.Stats().Series, "the series has ended")
			stats := r.balanced(t)
			require.EqualValues(t, 3604, stats.Sent)
			require.Zero(t, stats.Waiting)
		})
	}
}

func TestSimilarEventsAreCombined(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, events.Options{}).run(t)
		for i := range 100 {
			r.Normal(pod("web"), "Scaled", "to %d", i)
		}
		time.Sleep(time.Minute)
		stored := r.stored(t)
		require.Len(t, stored, 11)
		var combined int32
		for _, e := range stored {
			if note, ok := strings.CutPrefix(e.Note, "(combined from similar events): "); ok {
				require.Equal(t, "to 10", note)
				combined = e.Series.Count
			}
		}
		require.EqualValues(t, 90, combined)
		require.EqualValues(t, 100, r.counted(t))
		r.Normal(pod("web"), "Scaled", "to %d", 3)
		time.Sleep(time.Minute)
		require.Len(t, r.stored(t), 11, "the note is one of the ten that have their own Events")
		time.Sleep(10 * time.Minute)
		r.Normal(pod("web"), "Scaled", "to %d", 1000)
		synctest.Wait()
		require.Len(t, r.stored(t), 12, "a new note gets an Event of its own again")
		r.balanced(t)
	})
}

func TestEventsOfOneObjectAreRateLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, events.Options{}).run(t)
		reason := func(i int) string { return "Reason" + string(rune('A'+i)) }
		for i := range 40 {
			r.Normal(pod("web"), reason(i), "it happened")
		}
		r.Normal(pod("db"), "Other", "it happened")
		synctest.Wait()
		require.Len(t, r.stored(t), 26)
		require.EqualValues(t, 15, r.balanced(t).Dropped[events.Throttled])
		r.Normal(pod("web"), reason(0), "it happened")
		time.Sleep(5 * time.Minute)
		require.EqualValues(t, 27, r.counted(t), "counts of series are not limited")
		r.Normal(pod("web"), reason(30), "it happened")
		r.Normal(pod("web"), reason(31), "it happened")
		synctest.Wait()
		require.Len(t, r.stored(t), 27, "five minutes later, one more Event is created")
		require.EqualValues(t, 16, r.balanced(t).Dropped[events.Throttled])
	})
}

type panickingPod struct{ corev1.Pod }

func (*panickingPod) GetName() string { panic("no name") }

type unknownKind struct{ metav1.ObjectMeta }

func TestRecordOfInvalidEventsDoesNotPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, events.Options{}).run(t)
		for _, e := range []events.Event{
			{},
			{Reason: "R"},
			{Reason: "R", Object: (*corev1.Pod)(nil)},
			{Reason: "R", Object: &panickingPod{}},
			{Reason: "R", Object: &unknownKind{metav1.ObjectMeta{Name: "a"}}},
			{Reason: "R", Object: &corev1.Pod{}},
			{Object: pod("web")},
			{Reason: "R", Object: pod("web"), Type: "Error"},
			{Reason: "R", Object: pod("web"), Related: corev1.ObjectReference{Name: "only"}},
			{Reason: "R", Object: pod(strings.Repeat("n", 254))},
		} {
			before := r.Stats().Dropped[events.Invalid]
			r.Record(e)
			require.Equal(t, before+1, r.Stats().Dropped[events.Invalid], "%+v", e)
		}
		r.Normal(pod("web"), "R", "%s", error(nil))
		synctest.Wait()
		require.Len(t, r.stored(t), 1)
		r.balanced(t)

		var none *events.Recorder
		none.Normal(pod("web"), "R", "%d", 1)
		none.Warning(nil, "", "")
		none.Record(events.Event{})
		require.Zero(t, none.Stats())
	})
}

func TestTextsAreCutAtRunes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, events.Options{}).run(t)
		r.Record(events.Event{
			Object: pod("web"), Reason: strings.Repeat("é", 65), Action: "a" + strings.Repeat("é", 65),
			Note: "a" + strings.Repeat("世", 10_000), Annotations: map[string]string{"a": "b"},
			Related: corev1.ObjectReference{Kind: "Node", APIVersion: "v1", Name: "n"},
		})
		r.Record(events.Event{Object: pod("db"), Reason: "R", Note: "\xff\xfe" + strings.Repeat("\xff", 5000)})
		synctest.Wait()
		stored := r.stored(t)
		require.Len(t, stored, 2)
		for _, e := range stored {
			require.True(t, utf8.ValidString(e.Note))
			require.LessOrEqual(t, len(e.Note), 1024)
		}
		e := stored[1]
		require.Equal(t, strings.Repeat("é", 64), e.Reason)
		require.Equal(t, "a"+strings.Repeat("é", 63), e.Action)
		require.Equal(t, "a"+strings.Repeat("世", 341), e.Note)
		require.Equal(t, "Node", e.Related.Kind)
		require.Equal(t, map[string]string{"a": "b"}, e.Annotations)
	})
}

func TestEventNamesAreValid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, events.Options{}).run(t)
		names := []string{"system:node", "UPPER", "...", "-a-", "a..b", "a.-b", "a.:b", "a-.b", "ä", strings.Repeat("n", 253), strings.Repeat("n.", 126) + "n"}
		for _, name := range names {
			r.Record(events.Event{Reason: "R", Regarding: corev1.ObjectReference{Kind: "ClusterRole", APIVersion: "rbac.authorization.k8s.io/v1", Name: name}})
		}
		u := &unstructured.Unstructured{}
		u.SetAPIVersion("example.com/v1")
		u.SetKind("Website")
		u.SetName("blog")
		u.SetNamespace("sites")
		r.Normal(u, "R", "n")
		synctest.Wait()
		stored := r.stored(t)
		require.Len(t, stored, len(names)+1)
		for _, e := range stored {
			require.Empty(t, validation.IsDNS1123Subdomain(e.Name), e.Name)
			if e.Regarding.Kind == "Website" {
				require.Equal(t, "sites", e.Namespace)
				require.Equal(t, "example.com/v1", e.Regarding.APIVersion)
			} else {
				require.Equal(t, "default", e.Namespace)
			}
		}
	})
}

func TestNewChecksItsArguments(t *testing.T) {
	t.Parallel()
	r := newRig(t, events.Options{})
	require.NotNil(t, r)
	for _, name := range []string{"", "a/b/c", "has space", "example.com/"} {
		_, err := events.New(nil, name, events.Options{})
		require.ErrorContains(t, err, "events: the controller name")
	}
	for _, opts := range []events.Options{
		{Instance: strings.Repeat("i", 129)}, {Instance: "\xff"}, {MaxSeries: -1}, {Burst: -1}, {Interval: -1}, {RequestTimeout: -1}, {FlushTimeout: -1},
	} {
		_, err := events.New(nil, controller, opts)
		require.ErrorContains(t, err, "events: Options.")
	}
}

func TestSinkKeepsTheOrder(t *testing.T) {
	t.Parallel()
	sink, recorder := events.NewSink()
	recorder.Normal(pod("web"), "Created", "pod %d", 1)
	recorder.Normal(pod("web"), "Created", "pod %d", 1)
	recorder.Warning(pod("web"), "Failed", "%v", errors.New("broken"))
	recorder.Normal(nil, "Nothing", "")
	var got []string
	for _, e := range sink.Events() {
		got = append(got, e.String())
	}
	require.Equal(t, []string{"Normal Created Pod default/web: pod 1", "Normal Created Pod default/web: pod 1", "Warning Failed Pod default/web: broken"}, got)
	require.Len(t, sink.Take(), 3)
	require.Empty(t, sink.Take())
	for range 100_001 {
		recorder.Normal(pod("web"), "Created", "")
	}
	require.Len(t, sink.Events(), 100_000)
	stats := recorder.Stats()
	require.EqualValues(t, 1, stats.Dropped[events.Invalid])
	require.EqualValues(t, 1, stats.Dropped[events.Full])
	require.EqualValues(t, 100_003, stats.Sent)
}

// A custom struct that embeds TypeMeta has a kind, but is not a runtime.Object unless it has more
// methods.
func TestKindOfAPlainStruct(t *testing.T) {
	t.Parallel()
	type website struct {
		metav1.TypeMeta
		metav1.ObjectMeta
	}
	sink, recorder := events.NewSink()
	site := &website{TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Website"}, ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "shop"}}
	recorder.Normal(site, "Published", "")
	require.Len(t, sink.Events(), 1)
	require.Equal(t, corev1.ObjectReference{APIVersion: "example.com/v1", Kind: "Website", Namespace: "web", Name: "shop"}, sink.Events()[0].Regarding)
	recorder.Normal(&website{}, "Published", "")
	require.EqualValues(t, 1, recorder.Stats().Dropped[events.Invalid])
}

// The Recorder distinguishes events by their content, not only by a hash.
func TestDifferentEventsAreSeparate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, events.Options{})
		r.Collide()
		r.run(t)
		for range 2 {
			for _, name := range []string{"a", "b"} {
				for _, reason := range []string{"One", "Other"} {
					for _, note := range []string{"first", "second"} {
						r.Normal(pod(name), reason, "%s", note)
						r.Warning(pod(name), reason, "%s", note)
					}
				}
			}
			time.Sleep(time.Minute)
		}
		found := map[string]int32{}
		for _, e := range r.stored(t) {
			found[e.Regarding.Name+e.Type+e.Reason+e.Note] = e.Series.Count
		}
		require.Len(t, found, 16)
		for what, count := range found {
			require.EqualValues(t, 2, count, what)
		}
	})
}

// Memory is bounded: a Recorder keeps no large annotations.
func TestAnnotationsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, events.Options{})
		large := events.Event{Object: pod("a"), Reason: "Large", Annotations: map[string]string{"example.com/a": strings.Repeat("x", 5<<10), "example.com/b": strings.Repeat("x", 5<<10)}}
		r.Record(large)
		require.EqualValues(t, 1, r.balanced(t).Dropped[events.Invalid])
		delete(large.Annotations, "example.com/b")
		r.Record(large)
		require.EqualValues(t, 1, r.balanced(t).Waiting)
	})
}

// A Recorder does not keep a long text in memory when a note is a part of that text. This test must
// not run in parallel.
func TestNoteKeepsNoLongerTextInMemory(t *testing.T) {
	before := liveHeapBytes()
	r := newRig(t, events.Options{})
	for n := range 50 {
		long := strings.Repeat(fmt.Sprint(n), 1<<20)
		r.Record(events.Event{Object: pod(fmt.Sprint("pod-", n)), Reason: "Part", Note: long[:100]})
	}
	require.EqualValues(t, 50, r.balanced(t).Waiting)
	require.Less(t, int64(liveHeapBytes())-int64(before), int64(20<<20), "the Recorder keeps none of 50 texts of 1 MB")
	runtime.KeepAlive(r)
}

// liveHeapBytes returns the number of live bytes on the heap.
func liveHeapBytes() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// An event that is dropped because the Recorder is full does not cause later events to be combined.
func TestDroppedEventsAreNotCombined(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, events.Options{MaxSeries: 1})
		r.Normal(pod("other"), "Fills", "the place")
		for n := range 30 {
			r.Normal(pod("a"), "Many", "note %d", n)
		}
		require.EqualValues(t, 30, r.balanced(t).Dropped[events.Full])
		r.run(t)
		time.Sleep(7 * time.Minute) // The series has ended, and there is room again.
		r.Normal(pod("a"), "Many", "note %d", 30)
		time.Sleep(time.Second)
		stored := r.stored(t)
		require.Len(t, stored, 2)
		for _, e := range stored {
			require.NotContains(t, e.Note, "combined")
		}
	})
}
