package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync/atomic"
	"time"

	"k8s.io/client-go/internal/sink"

	"github.com/kinform/kinform/listwatch"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// source adapts a ListerWatcher to kinform's listwatch.Source.
type source struct {
	lw          ListerWatcherWithContext
	description string // the type of the objects, for errors

	// The expected type and kind. Events with other objects are logged and skipped. Both may be
	// nil.
	expectedType reflect.Type
	expectedGVK  *schema.GroupVersionKind

	metrics *reflectorMetrics // nil if there is no provider
	store   ReflectorStore    // the store that gets the objects

	openWatch *watchStream // the open watch, or nil

	streamed  atomic.Bool // the last list is a streaming list
	synthetic atomic.Bool // the watch began with unordered events of existing objects
}

func (s *source) String() string { return s.description }

// use returns how the objects will be used, which limits what they may share. A program's own store
// may do anything with its objects.
func (s *source) use() sink.Use {
	if _, ok := s.store.(itemStore); ok {
		if t, ok := s.store.(TransformingStore); ok && t.Transformer() != nil {
			return sink.Transformed
		}
		return sink.Cached
	}
	return sink.Owned
}

var errTable = errors.New("the server answered with a Table, which has no objects: the client must not ask for one (Accept header)")

// List calls the ListerWatcher in a separate goroutine. A list function without a context can't be
// interrupted. So List does not wait for it once the context has ended (RC-12).
func (s *source) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[any], error) {
	s.streamed.Store(false)
	options := metav1.ListOptions{
		ResourceVersion:      opts.ResourceVersion,
		ResourceVersionMatch: opts.ResourceVersionMatch,
		Limit:                opts.Limit,
		Continue:             opts.Continue,
	}
	to := &sink.Sink{
		Options:  listwatch.ListOptions{Known: opts.Known, Bytes: opts.Bytes},
		Use:      s.use(),
		Progress: opts.IdleTimeout.Progress,
	}
	begun := time.Now()
	type listResult struct {
		list  runtime.Object
		err   error
		panic any
	}
	results := make(chan listResult, 1)
	go func() {
		a := listResult{err: fmt.Errorf("the list function: %w", errGoexit)}
		defer func() {
			if a.panic = recover(); a.panic != nil {
				logStack(ctx, "A list function panicked", a.panic)
			}
			results <- a
		}()
		listCtx := ctx
		if streams(s.lw, s.expectedType) {
			listCtx = sink.With(ctx, to)
		}
		a.list, a.err = s.lw.ListWithContext(listCtx, options)
	}()
	var a listResult
	select {
	case a = <-results:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if a.panic != nil {
		panic(a.panic)
	}
	if a.err != nil {
		return nil, a.err
	}
	stream, err := s.read(a.list, to)
	if err == nil {
		s.metrics.listed(time.Since(begun), len(stream.items))
	}
	return stream, err
}

func (s *source) read(list runtime.Object, to *sink.Sink) (*listStream, error) {
	if list == nil {
		return nil, fmt.Errorf("the list of %s is nil", s.description)
	}
	listMeta, err := meta.ListAccessor(list)
	if err != nil {
		return nil, fmt.Errorf("unable to understand list result %#v: %w", list, err)
	}
	if isTable(list) {
		return nil, errTable
	}
	stream := &listStream{meta: listwatch.ListMeta{ResourceVersion: listMeta.GetResourceVersion(), Continue: listMeta.GetContinue()}}
	if n := listMeta.GetRemainingItemCount(); n != nil {
		stream.meta.RemainingItemCount = *n
	}
	if items, undecodable, ok := to.Take(list); ok {
		stream.items, stream.undecodable = items, undecodable
		return stream, nil
	}
	// Items are copied out of the list, so that one item does not keep all other items in memory
	// (RC-11).
	stream.items = make([]listwatch.Item[any], 0, meta.LenList(list))
	err = meta.EachListItemWithAlloc(list, func(obj runtime.Object) error {
		item, err := itemOf(obj)
		if err != nil {
			return err
		}
		stream.items = append(stream.items, item)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("unable to understand list result %T: %w", list, err)
	}
	return stream, nil
}

// itemOf reads the identity and version of an object.
func itemOf(obj runtime.Object) (listwatch.Item[any], error) {
	o, err := meta.Accessor(obj)
	if err != nil {
		return listwatch.Item[any]{}, fmt.Errorf("%T has no metadata: %w", obj, err)
	}
	return listwatch.Item[any]{
		Key:             types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()},
		Object:          obj,
		ResourceVersion: o.GetResourceVersion(),
		UIDHash:         listwatch.HashUID(o.GetUID()),
	}, nil
}

func isTable(obj runtime.Object) bool {
	switch obj := obj.(type) {
	case *metav1.Table:
		return true
	case runtime.Unstructured:
		gvk := obj.GetObjectKind().GroupVersionKind()
		return gvk.Group == metav1.GroupName && gvk.Kind == "Table"
	}
	return false
}

type listStream struct {
	items       []listwatch.Item[any]
	undecodable []*listwatch.ObjectError
	next        int
	meta        listwatch.ListMeta
}

func (l *listStream) Next() (listwatch.Item[any], error) {
	if len(l.undecodable) > 0 {
		err := l.undecodable[0]
		l.undecodable = l.undecodable[1:]
		return listwatch.Item[any]{}, err
	}
	if l.next == len(l.items) {
		return listwatch.Item[any]{}, io.EOF
	}
	item := l.items[l.next]
	l.items[l.next] = listwatch.Item[any]{}
	l.next++
	return item, nil
}

func (l *listStream) Meta() listwatch.ListMeta { return l.meta }
func (l *listStream) Close() error             { return nil }

// Watch always requests bookmarks.
func (s *source) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[any], error) {
	options := metav1.ListOptions{ResourceVersion: opts.ResourceVersion, AllowWatchBookmarks: true}
	if opts.Timeout > 0 {
		seconds := int64(opts.Timeout / time.Second)
		options.TimeoutSeconds = &seconds
	}
	s.synthetic.Store(!opts.SendInitialEvents && (opts.ResourceVersion == "" || opts.ResourceVersion == "0"))
	if opts.SendInitialEvents {
		s.streamed.Store(true)
		yes := true
		options.SendInitialEvents = &yes
		options.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	}
	w, err := s.lw.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	stream := &watchStream{source: s, ctx: ctx, watch: w, started: time.Now(), initial: opts.SendInitialEvents}
	s.openWatch = stream
	if p, ok := w.(sink.Puller); ok {
		stream.pulled = p.Pull(opts, s.use())
		stream.silence = time.AfterFunc(listSilenceTimeout, func() { stream.stopIfSilent() })
	}
	if stream.pulled == nil {
		stream.events = w.ResultChan()
	} else {
		// The watch functions of many programs take no context, or use another context. Such a
		// watch does not end with ctx, so stop it.
		stream.release = context.AfterFunc(ctx, func() { w.Stop() })
	}
	return stream, nil
}

// watchSilence bounds how long a watch may send nothing. Servers send a bookmark about once a
// minute. If three bookmarks are missing, the connection is probably dead.
const watchSilence = 3 * time.Minute

var errSilentWatch = errors.New("the watch brought nothing for too long")

type watchStream struct {
	source *source
	ctx    context.Context
	watch  watch.Interface
	pulled listwatch.WatchStream[any] // nil if events come from the channel
	// cancels the AfterFunc that stops the watch at the end of ctx; nil if pulled is set
	release func() bool
	events  <-chan watch.Event
	started time.Time
	n       int
	stopped bool

	// silence is the timer that stops a silent watch of a client of this module. It is nil for any
	// other watch.
	silence *time.Timer
	silent  atomic.Bool // the timer has stopped the watch
	initial bool        // the initial events have not ended
}

// stopIfSilent stops a silent watch.
func (w *watchStream) stopIfSilent() {
	w.silent.Store(true)
	w.watch.Stop()
}

// Next returns the next event. If the watch is silent for watchSilence, Next returns
// errSilentWatch. Only time spent waiting in Next counts, so a slow store does not count as
// silence.
func (w *watchStream) Next() (listwatch.Event[any], error) {
	if w.silence == nil {
		return w.next()
	}
	if w.initial {
		w.silence.Reset(listSilenceTimeout)
	} else {
		w.silence.Reset(watchSilence)
	}
	event, err := w.next()
	w.silence.Stop()
	if event.InitialEventsEnd {
		w.initial = false
	}
	if _, goesOn := errors.AsType[*listwatch.ObjectError](err); err != nil && !goesOn && w.silent.Load() && w.ctx.Err() == nil {
		err = errSilentWatch
	}
	return event, err
}

// next skips and logs events whose object does not have the expected type (RC-23).
func (w *watchStream) next() (listwatch.Event[any], error) {
	for w.pulled != nil {
		event, err := w.pulled.Next()
		if err == sink.ErrPush { //nolint:errorlint // it is never wrapped
			w.pulled, w.events = nil, w.watch.ResultChan()
			break
		}
		if err != nil && w.ctx.Err() != nil { // the stop of the watch may have caused err
			err = context.Cause(w.ctx)
		}
		if err == nil && event.State == listwatch.Decoded && event.Type != listwatch.Bookmark {
			object, _ := sink.Object(event.Object).(runtime.Object)
			if wrong := w.source.check(object); wrong != nil {
				w.logSkipped(wrong)
				continue
			}
		}
		w.n++
		return event, err
	}
	for {
		var e watch.Event
		var ok bool
		select {
		case e, ok = <-w.events:
		case <-w.ctx.Done():
			return listwatch.Event[any]{}, context.Cause(w.ctx)
		}
		if !ok {
			return listwatch.Event[any]{}, io.EOF
		}
		if e.Type == watch.Error {
			return listwatch.Event[any]{}, apierrors.FromObject(e.Object)
		}
		event, err := w.source.event(e)
		if err != nil {
			w.logSkipped(err)
			continue
		}
		w.n++
		return event, nil
	}
}

func (w *watchStream) logSkipped(err error) {
	utilruntime.HandleErrorWithContext(w.ctx, err, "Event of a watch left out", "reflector", w.source.description)
}

// close closes the open watch, if there is one.
func (s *source) close() {
	if s.openWatch != nil {
		_ = s.openWatch.Close()
	}
}

func (w *watchStream) Close() error {
	if !w.stopped {
		w.stopped, w.source.openWatch = true, nil
		if w.silence != nil {
			w.silence.Stop()
		}
		if w.release != nil {
			w.release()
		}
		w.watch.Stop()
		if w.pulled != nil {
			_ = w.pulled.Close()
		}
		w.source.metrics.watched(time.Since(w.started), w.n)
	}
	return nil
}

func (s *source) event(e watch.Event) (listwatch.Event[any], error) {
	var event listwatch.Event[any]
	switch e.Type {
	case watch.Added:
		event.Type = listwatch.Added
	case watch.Modified:
		event.Type = listwatch.Modified
	case watch.Deleted:
		event.Type = listwatch.Deleted
	case watch.Bookmark:
		event.Type = listwatch.Bookmark
	default:
		return event, fmt.Errorf("unknown type of event %q", e.Type)
	}
	if err := s.check(e.Object); err != nil {
		return event, err
	}
	item, err := itemOf(e.Object)
	if err != nil {
		return event, err
	}
	if event.Type == listwatch.Bookmark {
		event.ResourceVersion = item.ResourceVersion
		o, _ := meta.Accessor(e.Object)
		event.InitialEventsEnd = o.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
		return event, nil
	}
	event.Item = item
	return event, nil
}

// check returns an error if an event's object has the wrong type.
func (s *source) check(obj runtime.Object) error {
	if obj == nil {
		return errors.New("the event has no object")
	}
	if isTable(obj) {
		return errTable
	}
	if s.expectedType != nil && reflect.TypeOf(obj) != s.expectedType {
		return fmt.Errorf("expected type %v, got %T", s.expectedType, obj)
	}
	if s.expectedGVK != nil {
		if gvk := obj.GetObjectKind().GroupVersionKind(); gvk != *s.expectedGVK {
			return fmt.Errorf("expected %v, got %v", *s.expectedGVK, gvk)
		}
	}
	return nil
}
