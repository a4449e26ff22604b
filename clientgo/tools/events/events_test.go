package events_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

// sink records the requests.
type sink struct {
	fail  func(op string) error // nil: no request fails
	hangs time.Duration

	mu    sync.Mutex // guards following
	calls []string
}

func (s *sink) Create(_ context.Context, e *eventsv1.Event) (*eventsv1.Event, error) {
	return s.do("create", e, "")
}

func (s *sink) Update(context.Context, *eventsv1.Event) (*eventsv1.Event, error) {
	return nil, errors.New("Update is not called")
}

var times = regexp.MustCompile(`"20[^"]*"`)

func (s *sink) Patch(_ context.Context, e *eventsv1.Event, data []byte) (*eventsv1.Event, error) {
	return s.do("patch", e, times.ReplaceAllString(string(data), `""`))
}

func (s *sink) do(op string, e *eventsv1.Event, data string) (*eventsv1.Event, error) {
	time.Sleep(s.hangs)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, strings.TrimSpace(fmt.Sprintf("%s %s/%s %s %s", op, e.Namespace, e.Regarding.Name, e.Note, data)))
	if s.fail != nil {
		return nil, s.fail(op)
	}
	return e, nil
}

func (s *sink) taken() (calls []string) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	calls, s.calls = s.calls, nil
	return calls
}

var (
	pod  = &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "b", UID: "u"}}
	node = &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
)

// withBroadcaster calls the function test with a broadcaster that records to the sink.
func withBroadcaster(t *testing.T, s *sink, test func(t *testing.T, b events.EventBroadcaster, r events.EventRecorder)) {
	synctest.Test(t, func(t *testing.T) {
		scheme := runtime.NewScheme()
		require.NoError(t, v1.AddToScheme(scheme))
		b := events.NewBroadcaster(s)
		ctx, cancel := context.WithCancel(t.Context())
		defer time.Sleep(time.Hour)
		defer cancel()
		defer b.Shutdown()
		require.NoError(t, b.StartRecordingToSinkWithContext(ctx))
		test(t, b, b.NewRecorder(scheme, "k8s.io/ctl"))
	})
}

func TestASeriesIsWrittenAtItsFirstAndSecondEventAndAtItsEnd(t *testing.T) {
	s := &sink{}
	withBroadcaster(t, s, func(t *testing.T, b events.EventBroadcaster, r events.EventRecorder) {
		for i := range 5 {
			r.Eventf(pod, node, "Normal", "R", "A", "n %d", i)
			synctest.Wait()
		}
		require.Equal(t, []string{"create b/a n 0", `patch b/a n 0 {"series":{"count":2,"lastObservedTime":""}}`}, s.taken())
		r.Eventf(node, nil, "Warning", "R", "A", "100%% of %s", "it")
		r.Eventf(pod, nil, "Odd", "R", "A", "n")
		require.Equal(t, []string{"create default/n 100% of it"}, s.taken())
		time.Sleep(13 * time.Minute)
		require.Equal(t, []string{`patch b/a n 0 {"series":{"count":5,"lastObservedTime":""}}`}, s.taken())
		r.Eventf(pod, node, "Normal", "R", "A", "n %d", 9)
		require.Equal(t, []string{"create b/a n 9"}, s.taken(), "the event starts a new series")
	})
}

func TestALongSeriesIsRefreshed(t *testing.T) {
	s := &sink{}
	withBroadcaster(t, s, func(t *testing.T, b events.EventBroadcaster, r events.EventRecorder) {
		for range 35 {
			r.Eventf(pod, nil, "Normal", "R", "A", "n")
			time.Sleep(time.Minute)
		}
		calls := s.taken()
		require.Len(t, calls, 3)
		require.Regexp(t, `patch b/a n {"series":{"count":3[01],`, calls[2], "the count is written after half an hour")
	})
}

func TestADeletedEventIsCreatedAgain(t *testing.T) {
	s := &sink{fail: func(op string) error {
		if op == "patch" {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "events"}, "x")
		}
		return nil
	}}
	withBroadcaster(t, s, func(t *testing.T, b events.EventBroadcaster, r events.EventRecorder) {
		r.Eventf(pod, nil, "Normal", "R", "A", "n")
		r.Eventf(pod, nil, "Normal", "R", "A", "n")
		require.Equal(t, []string{"create b/a n", `patch b/a n {"series":{"count":2,"lastObservedTime":""}}`, "create b/a n"}, s.taken())
	})
}

func TestTheCountIsWrittenAfterTheEvent(t *testing.T) {
	s := &sink{hangs: time.Second}
	withBroadcaster(t, s, func(t *testing.T, b events.EventBroadcaster, r events.EventRecorder) {
		r.Eventf(pod, nil, "Normal", "R", "A", "n")
		r.Eventf(pod, nil, "Normal", "R", "A", "n")
		r.Eventf(node, nil, "Normal", "R", "A", "n")
		time.Sleep(time.Second)
		require.ElementsMatch(t, []string{"create b/a n", "create default/n n"}, s.taken(), "series don't wait for each other")
		time.Sleep(time.Second)
		require.Len(t, s.taken(), 1)
	})
}

func TestWhichErrorsAreRetried(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		calls int
	}{
		"refused by the server": {apierrors.NewForbidden(schema.GroupResource{}, "x", errors.New("no")), 1},
		"exists":                {apierrors.NewAlreadyExists(schema.GroupResource{}, "x"), 1},
		"no connection":         {errors.New("connection refused"), 12},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sink{fail: func(string) error { return c.err }}
			withBroadcaster(t, s, func(t *testing.T, b events.EventBroadcaster, r events.EventRecorder) {
				r.Eventf(pod, nil, "Normal", "R", "A", "n")
				time.Sleep(5 * time.Minute)
				require.Len(t, s.taken(), c.calls)
			})
		})
	}
}

// A program written for client-go loses no event because of the rate limit of its client, which is
// 5 requests per second by default.
func TestABurstOfEventsOfASlowSinkIsWritten(t *testing.T) {
	s := &sink{hangs: time.Minute}
	withBroadcaster(t, s, func(t *testing.T, b events.EventBroadcaster, r events.EventRecorder) {
		for i := range 500 {
			r.Eventf(pod, nil, "Normal", fmt.Sprint("R", i), "A", "n")
			if i%20 == 0 {
				synctest.Wait() // the recorder drops events if the broadcaster's queue is full
			}
		}
		time.Sleep(10 * time.Minute)
		require.Equal(t, 500, len(s.taken()))
	})
}

func TestAHangingSinkBoundsPendingWrites(t *testing.T) {
	s := &sink{hangs: time.Minute}
	withBroadcaster(t, s, func(t *testing.T, b events.EventBroadcaster, r events.EventRecorder) {
		for i := range 10_500 {
			r.Eventf(pod, nil, "Normal", fmt.Sprint("R", i), "A", "n")
			if i%20 == 0 {
				synctest.Wait() // the recorder drops events if the broadcaster's queue is full
			}
		}
		time.Sleep(10 * time.Minute)
		require.Equal(t, 10_000, len(s.taken()))
	})
}

func TestLoggingAndWatching(t *testing.T) {
	withBroadcaster(t, &sink{}, func(t *testing.T, b events.EventBroadcaster, r events.EventRecorder) {
		var seen []*eventsv1.Event
		stop, err := b.StartEventWatcher(func(obj runtime.Object) { seen = append(seen, obj.(*eventsv1.Event)) })
		require.NoError(t, err)
		b.StartStructuredLogging(9)()
		r.(events.AnnotatedEventRecorder).AnnotatedEventf(pod, node, map[string]string{"x": "y"}, "Normal", "R", "A", "n")
		synctest.Wait()
		require.Len(t, seen, 1)
		e := seen[0]
		require.Equal(t, fmt.Sprintf("a.%x", e.EventTime.UnixNano()), e.Name)
		require.Equal(t, map[string]string{"x": "y"}, e.Annotations)
		require.Equal(t, "Node", e.Related.Kind)
		require.Equal(t, "k8s.io/ctl", e.ReportingController)
		require.True(t, strings.HasPrefix(e.ReportingInstance, "k8s.io/ctl-"))
		stop()
		b.Shutdown()
		r.Eventf(pod, nil, "Normal", "R", "A", "after Shutdown")
		_, err = b.StartEventWatcher(func(runtime.Object) {})
		require.Error(t, err)
		require.Error(t, b.StartRecordingToSinkWithContext(t.Context()))
	})
}

func TestAClosedChannelEndsTheRecording(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scheme := runtime.NewScheme()
		require.NoError(t, v1.AddToScheme(scheme))
		s, stop := &sink{}, make(chan struct{})
		b := events.NewBroadcaster(s)
		b.StartRecordingToSink(stop)
		b.NewRecorder(scheme, "c").Eventf(pod, nil, "Normal", "R", "A", "n")
		require.Len(t, s.taken(), 1)
		close(stop)
		synctest.Wait()
		b.NewRecorder(scheme, "c").Eventf(node, nil, "Normal", "R", "A", "n")
		require.Empty(t, s.taken())
		b.Shutdown()
	})
}

func TestFakeRecorder(t *testing.T) { // each result is client-go's
	f := events.NewFakeRecorder(10)
	f.Eventf(pod, node, "Normal", "R", "A", "n %d", 1)
	f.AnnotatedEventf(pod, node, map[string]string{"x": "y"}, "Normal", "R", "A", "n %d", 1)
	f.Verbose = true
	f.Eventf(pod, nil, "Normal", "R", "A", "n %d", 1)
	f.Eventf(&v1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}}, &v1.Node{TypeMeta: metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}}, "Normal", "R", "A", "n %d", 1)
	f.AnnotatedEventf(pod, &v1.Node{TypeMeta: metav1.TypeMeta{Kind: "Node"}}, map[string]string{"b": "y", "a": "z"}, "Normal", "R", "A", "n %d", 1)
	for _, want := range []string{
		"Normal R n 1", "Normal R n 1", "Normal R A n 1",
		"Normal R A n 1 {kind=Pod,apiVersion=v1} {kind=Node,apiVersion=v1}",
		"Normal R A n 1 {kind=Node,apiVersion=} map[a:z b:y]",
	} {
		require.Equal(t, want, <-f.Events)
	}
	(&events.FakeRecorder{}).Eventf(pod, nil, "Normal", "R", "A", "dropped")
}

func TestGetFieldSelector(t *testing.T) { // each result is client-go's
	of := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	for gv, about := range map[schema.GroupVersion]string{
		{Version: "v1"}: "involvedObject", {Group: "events.k8s.io", Version: "v1"}: "regarding", {Group: "events.k8s.io", Version: "v1beta1"}: "regarding",
	} {
		selector, err := events.GetFieldSelector(gv, of, "a", "u")
		require.NoError(t, err)
		parts := strings.Split(selector.String(), ",")
		require.ElementsMatch(t, []string{about + ".name=a", about + ".uid=u", about + ".kind=Pod", about + ".apiVersion=v1"}, parts)
	}
	selector, err := events.GetFieldSelector(v1.SchemeGroupVersion, schema.GroupVersionKind{}, "", "")
	require.NoError(t, err)
	require.True(t, selector.Empty())
	_, err = events.GetFieldSelector(schema.GroupVersion{Group: "x", Version: "v1"}, of, "a", "u")
	require.EqualError(t, err, "unknown version x/v1")
}
