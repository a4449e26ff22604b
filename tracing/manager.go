package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/internal/hooks"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// ControllerObserver returns an observer for all caches and controllers of a manager, for
// controller.Options. It first calls the observer next, which may be nil. So the observer of
// package metrics can still find the trace of a reconcile.
func (t *Tracing) ControllerObserver(next *controller.Observer) *controller.Observer {
	o := hooks.CopyOf(next)
	o.Queue = func(name string, observer *workqueue.Observer[types.NamespacedName]) *workqueue.Observer[types.NamespacedName] {
		observer = t.QueueObserver(name, observer)
		if next != nil && next.Queue != nil {
			observer = next.Queue(name, observer)
		}
		return observer
	}
	o.Cache = func(name string, c controller.CacheObservers) controller.CacheObservers {
		c.Informer, c.Reflector, c.Queue, c.Store = t.cache(name).observe(c.Informer, c.Reflector, c.Queue, c.Store)
		if next != nil && next.Cache != nil {
			c = next.Cache(name, c)
		}
		return c
	}
	o.Enqueue = func(name, cache string, queue enqueue.Queue) (enqueue.Queue, func(types.NamespacedName, string)) {
		fill, event := t.traceQueue(name, cache, queue)
		if next == nil || next.Enqueue == nil {
			return fill, event
		}
		outer, other := next.Enqueue(name, cache, fill)
		if outer == nil {
			outer = fill
		}
		return outer, hooks.Chain2(event, other)
	}
	o.Reconcile = func(name string, reconcile func(context.Context, types.NamespacedName) error) func(context.Context, types.NamespacedName) error {
		if next != nil && next.Reconcile != nil {
			reconcile = next.Reconcile(name, reconcile)
		}
		return t.Reconcile(name, reconcile)
	}
	return o
}

// ClientObserver returns an observer that makes a span for each request whose context has a
// recorded span, such as the context of a traced reconcile. For other requests, the observer only
// reads the context. It also calls the observer next, which may be nil.
func (t *Tracing) ClientObserver(next *rest.Observer) *rest.Observer {
	o := hooks.CopyOf(next)
	other := o.OnSend
	o.OnSend = func(ctx context.Context, about rest.RequestInfo, setHeader func(name, value string)) func(rest.ResponseInfo) {
		var answered func(rest.ResponseInfo)
		if other != nil {
			answered = other(ctx, about, setHeader)
		}
		if !trace.SpanFromContext(ctx).IsRecording() {
			return answered
		}
		return t.request(ctx, about, setHeader, answered)
	}
	return o
}

// request starts the span of a request. The client calls the returned function once.
func (t *Tracing) request(ctx context.Context, about rest.RequestInfo, setHeader func(name, value string), next func(rest.ResponseInfo)) func(rest.ResponseInfo) {
	name := about.Verb
	for _, part := range []string{about.Resource.Resource, about.Subresource} {
		if part != "" {
			name += " " + part
		}
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("kinform.verb", about.Verb), attribute.String("kinform.resource", about.Resource.GroupResource().String())))
	if t.opts.Propagator != nil {
		t.opts.Propagator.Inject(ctx, header(setHeader))
	}
	return func(a rest.ResponseInfo) {
		span.SetAttributes(attribute.String("http.request.method", a.Method))
		switch {
		case a.Err != nil:
			span.SetStatus(codes.Error, "no response")
		default:
			span.SetAttributes(attribute.Int("http.response.status_code", a.StatusCode))
			if a.StatusCode >= 400 {
				span.SetStatus(codes.Error, "")
			}
		}
		span.End()
		if next != nil {
			next(a)
		}
	}
}

// header sets a header of a request. It implements the interface propagation.TextMapCarrier.
type header func(name, value string)

func (h header) Get(string) string      { return "" }
func (h header) Set(name, value string) { h(name, value) }
func (h header) Keys() []string         { return nil }
