package cache

import (
	"context"

	"k8s.io/client-go/util/watchlist"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Lister lists a resource. An implementation that can take a context also implements
// [ListerWithContext].
type Lister interface {
	// List returns a list object. Its Items are the existing objects. A watch that continues the
	// list begins at its ResourceVersion.
	List(options metav1.ListOptions) (runtime.Object, error)
}

// ListerWithContext lists a resource. The end of the context ends the list request.
type ListerWithContext interface {
	// ListWithContext returns a list object. Its Items are the existing objects. A watch that
	// continues the list begins at its ResourceVersion.
	ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error)
}

// Watcher opens watches.
type Watcher interface {
	// Watch opens a watch of the changes after options.ResourceVersion.
	Watch(options metav1.ListOptions) (watch.Interface, error)
}

// WatcherWithContext opens watches, which end with the context.
type WatcherWithContext interface {
	// WatchWithContext opens a watch of the changes after options.ResourceVersion.
	WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// ListerWatcher lists and watches one resource.
type ListerWatcher interface {
	Lister
	Watcher
}

// ListerWatcherWithContext lists and watches one resource. The end of the context ends both.
type ListerWatcherWithContext interface {
	ListerWithContext
	WatcherWithContext
}

// ToListerWithContext returns l itself if l takes a context. Otherwise it returns an adapter of l
// that ignores contexts.
func ToListerWithContext(l Lister) ListerWithContext {
	if with, ok := l.(ListerWithContext); ok {
		return with
	}
	return contextFreeLister{l}
}

// ToWatcherWithContext returns w itself if w takes a context. Otherwise it returns an adapter of w
// that ignores contexts.
func ToWatcherWithContext(w Watcher) WatcherWithContext {
	if with, ok := w.(WatcherWithContext); ok {
		return with
	}
	return contextFreeWatcher{w}
}

// ToListerWatcherWithContext returns lw itself if lw takes a context. Otherwise it returns an
// adapter that ignores contexts, with the IsWatchListSemanticsUnSupported of lw.
func ToListerWatcherWithContext(lw ListerWatcher) ListerWatcherWithContext {
	if with, ok := lw.(ListerWatcherWithContext); ok {
		return with
	}
	return contextFree{contextFreeLister{lw}, contextFreeWatcher{lw}, lw}
}

type contextFreeLister struct{ Lister }

func (l contextFreeLister) ListWithContext(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return l.List(options)
}

type contextFreeWatcher struct{ Watcher }

func (w contextFreeWatcher) WatchWithContext(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return w.Watch(options)
}

type contextFree struct {
	contextFreeLister
	contextFreeWatcher
	of any
}

// IsWatchListSemanticsUnSupported is called by package watchlist.
func (c contextFree) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(c.of)
}

// ToListWatcherWithWatchListSemantics returns lw with the client's IsWatchListSemanticsUnSupported.
// A fake client may report that it has no streaming lists. Then a reflector uses ordinary lists.
func ToListWatcherWithWatchListSemantics(lw *ListWatch, client any) ListerWatcher {
	return clientListWatch{lw, client}
}

type clientListWatch struct {
	*ListWatch
	client any
}

// IsWatchListSemanticsUnSupported is called by package watchlist.
func (c clientListWatch) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(c.client)
}

// ListFunc lists a resource.
type ListFunc func(options metav1.ListOptions) (runtime.Object, error)

// ListWithContextFunc lists a resource. The end of the context ends the list.
type ListWithContextFunc func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error)

// WatchFunc opens a watch.
type WatchFunc func(options metav1.ListOptions) (watch.Interface, error)

// WatchFuncWithContext opens a watch, which ends with the context.
type WatchFuncWithContext func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)

// ListWatch makes a [ListerWatcher] and a [ListerWatcherWithContext] of functions. It has two
// functions that list, and two that watch. One of each pair is required. Methods with a context
// prefer the function with a context, and methods without a context prefer the function without a
// context. If the preferred function is nil, they call the other function of the pair.
type ListWatch struct {
	// ListFunc lists without a context.
	ListFunc ListFunc
	// WatchFunc watches without a context.
	WatchFunc WatchFunc

	// ListWithContextFunc lists with a context.
	ListWithContextFunc ListWithContextFunc
	// WatchFuncWithContext watches with a context.
	WatchFuncWithContext WatchFuncWithContext

	// DisableChunking has no effect. In client-go it was meant to request lists without pages, but
	// never had an effect on a reflector.
	DisableChunking bool
}

var (
	_ ListerWatcher            = &ListWatch{}
	_ ListerWatcherWithContext = &ListWatch{}
)

// List calls ListFunc, or ListWithContextFunc with a context that never ends.
func (lw *ListWatch) List(options metav1.ListOptions) (runtime.Object, error) {
	return either(context.Background(), options, lw.ListFunc, lw.ListWithContextFunc, false)
}

// ListWithContext calls ListWithContextFunc. If it is nil, ListWithContext calls ListFunc.
func (lw *ListWatch) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return either(ctx, options, lw.ListFunc, lw.ListWithContextFunc, true)
}

// Watch calls WatchFunc, or WatchFuncWithContext with a context that never ends.
func (lw *ListWatch) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return either(context.Background(), options, lw.WatchFunc, lw.WatchFuncWithContext, false)
}

// WatchWithContext calls WatchFuncWithContext. If it is nil, WatchWithContext calls WatchFunc.
func (lw *ListWatch) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return either(ctx, options, lw.WatchFunc, lw.WatchFuncWithContext, true)
}

// either calls one of two functions, of which one may be nil. If neither is nil, it calls the
// function with a context if preferred is true, and otherwise the function without a context.
func either[T any](
	ctx context.Context, options metav1.ListOptions,
	without func(metav1.ListOptions) (T, error), with func(context.Context, metav1.ListOptions) (T, error), preferred bool,
) (T, error) {
	if with == nil || without != nil && !preferred {
		return without(options)
	}
	return with(ctx, options)
}
