//lint:file-ignore SA1019 what is deprecated is compared as well

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	eventsv1beta1 "k8s.io/api/events/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
)

func tryEvents() {
	for name, object := range subjects() {
		for _, kind := range []string{v1.EventTypeNormal, "Odd"} {
			if name == "nil pod" && kind == "Odd" {
				continue // it depends on the order of checks whether this panics
			}
			try("events: "+name+", "+kind, func(o *outcome) { newEvents(o, object, kind) })
		}
		for _, verbose := range []bool{false, true} {
			try(fmt.Sprint("events, fake: ", name, ", ", verbose), func(o *outcome) {
				r := events.NewFakeRecorder(10)
				r.Verbose = verbose
				o.panics("Eventf", func() { r.Eventf(object, nil, "Odd", "R", "A", "n %d", 3) })
				o.panics("related", func() { r.Eventf(nil, object, "Odd", "R", "A", "n %d%%", 3) })
				o.panics("AnnotatedEventf", func() {
					r.AnnotatedEventf(pod, object, map[string]string{"x": "y", "a": "b"}, "Normal", "R", "A", "n")
				})
				o.panics("empty annotations", func() { r.AnnotatedEventf(pod, nil, map[string]string{}, "", "", "", "") })
				o.line(r.WithLogger(klog.Background()) == events.EventRecorderLogger(r))
				close(r.Events)
				for e := range r.Events {
					o.line(e)
				}
			})
		}
	}
	try("events, fake without a channel", func(o *outcome) {
		(&events.FakeRecorder{}).Eventf(pod, nil, "Normal", "R", "A", "m")
		o.line("returned")
	})
	for name, f := range sinkFaults() {
		for _, method := range []string{"POST", "PATCH", ""} {
			try("events with a sink that fails: "+method+" "+name, func(o *outcome) { newEventsWithFaults(o, method, f) })
		}
	}
	for name, err := range sinkErrors() {
		if name == "wrapped forbidden" {
			continue // it depends on timing whether client-go has retried
		}
		try("events to a sink with errors: "+name, func(o *outcome) {
			s := &recordingSink{o: o, err: err}
			b := events.NewBroadcaster(s)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			defer b.Shutdown()
			o.line(kindOf(b.StartRecordingToSinkWithContext(ctx)))
			r := b.NewRecorder(scheme.Scheme, "c")
			r.Eventf(pod, nil, "Normal", "R", "A", "n")
			o.line(within(5*time.Second, func() bool { return s.callCount() == 1 }))
			time.Sleep(200 * time.Millisecond) // the response must have arrived too
			r.Eventf(pod, nil, "Normal", "R", "A", "n")
			within(1500*time.Millisecond, func() bool { return s.callCount() == 3 })
			time.Sleep(20 * time.Millisecond)
		})
	}
	try("events: selectors", func(o *outcome) {
		for _, gv := range []schema.GroupVersion{v1.SchemeGroupVersion, eventsv1.SchemeGroupVersion, eventsv1beta1.SchemeGroupVersion, {}, {Group: "x", Version: "v1"}} {
			for _, gvk := range []schema.GroupVersionKind{{}, {Kind: "Pod", Version: "v1"}, {Group: "g", Version: "v2", Kind: "K"}, {Group: "g"}} {
				for _, name := range []string{"", "n"} {
					selector, err := events.GetFieldSelector(gv, gvk, name, "")
					o.line(sorted(fmt.Sprint(selector)), kindOf(err))
					selector, err = events.GetFieldSelector(gv, gvk, name, "u")
					o.line(sorted(fmt.Sprint(selector)), kindOf(err))
				}
			}
		}
	})
	tryEventBroadcasters()
	for _, newer := range []bool{true, false} {
		try(fmt.Sprint("events: adapter, ", newer), func(o *outcome) { tryAdapter(o, newer) })
	}
}

func newEvents(o *outcome, object runtime.Object, kind string) {
	b := events.NewBroadcaster(nil)
	defer b.Shutdown()
	var mu sync.Mutex
	var all []*eventsv1.Event
	stop, err := b.StartEventWatcher(func(obj runtime.Object) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, obj.(*eventsv1.Event))
	})
	o.line(kindOf(err))
	defer stop()
	r := b.NewRecorder(scheme.Scheme, "k8s.io/c")
	o.panics("Eventf", func() { r.Eventf(object, nil, kind, "1", "A", "n %d%%", 3) })
	o.panics("related", func() { r.Eventf(pod, object, kind, "2", "", "n") })
	o.panics("annotated", func() {
		r.(events.AnnotatedEventRecorder).AnnotatedEventf(object, pod, map[string]string{"x": "y"}, kind, "3", "A", "n %s", "x")
	})
	o.panics("logger", func() { r.WithLogger(klog.Background()).Eventf(object, object, kind, "4", "A", "n") })
	r.Eventf(pod, nil, "Normal", "Last", "", "")
	within(5*time.Second, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.ContainsFunc(all, func(e *eventsv1.Event) bool { return e.Reason == "Last" })
	})
	time.Sleep(200 * time.Millisecond) // client-go sends each event in a separate goroutine
	mu.Lock()
	defer mu.Unlock()
	slices.SortFunc(all, func(a, b *eventsv1.Event) int { return strings.Compare(a.Reason, b.Reason) })
	for _, e := range all {
		o.line(strings.HasPrefix(e.Name, e.Regarding.Name+"."), time.Since(e.EventTime.Time) < time.Minute, normalize(text(e)))
	}
}

// recordingSink is a program's own sink for events of events.k8s.io.
type recordingSink struct {
	o   *outcome
	err error

	mu    sync.Mutex // guards following
	calls int
}

func (s *recordingSink) do(verb string, e *eventsv1.Event, data []byte) (*eventsv1.Event, error) {
	s.o.line(verb, normalize(text(e)), normalize(string(data)))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.err != nil {
		return nil, s.err
	}
	return e, nil
}

func (s *recordingSink) callCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *recordingSink) Create(_ context.Context, e *eventsv1.Event) (*eventsv1.Event, error) {
	return s.do("create", e, nil)
}

func (s *recordingSink) Update(_ context.Context, e *eventsv1.Event) (*eventsv1.Event, error) {
	return s.do("update", e, nil)
}

func (s *recordingSink) Patch(_ context.Context, e *eventsv1.Event, data []byte) (*eventsv1.Event, error) {
	return s.do("patch", e, data)
}

// newEventsWithFaults prints the requests if requests with this method fail twice. It does not wait
// for a retry, which would follow after ten seconds.
func newEventsWithFaults(o *outcome, method string, handler http.HandlerFunc) {
	s := serve(o, &fault{method: method, path: "/events", times: 2, handler: handler})
	defer s.Close()
	b := events.NewBroadcaster(&events.EventSinkImpl{Interface: kubernetes.NewForConfigOrDie(s.config()).EventsV1()})
	defer b.Shutdown()
	stop := make(chan struct{})
	defer close(stop)
	b.StartRecordingToSink(stop)
	r := b.NewRecorder(scheme.Scheme, "c")
	for i := range 3 {
		r.Eventf(pod, node, "Normal", "R", "A", "n %d", i)
		before := s.count()
		within(1500*time.Millisecond, func() bool { return s.count() > before })
		time.Sleep(30 * time.Millisecond)
	}
	for _, asked := range s.takeRequests() {
		o.line(asked)
	}
}

func tryEventBroadcasters() {
	try("events on the wire", func(o *outcome) {
		s := serve(o)
		defer s.Close()
		b := events.NewBroadcaster(&events.EventSinkImpl{Interface: kubernetes.NewForConfigOrDie(s.config()).EventsV1()})
		defer b.Shutdown()
		stop := make(chan struct{})
		b.StartRecordingToSink(stop)
		r := b.NewRecorder(scheme.Scheme, "c")
		for i, step := range []func(){
			func() { r.Eventf(pod, node, "Normal", "R", "A", "n %d", 1) },
			func() { r.Eventf(pod, node, "Normal", "R", "A", "n %d", 2) },
			func() { r.Eventf(pod, node, "Normal", "R", "A", "n %d", 3) },
			func() { r.Eventf(pod, nil, "Normal", "R", "A", "n %d", 3) },
			func() { r.Eventf(pod, node, "Warning", "R", "A", "n") },
			func() { r.Eventf(pod, node, "Normal", "R2", "A", "n") },
			func() { r.Eventf(pod, node, "Normal", "R", "A2", "n") },
			func() { b.NewRecorder(scheme.Scheme, "d").Eventf(pod, node, "Normal", "R", "A", "n") },
			func() { r.Eventf(node, pod, "Normal", "R", "A", "n") },
			func() { r.Eventf(node, nil, "Normal", "R", "A", "n") },
			func() { r.Eventf(node, nil, "Normal", "R", "A", "n") },
			func() { close(stop); time.Sleep(50 * time.Millisecond); r.Eventf(node, nil, "Normal", "R3", "A", "n") },
		} {
			step()
			wait := 5 * time.Second
			if i == 2 || i == 11 {
				wait = 100 * time.Millisecond
			}
			within(wait, func() bool { return s.count() > 0 })
			time.Sleep(20 * time.Millisecond)
			s.print(fmt.Sprint(i))
		}
	})
	try("events: shutdown", func(o *outcome) {
		b := events.NewBroadcaster(&recordingSink{o: o})
		got := make(chan runtime.Object, 10)
		stop, err := b.StartEventWatcher(func(e runtime.Object) { got <- e })
		o.line(kindOf(err))
		r := b.NewRecorder(scheme.Scheme, "c")
		r.Eventf(pod, nil, "Normal", "R", "A", "n")
		o.line(ends(got))
		b.Shutdown()
		o.panics("record", func() { r.Eventf(pod, nil, "Normal", "R", "A", "n") })
		time.Sleep(20 * time.Millisecond)
		o.line(len(got))
		o.panics("shutdown", b.Shutdown)
		o.panics("stop", func() { stop(); stop() })
		stop, err = b.StartEventWatcher(func(runtime.Object) {})
		o.line(stop == nil, kindOf(err))
		o.line(kindOf(b.StartRecordingToSinkWithContext(context.Background())))
		_, err = b.StartLogging(klog.Background())
		o.line(kindOf(err))
		o.panics("structured", func() { b.StartStructuredLogging(0)() })
		o.panics("recording", func() { b.StartRecordingToSink(make(chan struct{})) })
	})
	try("events: logging", func(o *outcome) {
		l := &lines{}
		b := events.NewBroadcaster(&recordingSink{o: o})
		defer b.Shutdown()
		_, err := b.StartLogging(l.logger(3))
		o.line(kindOf(err))
		_, err = b.StartLogging(l.logger(3).V(4))
		o.line(kindOf(err))
		r := b.NewRecorder(scheme.Scheme, "c")
		r.Eventf(pod, node, "Normal", "R", "A", "n %d", 1)
		within(5*time.Second, func() bool { return len(l.taken()) == 1 })
		time.Sleep(20 * time.Millisecond)
		for _, text := range l.taken() {
			o.line(text)
		}
	})
	try("events: a watcher that stops", func(o *outcome) {
		b := events.NewBroadcaster(&recordingSink{o: o})
		defer b.Shutdown()
		first, second := make(chan runtime.Object, 10), make(chan runtime.Object, 10)
		stop, _ := b.StartEventWatcher(func(e runtime.Object) { first <- e })
		_, _ = b.StartEventWatcher(func(e runtime.Object) { second <- e })
		r := b.NewRecorder(scheme.Scheme, "c")
		r.Eventf(pod, nil, "Normal", "R", "A", "n")
		o.line(ends(first), ends(second))
		stop()
		r.Eventf(pod, nil, "Normal", "R", "A", "n")
		o.line(ends(second), len(first))
	})
	try("events: sink of a typed client", func(o *outcome) {
		s := serve(o)
		defer s.Close()
		sink := &events.EventSinkImpl{Interface: kubernetes.NewForConfigOrDie(s.config()).EventsV1()}
		for _, namespace := range []string{"", "b"} {
			e := &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: namespace}, Regarding: v1.ObjectReference{Namespace: namespace}}
			_, err := sink.Patch(context.Background(), e, []byte(`{"note":"x"}`))
			o.line(namespace, "patch", kindOf(err))
			_, err = sink.Create(context.Background(), e)
			o.line(namespace, "create", kindOf(err))
			_, err = sink.Update(context.Background(), e)
			o.line(namespace, "update", kindOf(err))
			_, err = sink.Patch(context.Background(), e, []byte(`{"note":"x"}`))
			o.line(namespace, "patch", kindOf(err))
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			_, err = sink.Create(ended, e)
			o.line(namespace, "create", errors.Is(err, context.Canceled))
			s.print("asked")
		}
	})
}

func tryAdapter(o *outcome, newer bool) {
	s := serve(o)
	defer s.Close()
	if !newer {
		s.fail(&fault{path: "/apis/events.k8s.io/v1", times: 1, handler: statusHandler(404, "NotFound", "no")})
	}
	client := kubernetes.NewForConfigOrDie(s.config())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a := events.NewEventBroadcasterAdapterWithContext(ctx, client)
	s.print("new")
	stop := make(chan struct{})
	defer close(stop)
	a.StartRecordingToSink(stop)
	record := func(name string, fn func()) {
		fn()
		within(5*time.Second, func() bool { return s.count() > 0 })
		time.Sleep(20 * time.Millisecond)
		s.print(name)
	}
	r := a.NewRecorder("new")
	record("Eventf", func() { r.Eventf(pod, node, "Normal", "New", "A", "n %d", 1) })
	record("WithLogger", func() { r.WithLogger(klog.Background()).Eventf(node, nil, "Normal", "New", "A", "n %d", 1) })
	if annotated, ok := r.(events.AnnotatedEventRecorder); ok {
		record("AnnotatedEventf", func() {
			annotated.AnnotatedEventf(pod, node, map[string]string{"x": "y"}, "Normal", "Newer", "A", "n %d", 1)
		})
	}
	old := a.DeprecatedNewLegacyRecorder("old")
	record("old", func() { old.Eventf(pod, "Normal", "Old", "n %d", 2) })
	a.Shutdown()
	o.panics("after shutdown", func() {
		r.Eventf(pod, nil, "Normal", "New", "A", "n")
		old.Eventf(pod, "Normal", "Old", "n")
	})
	time.Sleep(30 * time.Millisecond)
	o.panics("shutdown", a.Shutdown)
	s.print("after the end")
}
