package sources

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/internal/reshare"
	"github.com/kinform/kinform/listwatch"
)

// Transform returns a source that passes each object through a function, to drop unused fields, or
// to keep a few fields in a type of the program. Each object passes through the function once,
// however it arrives, before anything stores the object (D23):
//
//	summaries := sources.Transform(pods, func(pod *corev1.Pod) (summary, error) { ... })
//	informer.New(summaries, informer.Options[summary]{})
//
// The function owns its argument and may change it in place. One goroutine at a time calls the
// function for each stream. The function may keep an object that it has returned, but must not
// change that object. If the function returns an error, the object counts as undecodable: it is
// reported, and its stored state stays. The informer is then not synced or not healthy, unless
// reflector.Options.SkipUndecodable is set. A panic counts as such an error. The function cannot
// change keys and versions, because the informer does not read them from the object.
//
// An object that shares parts with other objects (listwatch.Item.Shared) is copied before the call.
// If the function returns that copy, the stored object shares its unchanged parts again. This holds
// for the types of k8s.io/api and of k8s.io/apimachinery. Objects of other types share nothing
// (listwatch.ListOptions.Owned).
//
// If the source or the function is nil, informer.New refuses the result, with an error that says
// so. If the server or the decoder can leave the fields out, this costs less than a Transform; see
// package rest.
func Transform[From, To any](source listwatch.Source[From], transform func(From) (To, error)) listwatch.Source[To] {
	switch err := Unusable(source); {
	case err != nil:
		return unusable[To]{err}
	case contain.IsNil(source):
		return newUnusable[To]("sources: Transform needs a source")
	case transform == nil:
		return newUnusable[To]("sources: Transform needs a function")
	}
	return transformed[From, To]{source, transform, reshare.Copies(reflect.TypeFor[From]())}
}

type transformed[From, To any] struct {
	source    listwatch.Source[From]
	transform func(From) (To, error)
	copies    bool // objects may share parts, so they are copied for the function
}

// String is the name of the source, for errors.
func (s transformed[From, To]) String() string {
	if named, ok := s.source.(fmt.Stringer); ok {
		return named.String()
	}
	return "source"
}

// FailingParts implements partial, if the source does.
func (s transformed[From, To]) FailingParts() []PartFailure {
	if source, ok := s.source.(partial); ok {
		return source.FailingParts()
	}
	return nil
}

// Describe implements listwatch.Describer, if the source does.
func (s transformed[From, To]) Describe(ctx context.Context) (map[string]string, error) {
	if source, ok := s.source.(listwatch.Describer); ok {
		return source.Describe(ctx)
	}
	return nil, nil
}

// Prepare implements listwatch.Preparer.
func (s transformed[From, To]) Prepare(ctx context.Context) error {
	return listwatch.Prepare(ctx, s.source)
}

// components returns a transformed source for each source that s.source combines.
func (s transformed[From, To]) components() (all []listwatch.Source[To]) {
	for _, source := range leafSources(s.source) {
		all = append(all, transformedPart[From, To]{transformed[From, To]{source, s.transform, s.copies}})
	}
	return all
}

func (s transformed[From, To]) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[To], error) {
	opts.Owned = opts.Owned || !s.copies
	stream, err := s.source.List(ctx, opts)
	if err != nil {
		return nil, err
	}
	return transformedList[From, To]{stream, s}, nil
}

func (s transformed[From, To]) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[To], error) {
	if !s.copies {
		// The function may change the object, and the store must not share parts of it.
		opts.Held, opts.Owned = nil, true
	}
	stream, err := s.source.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return transformedWatch[From, To]{stream, s}, nil
}

// call calls the function for the object of an item.
func (s transformed[From, To]) call(item listwatch.Item[From]) (To, error) {
	if !s.copies || !item.Shared {
		return s.transform(item.Object)
	}
	result, err := reshare.Transform(any(item.Object).(runtime.Object), func(copied any) (any, error) { return s.transform(copied.(From)) })
	to, _ := result.(To)
	return to, err
}

// transformedPart is a transformed source without components.
type transformedPart[From, To any] struct{ transformed[From, To] }

func (transformedPart[From, To]) components() []listwatch.Source[To] { return nil }

type transformedList[From, To any] struct {
	stream listwatch.ListStream[From]
	source transformed[From, To]
}

func (s transformedList[From, To]) Next() (listwatch.Item[To], error) {
	item, err := s.stream.Next()
	if err != nil {
		return listwatch.Item[To]{}, err
	}
	return s.source.apply(item, 0)
}

func (s transformedList[From, To]) Meta() listwatch.ListMeta { return s.stream.Meta() }
func (s transformedList[From, To]) Close() error             { return s.stream.Close() }

type transformedWatch[From, To any] struct {
	stream listwatch.WatchStream[From]
	source transformed[From, To]
}

func (s transformedWatch[From, To]) Next() (listwatch.Event[To], error) {
	event, err := s.stream.Next()
	if err != nil {
		return listwatch.Event[To]{}, err
	}
	changed := listwatch.Event[To]{Type: event.Type, InitialEventsEnd: event.InitialEventsEnd, Unordered: event.Unordered}
	if event.Type == listwatch.Bookmark {
		changed.ResourceVersion = event.ResourceVersion
		return changed, nil
	}
	changed.Item, err = s.source.apply(event.Item, event.Type)
	return changed, err
}

func (s transformedWatch[From, To]) Close() error { return s.stream.Close() }

// apply transforms the object of an item.
func (s transformed[From, To]) apply(item listwatch.Item[From], eventType listwatch.EventType) (changed listwatch.Item[To], err error) {
	changed = listwatch.Item[To]{Key: item.Key, ResourceVersion: item.ResourceVersion, UIDHash: item.UIDHash, Shared: item.Shared, State: item.State}
	if item.State != listwatch.Decoded {
		return changed, nil
	}
	undecodable := func(err error) error {
		return &listwatch.ObjectError{Key: item.Key, ResourceVersion: item.ResourceVersion, UIDHash: item.UIDHash, Type: eventType, Err: err}
	}
	defer func() {
		if p := recover(); p != nil {
			err = undecodable(fmt.Errorf("transform panicked: %v", p))
		}
	}()
	object, err := s.call(item)
	if err != nil {
		return changed, undecodable(fmt.Errorf("transform: %w", contain.SafeError(err)))
	}
	changed.Object = object
	return changed, nil
}
