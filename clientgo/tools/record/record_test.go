package record_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"
)

var events = schema.GroupResource{Resource: "events"}

// withBroadcaster calls the function test with a broadcaster that records to the sink.
func withBroadcaster(t *testing.T, s *sink, test func(b record.EventBroadcaster, r record.EventRecorder)) {
	synctest.Test(t, func(t *testing.T) {
		b := record.NewBroadcaster()
		b.StartRecordingToSink(s)
		test(b, recorderTo(b))
		b.Shutdown()
		time.Sleep(time.Minute)
	})
}

func TestABroadcasterNeedsNoContext(t *testing.T) {
	var none context.Context
	record.NewBroadcaster(record.WithContext(none)).Shutdown()
}

func TestEventsAreCreatedAndCounted(t *testing.T) {
	s := &sink{}
	withBroadcaster(t, s, func(b record.EventBroadcaster, r record.EventRecorder) {
		r.Event(pod, "Normal", "R", "100 %d")
		r.Event(pod, "Normal", "R", "100 %d")
		r.AnnotatedEventf(node, map[string]string{"x": "y"}, "Warning", "R", "m %d", 3)
		r.Event(pod, "Odd", "R", "m")
		r.Event(&v1.ConfigMapList{}, "Normal", "R", "of a list")
		synctest.Wait()
		require.Equal(t, []string{
			`create b/a 1 "100 %d" at ""`,
			`patch b/a 2 "100 %d" at "1"`,
			`create default/n 1 "m 3" at ""`,
			`create default/ 1 "of a list" at ""`,
		}, s.taken())
	})
}

func TestSimilarEventsBecomeOne(t *testing.T) {
	s := &sink{}
	withBroadcaster(t, s, func(b record.EventBroadcaster, r record.EventRecorder) {
		for i := range 12 {
			r.Eventf(pod, "Normal", "R", "m %d", i)
		}
		synctest.Wait()
		calls := s.taken()
		require.Equal(t, `create b/a 1 "m 8" at ""`, calls[8])
		require.Equal(t, []string{
			`create b/a 1 "(combined from similar events): m 9" at ""`,
			`patch b/a 2 "(combined from similar events): m 10" at ""`,
			`patch b/a 3 "(combined from similar events): m 11" at ""`,
		}, calls[9:])
	})
}

func TestADeletedEventIsCreatedAgain(t *testing.T) {
	s := &sink{fail: func(op string) error {
		if op == "patch" {
			return apierrors.NewNotFound(events, "x")
		}
		return nil
	}}
	withBroadcaster(t, s, func(b record.EventBroadcaster, r record.EventRecorder) {
		r.Event(pod, "Normal", "R", "m")
		r.Event(pod, "Normal", "R", "m")
		synctest.Wait()
		require.Equal(t, []string{`create b/a 1 "m" at ""`, `patch b/a 2 "m" at "1"`, `create b/a 2 "m" at ""`}, s.taken())
	})
}

func TestWhichErrorsAreRetried(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		calls int
	}{
		"refused by the server": {apierrors.NewForbidden(events, "x", errors.New("no")), 1},
		"the server's error":    {apierrors.NewInternalError(errors.New("x")), 1},
		"exists":                {apierrors.NewAlreadyExists(events, "x"), 1},
		"no connection":         {&url.Error{Op: "Post", Err: errors.New("refused")}, 12},
		"anything":              {errors.New("x"), 12},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sink{fail: func(string) error { return c.err }}
			withBroadcaster(t, s, func(b record.EventBroadcaster, r record.EventRecorder) {
				r.Event(pod, "Normal", "R", "m")
				time.Sleep(10 * time.Minute)
				require.Len(t, s.taken(), c.calls)
				for i, at := range s.times {
					if i > 1 {
						require.Equal(t, 10*time.Second, at.Sub(s.times[i-1]))
					}
				}
			})
		})
	}
}

func TestAfterShutdownAWriteIsTriedOnce(t *testing.T) {
	s := &sink{fail: func(string) error { return errors.New("refused") }}
	withBroadcaster(t, s, func(b record.EventBroadcaster, r record.EventRecorder) {
		r.Event(pod, "Normal", "R", "1")
		r.Event(node, "Normal", "R", "2")
		synctest.Wait()
		require.Len(t, s.taken(), 1, "the second event waits for the first")
		b.Shutdown()
		synctest.Wait()
		require.Equal(t, []string{`create default/n 1 "2" at ""`}, s.taken())
		b.Shutdown()
		r.Event(pod, "Normal", "R", "after Shutdown")
		b.StartRecordingToSink(s).Stop()
	})
}

func TestTheEndOfTheContextShutsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := record.NewBroadcaster(record.WithContext(ctx), record.WithSleepDuration(time.Second), record.WithCorrelatorOptions(record.CorrelatorOptions{MaxEvents: 1}))
		s := &sink{}
		b.StartRecordingToSink(s)
		recorderTo(b).Event(pod, "Normal", "R", "m")
		synctest.Wait()
		require.Equal(t, []string{`create b/a 1 "(combined from similar events): m" at ""`}, s.taken())
		cancel()
	})
}

func TestARecorderDoesNotBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := record.NewBroadcaster()
		release, received := make(chan struct{}), 0
		b.StartEventWatcher(func(*v1.Event) { <-release; received++ })
		r := recorderTo(b)
		for i := range 5000 {
			r.Eventf(pod, "Normal", "R", "%d", i)
			if i%500 == 0 {
				synctest.Wait()
			}
		}
		close(release)
		synctest.Wait()
		require.Greater(t, received, 1000)
		require.Less(t, received, 5000)
		b.Shutdown()
	})
}

func TestLoggingAndWatching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := record.NewBroadcaster()
		var lines []string
		logging := b.StartLogging(func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) })
		var seen *v1.Event
		b.StartEventWatcher(func(e *v1.Event) { seen = e })
		recorderTo(b).AnnotatedEventf(pod, map[string]string{"x": "y"}, "Normal", "R", "m")
		synctest.Wait()
		require.Equal(t, []string{`Event(v1.ObjectReference{Kind:"Pod", Namespace:"b", Name:"a", UID:"u", APIVersion:"v1", ResourceVersion:"3", FieldPath:""}): type: 'Normal' reason: 'R' m`}, lines)
		require.Equal(t, source, seen.Source)
		require.Equal(t, "c", seen.ReportingController)
		require.Equal(t, "h", seen.ReportingInstance)
		require.Equal(t, map[string]string{"x": "y"}, seen.Annotations)
		require.Equal(t, fmt.Sprintf("a.%x", seen.FirstTimestamp.UnixNano()), seen.Name)
		logging.Stop()
		record.NewEventRecorderAdapter(b.NewRecorder(scheme(), source)).Eventf(pod, node, "Normal", "R", "action", "note %d", 1)
		synctest.Wait()
		require.Len(t, lines, 1)
		require.Equal(t, "note 1", seen.Message)
		b.Shutdown()
	})
}

func TestFakeRecorder(t *testing.T) { // each result is client-go's
	f := record.NewFakeRecorder(10)
	f.IncludeObject = true
	f.Event(pod, "Normal", "R", "msg %d")
	f.Eventf(pod, "Normal", "R", "msg %d", 3)
	f.AnnotatedEventf(pod, map[string]string{"a": "b"}, "Normal", "R", "msg %d", 3)
	f.IncludeObject = false
	f.AnnotatedEventf(pod, nil, "Normal", "R", "msg %d", 3)
	for _, want := range []string{
		"Normal R msg %d involvedObject{kind=,apiVersion=}",
		"Normal R msg 3 involvedObject{kind=,apiVersion=}",
		"Normal R msg 3 involvedObject{kind=,apiVersion=} map[a:b]",
		"Normal R msg 3",
	} {
		require.Equal(t, want, <-f.Events)
	}
	(&record.FakeRecorder{}).Event(pod, "Normal", "R", "dropped")
}
