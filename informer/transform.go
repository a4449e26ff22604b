package informer

import (
	"context"
	"fmt"

	"github.com/kinform/kinform/listwatch"
)

// transformed is a source whose objects pass through a function as they are
// read: once each, whichever way they come, and before anything holds them (D23).
type transformed[T any] struct {
	listwatch.Source[T]
	transform func(T) (T, error)
}

// String is the name of the source, for errors.
func (s transformed[T]) String() string {
	if named, ok := s.Source.(fmt.Stringer); ok {
		return named.String()
	}
	return "source"
}

func (s transformed[T]) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[T], error) {
	stream, err := s.Source.List(ctx, opts)
	if err != nil {
		return nil, err
	}
	return transformedList[T]{stream, s.transform}, nil
}

func (s transformed[T]) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[T], error) {
	stream, err := s.Source.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return transformedWatch[T]{stream, s.transform}, nil
}

type transformedList[T any] struct {
	listwatch.ListStream[T]
	transform func(T) (T, error)
}

func (s transformedList[T]) Next() (listwatch.Item[T], error) {
	item, err := s.ListStream.Next()
	if err != nil {
		return item, err
	}
	err = apply(&item, 0, s.transform)
	return item, err
}

type transformedWatch[T any] struct {
	listwatch.WatchStream[T]
	transform func(T) (T, error)
}

func (s transformedWatch[T]) Next() (listwatch.Event[T], error) {
	event, err := s.WatchStream.Next()
	if err != nil || event.Type == listwatch.Bookmark {
		return event, err
	}
	err = apply(&event.Item, event.Type, s.transform)
	return event, err
}

// apply transforms the object of an item in place. A panic of the function is an
// error of that object, like any other.
func apply[T any](item *listwatch.Item[T], eventType listwatch.EventType, transform func(T) (T, error)) (err error) {
	if item.Unchanged {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = &listwatch.ObjectError{Key: item.Key, ResourceVersion: item.ResourceVersion, Type: eventType, Err: fmt.Errorf("transform panicked: %v", p)}
		}
	}()
	object, err := transform(item.Object)
	if err != nil {
		return &listwatch.ObjectError{Key: item.Key, ResourceVersion: item.ResourceVersion, Type: eventType, Err: fmt.Errorf("transform: %w", err)}
	}
	item.Object = object
	return nil
}
