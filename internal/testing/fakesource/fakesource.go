// Package fakesource is for tests that follow single events on their way through a program. It has
// sources that send the test's events, and a function that counts the program's allocations.
package fakesource

import (
	"context"
	"io"
	"runtime"

	"github.com/kinform/kinform/listwatch"
)

// Source has an empty list, and watches a channel. It supports one watch at a time.
type Source[T any] struct {
	Events chan listwatch.Event[T]
}

// New returns a Source. A send to its Events returns when the watch has received the event.
func New[T any]() Source[T] { return Source[T]{make(chan listwatch.Event[T])} }

// List implements listwatch.Source.
func (Source[T]) List(context.Context, listwatch.ListOptions) (listwatch.ListStream[T], error) {
	return emptyList[T]{}, nil
}

// Watch implements listwatch.Source.
func (s Source[T]) Watch(ctx context.Context, _ listwatch.WatchOptions) (listwatch.WatchStream[T], error) {
	return channelWatch[T]{ctx, s.Events}, nil
}

type emptyList[T any] struct{}

func (emptyList[T]) Next() (item listwatch.Item[T], err error) { return item, io.EOF }
func (emptyList[T]) Meta() listwatch.ListMeta                  { return listwatch.ListMeta{ResourceVersion: "1"} }
func (emptyList[T]) Close() error                              { return nil }

type channelWatch[T any] struct {
	ctx    context.Context
	events chan listwatch.Event[T]
}

func (w channelWatch[T]) Next() (event listwatch.Event[T], err error) {
	select {
	case event = <-w.events:
		return event, nil
	case <-w.ctx.Done():
		return event, w.ctx.Err()
	}
}

func (channelWatch[T]) Close() error { return nil }

// Allocations returns the average number of allocations per call of f, on all goroutines. Unlike
// testing.AllocsPerRun, it keeps the fraction.
func Allocations(calls int, f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(calls)
}
