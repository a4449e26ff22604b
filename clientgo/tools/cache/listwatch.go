package cache

import (
	"context"

	"k8s.io/client-go/util/watchlist"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Lister lists a resource. A program that can be given a context implements [ListerWithContext] as well.
type Lister interface {
	// List returns a list object: its Items are what exists, its ResourceVersion is where a watch begins.
	List(options metav1.ListOptions) (runtime.Object, error)
}

// ListerWithContext lists a resource, until the context ends.
type ListerWithContext interface {
	// ListWithContext returns a list object: its Items are what exists, its ResourceVersion is where a watch
	// begins.
	ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error)
}

// Watcher opens watches.
type Watcher interface {
	// Watch opens a watch of what changes after options.ResourceVersion.
	Watch(options metav1.ListOptions) (watch.Interface, error)
}

// WatcherWithContext opens watches, which end with the context.
type WatcherWithContext interface {
	// WatchWithContext opens a watch of what changes after options.ResourceVersion.
	WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// ListerWatcher lists and watches one resource.
type ListerWatcher interface {
	Lister
	Watcher
}

// ListerWatcherWithContext lists and watches one resource, until the context ends.
type ListerWatcherWithContext interface {
	ListerWithContext
	WatcherWithContext
}

// ToListerWithContext returns l itself if it takes a context, else l with contexts ignored.
func ToListerWithContext(l Lister) ListerWithContext {
	if with, ok := l.(ListerWithContext); ok {
		return with
	}
	return contextFreeLister{l}
}

// ToWatcherWithContext returns w itself if it takes a context, else w with contexts ignored.
func ToWatcherWithContext(w Watcher) WatcherWithContext {
	if with, ok := w.(WatcherWithContext); ok {
		return with
	}
	return contextFreeWatcher{w}
}

// ToListerWatcherWithContext returns lw itself if it takes a context, else lw with contexts ignored. What lw says
// of streaming lists (IsWatchListSemanticsUnSupported) stays.
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

// IsWatchListSemanticsUnSupported is read by package watchlist.
func (c contextFree) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(c.of)
}

// ToListWatcherWithWatchListSemantics returns lw with what the client says of streaming lists: a client that is a
// fake may say that it has none, and then a reflector lists.
func ToListWatcherWithWatchListSemantics(lw *ListWatch, client any) ListerWatcher {
	return clientListWatch{lw, client}
}

type clientListWatch struct {
	*ListWatch
	client any
}

// IsWatchListSemanticsUnSupported is read by package watchlist.
func (c clientListWatch) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(c.client)
}

// ListFunc lists a resource.
type ListFunc func(options metav1.ListOptions) (runtime.Object, error)

// ListWithContextFunc lists a resource, until the context ends.
type ListWithContextFunc func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error)

// WatchFunc opens a watch.
type WatchFunc func(options metav1.ListOptions) (watch.Interface, error)

// WatchFuncWithContext opens a watch, which ends with the context.
type WatchFuncWithContext func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)

// ListWatch makes functions a [ListerWatcher] and a [ListerWatcherWithContext]. One function of each pair is
// required. A caller that has a context gets the function that takes one, if it is set; other callers get the
// other one, if it is set.
type ListWatch struct {
	// ListFunc lists without a context.
	ListFunc ListFunc
	// WatchFunc watches without a context.
	WatchFunc WatchFunc

	// ListWithContextFunc lists with a context.
	ListWithContextFunc ListWithContextFunc
	// WatchFuncWithContext watches with a context.
	WatchFuncWithContext WatchFuncWithContext

	// DisableChunking says that lists are not to be in pages. It is there for programs that set it: it has never
	// had an effect on a reflector.
	DisableChunking bool
}

var (
	_ ListerWatcher            = &ListWatch{}
	_ ListerWatcherWithContext = &ListWatch{}
)

// List calls ListFunc, or ListWithContextFunc with a context that doesn't end.
func (lw *ListWatch) List(options metav1.ListOptions) (runtime.Object, error) {
	return either(context.Background(), options, lw.ListFunc, lw.ListWithContextFunc, false)
}

// ListWithContext calls ListWithContextFunc, or ListFunc.
func (lw *ListWatch) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return either(ctx, options, lw.ListFunc, lw.ListWithContextFunc, true)
}

// Watch calls WatchFunc, or WatchFuncWithContext with a context that doesn't end.
func (lw *ListWatch) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return either(context.Background(), options, lw.WatchFunc, lw.WatchFuncWithContext, false)
}

// WatchWithContext calls WatchFuncWithContext, or WatchFunc.
func (lw *ListWatch) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return either(ctx, options, lw.WatchFunc, lw.WatchFuncWithContext, true)
}

// either calls one of two functions, of which one may be nil. Where there are both, preferred says which: true is the one with a context.
func either[T any](
	ctx context.Context, options metav1.ListOptions,
	without func(metav1.ListOptions) (T, error), with func(context.Context, metav1.ListOptions) (T, error), preferred bool,
) (T, error) {
	if with == nil || without != nil && !preferred {
		return without(options)
	}
	return with(ctx, options)
}
