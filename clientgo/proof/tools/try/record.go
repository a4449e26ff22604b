//lint:file-ignore SA1019 what is deprecated is compared as well

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/record/util"
)

var (
	pod  = &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "b", UID: "u", ResourceVersion: "7"}}
	node = &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
)

// subjects returns objects for events.
func subjects() map[string]runtime.Object {
	return map[string]runtime.Object{
		"pod": pod, "node": node, "nil": nil, "nil pod": (*v1.Pod)(nil), "empty pod": &v1.Pod{},
		"pod with its kind":   &v1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "b"}},
		"pod of another kind": &v1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Odd", APIVersion: "x/v3"}, ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "b"}},
		"pod without version": &v1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "b"}},
		"deployment":          &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "b", UID: "v"}},
		"reference":           &v1.ObjectReference{Kind: "Pod", Namespace: "b", Name: "a", UID: "u", APIVersion: "v1", FieldPath: "spec.containers{x}"},
		"empty reference":     &v1.ObjectReference{},
		"unstructured":        &unstructured.Unstructured{Object: map[string]any{"kind": "K", "apiVersion": "g/v1", "metadata": map[string]any{"name": "x", "namespace": "y", "uid": "w"}}},
		"empty unstructured":  &unstructured.Unstructured{},
		"list":                &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}},
		"status":              &metav1.Status{},
		"unknown":             &unregisteredObject{},
		"partial":             &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "P", APIVersion: "g/v1"}, ObjectMeta: metav1.ObjectMeta{Name: "p"}},
		"long name":           &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("n", 253), Namespace: "b"}},
		"odd name":            &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "A_B/C", Namespace: "b"}},
	}
}

// unregisteredObject is an object whose type is not in any scheme.
type unregisteredObject struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

func (u *unregisteredObject) DeepCopyObject() runtime.Object { return u }

func printed(e *v1.Event) string {
	return normalize(text(e))
}

func tryRecorders() {
	for name, object := range subjects() {
		for _, kind := range []string{v1.EventTypeNormal, v1.EventTypeWarning, "Odd", ""} {
			try("record: "+name+", "+kind, func(o *outcome) { recordOne(o, object, kind) })
		}
	}
	try("record: names and types", func(o *outcome) {
		for _, name := range []string{"", "a", "a.b", "A_B", strings.Repeat("n", 300), "a/b", "ä"} {
			o.line(normalize(util.GenerateEventName(name, 1)), normalize(util.GenerateEventName(name, 1234567890123456789)), normalize(util.GenerateEventName(name, -1)))
		}
		for _, kind := range []string{"Normal", "Warning", "normal", "", "Error"} {
			o.line(util.ValidateEventType(kind))
		}
		gone := apierrors.NewNotFound(schema.GroupResource{Resource: "x"}, "y")
		for _, err := range []error{nil, errors.New("x"), gone, fmt.Errorf("w: %w", gone), &apierrors.StatusError{ErrStatus: metav1.Status{Code: 404}}, &apierrors.StatusError{ErrStatus: metav1.Status{Reason: "NotFound"}}, apierrors.NewConflict(schema.GroupResource{}, "", nil), &apierrors.UnexpectedObjectError{}} {
			o.line(util.IsKeyNotFoundError(err))
		}
	})
	tryFakeRecorder()
	for _, path := range []string{"one event", "the same again", "similar ones", "too many", "annotations", "other namespaces", "in a namespace"} {
		try("record on the wire: "+path, func(o *outcome) { recordOnTheWire(o, path) })
	}
	for name, f := range sinkFaults() {
		for _, method := range []string{"POST", "PATCH", ""} {
			try("record with a sink that fails: "+method+" "+name, func(o *outcome) { recordWithFaults(o, method, f) })
		}
	}
	for name, err := range sinkErrors() {
		try("record to a sink with errors: "+name, func(o *outcome) { recordWithErrors(o, err) })
	}
	tryBroadcasters()
}

func recordOne(o *outcome, object runtime.Object, kind string) {
	b := record.NewBroadcaster()
	defer b.Shutdown()
	got := make(chan *v1.Event, 20)
	w := b.StartEventWatcher(func(e *v1.Event) { got <- e })
	defer w.Stop()
	r := b.NewRecorder(scheme.Scheme, v1.EventSource{Component: "c", Host: "h"})
	o.panics("Event", func() { r.Event(object, kind, "R", "m %d") })
	o.panics("Eventf", func() { r.Eventf(object, kind, "", "m %d%%", 3) })
	o.panics("AnnotatedEventf", func() { r.AnnotatedEventf(object, map[string]string{"x": "y"}, kind, "R", "m %s", "odd") })
	o.panics("with logger", func() { r.WithLogger(klog.Background()).Eventf(object, kind, "R", "") })
	a := record.NewEventRecorderAdapter(r)
	o.panics("adapter", func() { a.Eventf(object, node, kind, "R", "A", "n %s", "x") })
	o.panics("annotated adapter", func() { a.AnnotatedEventf(object, node, map[string]string{"x": "y"}, kind, "R", "A", "n %s", "x") })
	o.panics("adapter with logger", func() { a.WithLogger(klog.Background()).Eventf(object, nil, kind, "R", "A", "n") })
	r.Event(pod, "Normal", "Last", "")
	for e := range got {
		if e.Reason == "Last" {
			break
		}
		at := e.FirstTimestamp
		o.line(e.Name == fmt.Sprintf("%s.%x", e.InvolvedObject.Name, at.UnixNano()), at.Equal(&e.LastTimestamp), time.Since(at.Time) < time.Minute)
		o.line(printed(e))
	}
}

func tryFakeRecorder() {
	for _, include := range []bool{false, true} {
		for name, object := range subjects() {
			try(fmt.Sprint("record, fake: ", name, ", ", include), func(o *outcome) {
				r := record.NewFakeRecorder(10)
				r.IncludeObject = include
				o.panics("Event", func() { r.Event(object, "Normal", "R", "100%") })
				o.panics("Eventf", func() { r.Eventf(object, "Odd", "R", "m %d", 3) })
				o.panics("AnnotatedEventf", func() {
					r.AnnotatedEventf(object, map[string]string{"x": "y", "a": "b"}, "Normal", "R", "m %d", 3)
				})
				o.panics("empty annotations", func() { r.AnnotatedEventf(object, map[string]string{}, "", "", "") })
				o.line(r.WithLogger(klog.Background()) == record.EventRecorderLogger(r))
				close(r.Events)
				for e := range r.Events {
					o.line(e)
				}
			})
		}
	}
	try("record, fake without a channel", func(o *outcome) {
		r := &record.FakeRecorder{}
		r.Event(pod, "Normal", "R", "m")
		r.Eventf(nil, "Normal", "R", "m")
		o.line("returned")
	})
}

// recorded waits until the server has received this number of requests.
func (s *server) recorded(requests int) {
	if !within(20*time.Second, func() bool { return s.count() >= requests }) {
		s.o.line("too few requests")
	}
	time.Sleep(50 * time.Millisecond) // for a further request, which would be a difference
}

func recordOnTheWire(o *outcome, what string) {
	s := serve(o)
	defer s.Close()
	client := kubernetes.NewForConfigOrDie(s.config())
	b := record.NewBroadcaster(record.WithCorrelatorOptions(record.CorrelatorOptions{BurstSize: 8, MaxEvents: 3}))
	defer b.Shutdown()
	namespace := ""
	if what == "in a namespace" {
		namespace = "b"
	}
	b.StartRecordingToSink(&typedv1.EventSinkImpl{Interface: client.CoreV1().Events(namespace)})
	r := b.NewRecorder(scheme.Scheme, v1.EventSource{Component: "c"})
	requests := 1
	switch what {
	case "one event":
		r.Event(pod, "Normal", "R", "m")
	case "the same again":
		requests = 3
		for range 3 {
			r.Event(pod, "Normal", "R", "m")
		}
	case "similar ones":
		requests = 6
		for i := range 6 {
			r.AnnotatedEventf(pod, map[string]string{"x": "y"}, "Normal", "R", "m %d", i)
		}
	case "too many":
		requests = 9
		for i := range 20 {
			r.Eventf(pod, "Normal", fmt.Sprint("R", i), "m")
		}
		r.Event(node, "Normal", "R", "")
	case "annotations":
		r.AnnotatedEventf(pod, map[string]string{"x": "y"}, "Warning", "R", "%v", nil)
	case "other namespaces", "in a namespace":
		requests = 3
		r.Event(node, "Normal", "R", "")
		r.Event(pod, "Normal", "R", "")
		r.Event(node, "Normal", "R", "")
	}
	if what == "in a namespace" { // rejected requests are retried forever
		time.Sleep(200 * time.Millisecond)
	} else {
		s.recorded(requests)
	}
	for _, asked := range s.takeRequests() {
		o.line(asked)
	}
}

func sinkFaults() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"400": statusHandler(400, "BadRequest", "no"), "403": statusHandler(403, "Forbidden", "no"), "404": statusHandler(404, "NotFound", "no"), "409": statusHandler(409, "AlreadyExists", "no"), "conflict": statusHandler(409, "Conflict", "no"),
		"422": statusHandler(422, "Invalid", "no"), "429": statusHandler(429, "TooManyRequests", "no"), "500": statusHandler(500, "InternalError", "no"), "503": textHandler(503, "away"), "504": statusHandler(504, "Timeout", "no"), "404 without a status": textHandler(404, "page"), "401": textHandler(401, ""),
		"malformed": textHandler(200, "{"), "another kind": textHandler(200, `{"kind":"Pod","apiVersion":"v1"}`), "empty": textHandler(200, ""), "a status": textHandler(200, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"reason":"InternalError"}`),
		"cut": closeConnection,
		"ending namespace": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(403)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"details":{"causes":[{"reason":"NamespaceTerminating","message":"ends"}]}}`))
		},
	}
}

// recordWithFaults prints the requests if requests with this method fail twice.
func recordWithFaults(o *outcome, method string, handler http.HandlerFunc) {
	s := serve(o, &fault{method: method, path: "/events", times: 2, handler: handler})
	defer s.Close()
	b := record.NewBroadcaster(record.WithSleepDuration(time.Millisecond))
	defer b.Shutdown()
	b.StartRecordingToSink(&typedv1.EventSinkImpl{Interface: kubernetes.NewForConfigOrDie(s.config()).CoreV1().Events("")})
	r := b.NewRecorder(scheme.Scheme, v1.EventSource{Component: "c"})
	r.Event(pod, "Normal", "R", "m")
	r.Event(pod, "Normal", "R", "m")
	r.Event(pod, "Normal", "R", "m")
	r.Event(node, "Normal", "Last", "m")
	if !within(20*time.Second, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.ContainsFunc(s.takenRequests, func(asked string) bool { return strings.Contains(asked, "Last") })
	}) {
		o.line("it never came to the last event")
	}
	time.Sleep(20 * time.Millisecond)
	for _, asked := range s.takeRequests() {
		o.line(asked)
	}
}

// sink is a program's own sink for core events.
type sink struct {
	o     *outcome
	err   error
	hangs chan struct{}

	mu    sync.Mutex // guards following
	calls int
}

func (s *sink) do(verb string, e *v1.Event, data []byte) (*v1.Event, error) {
	s.mu.Lock()
	s.calls++
	s.mu.Unlock()
	s.o.line(verb, printed(e), normalize(string(data)))
	if s.hangs != nil {
		<-s.hangs
	}
	if s.err != nil && e.Reason != "Last" {
		return nil, s.err
	}
	stored := e.DeepCopy()
	stored.ResourceVersion, stored.Name = "42", "named-by-sink"
	return stored, nil
}

func (s *sink) Create(e *v1.Event) (*v1.Event, error)             { return s.do("create", e, nil) }
func (s *sink) Update(e *v1.Event) (*v1.Event, error)             { return s.do("update", e, nil) }
func (s *sink) Patch(e *v1.Event, data []byte) (*v1.Event, error) { return s.do("patch", e, data) }
func (s *sink) callCount() int                                    { s.mu.Lock(); defer s.mu.Unlock(); return s.calls }
func errorOfStatus(code int32, reason metav1.StatusReason) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Reason: reason}}
}

func sinkErrors() map[string]error {
	return map[string]error{
		"none": nil, "plain": errors.New("x"), "not found": errorOfStatus(404, metav1.StatusReasonNotFound), "exists": errorOfStatus(409, metav1.StatusReasonAlreadyExists), "wrapped not found": fmt.Errorf("w: %w", errorOfStatus(404, metav1.StatusReasonNotFound)),
		"wrapped forbidden": fmt.Errorf("w: %w", errorOfStatus(403, metav1.StatusReasonForbidden)), "cannot be built": &rest.RequestConstructionError{Err: errors.New("x")}, "wrapped cannot be built": fmt.Errorf("w: %w", &rest.RequestConstructionError{Err: errors.New("x")}),
		"another object": &apierrors.UnexpectedObjectError{Object: pod}, "canceled": context.Canceled,
	}
}

func recordWithErrors(o *outcome, err error) {
	b := record.NewBroadcasterForTests(time.Millisecond)
	defer b.Shutdown()
	s := &sink{o: o, err: err}
	b.StartRecordingToSink(s)
	r := b.NewRecorder(scheme.Scheme, v1.EventSource{Component: "c"})
	r.Event(pod, "Normal", "R", "m")
	r.Event(pod, "Normal", "R", "m")
	r.Event(node, "Normal", "Last", "m")
	within(10*time.Second, func() bool { return strings.Contains(text(o.all()), "Last") })
	o.line(s.callCount())
}

func tryBroadcasters() {
	source := v1.EventSource{Component: "c"}
	try("record: shutdown", func(o *outcome) {
		b := record.NewBroadcaster()
		got := make(chan *v1.Event, 10)
		w := b.StartEventWatcher(func(e *v1.Event) { got <- e })
		r := b.NewRecorder(scheme.Scheme, source)
		r.Event(pod, "Normal", "R", "m")
		o.line(ends(got))
		b.Shutdown()
		within(5*time.Second, func() bool {
			select {
			case _, ok := <-w.ResultChan():
				return !ok
			default:
				return false
			}
		})
		_, open := <-w.ResultChan()
		o.line(open)
		o.panics("record", func() { r.Event(pod, "Normal", "R", "m") })
		o.panics("shutdown", b.Shutdown)
		o.panics("watch", func() {
			w := b.StartEventWatcher(func(*v1.Event) { o.line("called") })
			_, open := <-w.ResultChan()
			o.line(open)
			w.Stop()
		})
		o.panics("log", func() { b.StartLogging(func(string, ...any) {}).Stop() })
		o.panics("structured", func() { b.StartStructuredLogging(0).Stop() })
		o.panics("sink", func() { b.StartRecordingToSink(&sink{o: o}).Stop() })
		o.panics("stop", func() { w.Stop(); w.Stop() })
	})
	try("record: shutdown while a sink fails", func(o *outcome) {
		b := record.NewBroadcaster(record.WithSleepDuration(time.Hour))
		s := &sink{o: o, err: errors.New("x")}
		b.StartRecordingToSink(s)
		b.NewRecorder(scheme.Scheme, source).Event(pod, "Normal", "R", "m")
		o.line(within(5*time.Second, func() bool { return s.callCount() == 1 }))
		done := make(chan struct{})
		go func() { b.Shutdown(); close(done) }()
		o.line(ends(done), s.callCount())
	})
	try("record: end of a context", func(o *outcome) {
		ctx, cancel := context.WithCancel(context.Background())
		b := record.NewBroadcaster(record.WithContext(ctx))
		w := b.StartEventWatcher(func(*v1.Event) {})
		r := b.NewRecorder(scheme.Scheme, source)
		cancel()
		o.line(within(5*time.Second, func() bool {
			select {
			case _, ok := <-w.ResultChan():
				return !ok
			default:
				return false
			}
		}))
		o.panics("record", func() { r.Event(pod, "Normal", "R", "m") })
		o.panics("shutdown", b.Shutdown)
	})
	try("record: context nil", func(o *outcome) {
		//lint:ignore SA1012 a program may give none
		b := record.NewBroadcaster(record.WithContext(nil)) //nolint:staticcheck // as above
		b.Shutdown()
		o.line("returned")
	})
	try("record: stop of one watcher", func(o *outcome) {
		b := record.NewBroadcaster()
		defer b.Shutdown()
		first, second := make(chan *v1.Event, 10), make(chan *v1.Event, 10)
		w := b.StartEventWatcher(func(e *v1.Event) { first <- e })
		b.StartEventWatcher(func(e *v1.Event) { second <- e })
		r := b.NewRecorder(scheme.Scheme, source)
		r.Event(pod, "Normal", "R", "m")
		o.line(ends(first), ends(second))
		w.Stop()
		r.Event(pod, "Normal", "R", "m")
		o.line(ends(second), len(first))
	})
	try("record: a watcher that panics", func(o *outcome) {
		b := record.NewBroadcaster()
		defer b.Shutdown()
		got := make(chan *v1.Event, 10)
		called := make(chan struct{}, 10)
		b.StartEventWatcher(func(e *v1.Event) { called <- struct{}{}; panic("x") })
		b.StartEventWatcher(func(e *v1.Event) { got <- e })
		r := b.NewRecorder(scheme.Scheme, source)
		r.Event(pod, "Normal", "R", "m")
		o.line(ends(called), ends(got))
		r.Event(pod, "Normal", "R", "m")
		o.line(ends(got), len(called))
	})
	try("record: watchers share the event", func(o *outcome) {
		b := record.NewBroadcaster()
		defer b.Shutdown()
		got := make(chan *v1.Event, 10)
		b.StartEventWatcher(func(e *v1.Event) { got <- e })
		b.StartEventWatcher(func(e *v1.Event) { got <- e })
		b.NewRecorder(scheme.Scheme, source).Event(pod, "Normal", "R", "m")
		first, second := <-got, <-got
		o.line(first == second)
	})
	try("record: logging", func(o *outcome) {
		b := record.NewBroadcaster()
		defer b.Shutdown()
		got := make(chan string, 10)
		b.StartLogging(func(format string, args ...any) { got <- fmt.Sprintf(format, args...) })
		r := b.NewRecorder(scheme.Scheme, source)
		r.Event(pod, "Normal", "R", "m %d")
		o.line(<-got)
		r.Event(&v1.ObjectReference{Kind: "K", FieldPath: "f"}, "Warning", "", "")
		o.line(<-got)
	})
	try("record: structured logging", func(o *outcome) {
		l := &lines{}
		b := record.NewBroadcaster(record.WithContext(klog.NewContext(context.Background(), l.logger(3))))
		defer b.Shutdown()
		b.StartStructuredLogging(0)
		b.StartStructuredLogging(3)
		b.StartStructuredLogging(4)
		r := b.NewRecorder(scheme.Scheme, source)
		r.Event(pod, "Normal", "R", "m %d")
		r.Event(&v1.ObjectReference{Kind: "K", FieldPath: "f"}, "Warning", "", "")
		within(5*time.Second, func() bool { return len(l.taken()) == 4 })
		time.Sleep(20 * time.Millisecond)
		all := l.taken()
		slices.Sort(all)
		for _, text := range all {
			o.line(text)
		}
	})
	try("record: a sink that is slow and a recorder that is fast", func(o *outcome) {
		b := record.NewBroadcaster(record.WithCorrelatorOptions(record.CorrelatorOptions{BurstSize: 1000}))
		defer b.Shutdown()
		s := &sink{o: &outcome{}, hangs: make(chan struct{})}
		b.StartRecordingToSink(s)
		r := b.NewRecorder(scheme.Scheme, source)
		for i := range 500 {
			r.Event(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}}, "Normal", "R", "m")
		}
		close(s.hangs)
		o.line(within(10*time.Second, func() bool { return s.callCount() == 500 }))
	})
	try("record: sink of a typed client", func(o *outcome) {
		s := serve(o)
		defer s.Close()
		client := kubernetes.NewForConfigOrDie(s.config()).CoreV1()
		for _, namespace := range []string{"", "b"} {
			sink := &typedv1.EventSinkImpl{Interface: client.Events(namespace)}
			for _, in := range []string{"", "b", "c"} {
				e := &v1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e" + in, Namespace: in}, InvolvedObject: v1.ObjectReference{Namespace: in}}
				created, err := sink.Create(e)
				o.line(namespace, in, "create", created != nil, kindOf(err))
				_, err = sink.Update(e)
				o.line(namespace, in, "update", kindOf(err))
				_, err = sink.Patch(e, []byte(`{"count":3}`))
				o.line(namespace, in, "patch", kindOf(err))
				_, err = client.Events(namespace).Search(scheme.Scheme, &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: in}})
				o.line(namespace, in, "search", kindOf(err))
				s.print("asked")
			}
		}
		o.line(sorted(client.Events("").GetFieldSelector(nil, nil, nil, nil).String()))
		one := "x"
		o.line(sorted(client.Events("").GetFieldSelector(&one, &one, &one, &one).String()))
	})
	o := reflect.TypeFor[record.CorrelatorOptions]()
	try("record: fields of the options", func(out *outcome) {
		for i := range o.NumField() {
			out.line(o.Field(i).Name, o.Field(i).Type)
		}
	})
}
