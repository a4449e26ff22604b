package tracing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/rest"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// texts returns the attributes of a span.
func texts(s sdk.ReadOnlySpan) map[string]string {
	m := map[string]string{}
	for _, a := range s.Attributes() {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}

func TestTraceFollowsAChangeFromEventToRequest(t *testing.T) {
	t.Parallel()
	headers := make(chan string, 10)
	var carried propagation.TextMapPropagator = recordingPropagator{propagation.TraceContext{}, headers}
	r := newRig(t, Options{Ratio: 1, Propagator: carried}, rest.Options{})
	r.reconcile = func(ctx context.Context, m *configMap) (controller.Result, error) {
		_, err := r.secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(m, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}}})
		if err != nil && strings.Contains(err.Error(), "already exists") {
			err = nil
		}
		return controller.Done, err
	}
	r.run()
	made := r.create("a")
	root := r.waitForSpans("change configmaps", 1)[0]
	// The secret causes the second reconcile.
	r.eventually(func() bool { return len(r.ended("reconcile greet")) >= 2 })
	id := root.SpanContext().TraceID()
	require.False(t, root.Parent().IsValid())
	require.Equal(t, map[string]string{"kinform.informer": "configmaps", "kinform.event": "ADDED", "kinform.resource_version": made.ResourceVersion,
		"k8s.namespace.name": "web", "kinform.object.name": "a"}, texts(root))

	ends := root.StartTime()
	for _, name := range []string{"deltafifo", "store", "mailbox", "workqueue", "reconcile greet"} {
		var span sdk.ReadOnlySpan
		for _, s := range r.ended(name) {
			if s.SpanContext().TraceID() == id {
				span = s
				break
			}
		}
		require.NotNil(t, span, name)
		require.Equal(t, root.SpanContext().SpanID(), span.Parent().SpanID(), name)
		if name != "workqueue" { // This span begins while the handler runs.
			require.False(t, span.StartTime().Before(ends.Add(-time.Millisecond)), "%s begins when the previous span has ended", name)
		}
		ends = span.EndTime()
	}
	reconcile := r.ended("reconcile greet")[0]
	request := r.waitForSpans("create secrets", 2)[0]
	require.Equal(t, reconcile.SpanContext().SpanID(), request.Parent().SpanID())
	require.Equal(t, "201", texts(request)["http.response.status_code"])
	require.Equal(t, fmt.Sprintf("00-%s-%s-01", id, request.SpanContext().SpanID()), <-headers)

	// A change of an owned object has its own trace, which leads to the reconcile of the owner.
	secret := r.waitForSpans("change secrets", 1)[0]
	second := r.ended("reconcile greet")[1]
	require.Equal(t, secret.SpanContext().TraceID(), second.SpanContext().TraceID())
	require.Equal(t, "a", texts(second)["kinform.object.name"])
	r.requireAllEnded()
	require.Equal(t, uint64(2), r.tracing.Stats().Traced)
	require.Zero(t, r.tracing.Stats().Dropped)
}

// recordingPropagator is a propagator that reports what it writes.
type recordingPropagator struct {
	propagation.TextMapPropagator
	headers chan string
}

func (w recordingPropagator) Inject(ctx context.Context, c propagation.TextMapCarrier) {
	w.TextMapPropagator.Inject(ctx, recordingCarrier{c, w.headers})
}

type recordingCarrier struct {
	propagation.TextMapCarrier
	headers chan string
}

func (t recordingCarrier) Set(name, value string) {
	t.TextMapCarrier.Set(name, value)
	t.headers <- value
}

func TestReconcileHasLinksToAllItsChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Ratio: 1}, rest.Options{})
	begun, goOn := make(chan struct{}, 10), make(chan struct{})
	r.reconcile = func(context.Context, *configMap) (controller.Result, error) {
		begun <- struct{}{}
		<-goOn
		return controller.Done, nil
	}
	r.run()
	m := r.create("a")
	<-begun
	const changes = 40
	for n := range changes {
		m = m.DeepCopy()
		m.Data = map[string]string{"n": fmt.Sprint(n)}
		updated, err := r.server.Update(m)
		require.NoError(t, err)
		m = updated.(*configMap)
		r.waitForSpans("handle greet", n+2) // so that changes are not merged before the work queue
	}
	close(goOn)
	reconciles := r.waitForSpans("reconcile greet", 2)
	second := reconciles[1]
	require.Equal(t, fmt.Sprint(changes), texts(second)["kinform.changes"])
	require.Len(t, second.Links(), maxLinks-1)
	all := r.ended("change configmaps")
	require.Equal(t, all[1].SpanContext().TraceID(), second.SpanContext().TraceID(), "the reconcile is in the trace of its oldest change")
	for n, l := range second.Links() {
		require.Equal(t, all[len(all)-len(second.Links())+n].SpanContext().SpanID(), l.SpanContext.SpanID())
	}
	r.requireAllEnded()
}

func TestFailedReconcilesHaveTheSameTrace(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Ratio: 1, MaxAttempts: 4}, rest.Options{})
	var reconciles, endless atomic.Int32
	r.reconcile = func(_ context.Context, m *configMap) (controller.Result, error) {
		switch turn := reconciles.Add(1); {
		case m.Name == "hopeless":
			return controller.Done, controller.Terminal(errors.New("a secret"))
		case m.Name == "endless":
			endless.Add(1)
			return controller.Done, errors.New("a secret")
		case turn == 1:
			return controller.Done, errors.New("a secret")
		case turn == 2:
			panic("a secret")
		case turn == 3:
			return controller.After(time.Millisecond), nil
		}
		return controller.Done, nil
	}
	r.run()
	r.create("a")
	attempts := r.waitForSpans("reconcile greet", 3)
	for n, s := range attempts {
		require.Equal(t, fmt.Sprint(n+1), texts(s)["kinform.attempt"])
		require.Equal(t, attempts[0].SpanContext().TraceID(), s.SpanContext().TraceID())
		if n > 0 {
			require.Equal(t, attempts[n-1].SpanContext().SpanID(), s.Links()[0].SpanContext.SpanID())
		}
	}
	require.Equal(t, sdk.Status{Code: codes.Error, Description: "failed"}, attempts[0].Status())
	require.Equal(t, sdk.Status{Code: codes.Error, Description: "panicked, or ended its goroutine"}, attempts[1].Status())
	require.Equal(t, codes.Unset, attempts[2].Status().Code, "a requeue request is not a failure")
	require.Len(t, r.ended("workqueue"), 3, "each reconcile has a span of its wait")

	r.create("hopeless")
	hopeless := r.waitForSpans("reconcile greet", 4)[3]
	require.Equal(t, "failed, and is not retried", hopeless.Status().Description)

	r.create("endless")
	r.eventually(func() bool { return endless.Load() > 6 })
	require.Len(t, r.ended("reconcile greet"), 4+4)
	for _, s := range r.recorder.Ended() {
		require.NotContains(t, fmt.Sprint(s.Attributes(), s.Events(), s.Status()), "secret", "no span has the text of an error")
	}
	r.requireAllEnded()
}

// After deletions, relists, resyncs and an early end, every started span has ended.
func TestNoSpanIsLeftOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Ratio: 1}, rest.Options{})
	begun := make(chan struct{}, 100)
	r.reconcile = func(ctx context.Context, m *configMap) (controller.Result, error) {
		if m.Name == "hangs" {
			begun <- struct{}{}
			<-ctx.Done()
			return controller.Done, ctx.Err()
		}
		_, err := r.maps.Server().Get(ctx, keyOf(m.Name), metav1.GetOptions{})
		return controller.Done, err
	}
	r.create("there") // The object comes with the list, so it is not a change.
	r.run()
	for n := range 20 {
		r.create(fmt.Sprint("m", n))
	}
	for n := range 10 {
		require.NoError(t, r.server.Delete(configMaps, keyOf(fmt.Sprint("m", n))))
	}
	r.waitForSpans("change configmaps", 30)
	r.server.Inject(apitest.Fault{Resource: "configmaps", Verb: "watch", Times: 2, Action: apitest.Expired()})
	r.server.DropWatches("configmaps")
	r.create("relisted")
	r.eventually(func() bool { _, ok := r.maps.Get(keyOf("relisted")); return ok })
	r.eventually(func() bool {
		return r.manager.Status().Clusters[0].Caches[0].Status.Reflector.Phase.String() == "watching"
	})
	r.create("hangs")
	<-begun
	r.create("late")
	r.requireAllEnded()
	hung := slices.IndexFunc(r.ended("reconcile greet"), func(s sdk.ReadOnlySpan) bool { return strings.HasPrefix(s.Status().Description, "interrupted") })
	require.GreaterOrEqual(t, hung, 0)
	for _, s := range r.recorder.Ended() {
		require.NotEqual(t, "there", texts(s)["kinform.object.name"])
	}
}

func TestUnsampledChangesHaveNoSpan(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]Options{"none": {Ratio: -1}, "names": {Ratio: 1, WithoutNames: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, opts, rest.Options{})
			reconciles := make(chan struct{}, 1)
			r.reconcile = func(context.Context, *configMap) (controller.Result, error) {
				reconciles <- struct{}{}
				return controller.Done, nil
			}
			r.run()
			r.create("namely")
			<-reconciles
			if name == "none" {
				require.NoError(t, r.stop())
				require.Empty(t, r.recorder.Started())
				require.Zero(t, r.tracing.Stats())
				return
			}
			r.waitForSpans("reconcile greet", 1)
			for _, s := range r.recorder.Ended() {
				require.NotContains(t, fmt.Sprint(s.Attributes()), "namely")
			}
			r.requireAllEnded()
		})
	}
}

// The provider's sampler is called once for each change that Options.Ratio has selected.
func TestSamplerOfTheProviderDecides(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	traced, err := New(sdk.NewTracerProvider(sdk.WithSampler(sdk.NeverSample()), sdk.WithSpanProcessor(recorder)), Options{Ratio: 1})
	require.NoError(t, err)
	p := newPipeline(t, traced)
	for range 10 {
		p.event()
	}
	require.Empty(t, recorder.Started())
	require.Equal(t, Stats{Sampled: 10}, traced.Stats())
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	traced, err := New(sdk.NewTracerProvider(), Options{Ratio: 1, MaxOpen: 10})
	require.NoError(t, err)
	c, q := traced.cache("maps"), traced.queue("maps")
	for n := range 100 {
		c.received(watchEvent(fmt.Sprint("m", n), n+1))
		q.update(keyOf(fmt.Sprint("m", n)), func(p *pending) { p.add(link{span: trace.SpanContext{}}) })
	}
	require.Equal(t, Stats{Sampled: 100, Dropped: 90 + 90, Open: 20}, traced.Stats())
	c.stored("100")
	require.Equal(t, uint64(10), traced.Stats().Traced)
	require.Zero(t, c.waiting.Load())
	require.Len(t, c.changes, 10)
	for n := range 100 {
		if q.take(keyOf(fmt.Sprint("m", n))) != nil {
			q.done(keyOf(fmt.Sprint("m", n)))
		}
	}
	require.Zero(t, q.open.Load())
}

func TestVersionsAreCompared(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		have, want string
		reaches    bool
	}{{"10", "9", true}, {"9", "10", false}, {"10", "10", true}, {"11", "10", true}, {"10", "11", false}, {"a=1,b=2", "10", true}, {"", "10", true}} {
		require.Equal(t, v.reaches, reaches(v.have, v.want), v)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	t.Parallel()
	_, err := New(nil, Options{})
	require.ErrorContains(t, err, "TracerProvider")
	for _, opts := range []Options{{Ratio: 1.1}, {Ratio: math.NaN()}, {MaxOpen: -1}, {MaxAge: -1}, {MaxAttempts: -1}} {
		_, err := New(sdk.NewTracerProvider(), opts)
		require.ErrorContains(t, err, "tracing: Options.", opts)
	}
}

// AddHandler refuses a handler without a queue, in the same way as without tracing. Otherwise the
// handler would panic at each event.
func TestHandlerWithoutAQueueIsNil(t *testing.T) {
	t.Parallel()
	traced, err := New(sdk.NewTracerProvider(), Options{Ratio: 1})
	require.NoError(t, err)
	require.Nil(t, Handler(traced, "maps", "maps", nil, enqueue.Object[*configMap]))
}
