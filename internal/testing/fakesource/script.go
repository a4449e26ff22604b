package fakesource

import (
	"context"
	"io"
	"sync"

	"github.com/kinform/kinform/listwatch"
)

// Script has a list that the test sets, and watches that send what the test sends to Events: events
// of listwatch, or errors. Versions of requests are ignored.
type Script[T any] struct {
	Events chan any

	mu      sync.Mutex // guards following
	items   []listwatch.Item[T]
	version string
}

// NewScript returns a Script. A send to its Events returns when a watch has received the event.
func NewScript[T any](version string, items ...listwatch.Item[T]) *Script[T] {
	return &Script[T]{Events: make(chan any), items: items, version: version}
}

// Set replaces the list. It sends no events.
func (s *Script[T]) Set(version string, items ...listwatch.Item[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version, s.items = version, items
}

// Listed returns the version and the items of the list.
func (s *Script[T]) Listed() (version string, items []listwatch.Item[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version, s.items
}

// List implements listwatch.Source.
func (s *Script[T]) List(context.Context, listwatch.ListOptions) (listwatch.ListStream[T], error) {
	version, items := s.Listed()
	return &scriptList[T]{items, version}, nil
}

// Watch implements listwatch.Source.
func (s *Script[T]) Watch(ctx context.Context, _ listwatch.WatchOptions) (listwatch.WatchStream[T], error) {
	return scriptWatch[T]{ctx, s.Events}, nil
}

type scriptList[T any] struct {
	items   []listwatch.Item[T]
	version string
}

func (l *scriptList[T]) Next() (item listwatch.Item[T], err error) {
	if len(l.items) == 0 {
		return item, io.EOF
	}
	item, l.items = l.items[0], l.items[1:]
	return item, nil
}

func (l *scriptList[T]) Meta() listwatch.ListMeta {
	return listwatch.ListMeta{ResourceVersion: l.version}
}

func (*scriptList[T]) Close() error { return nil }

type scriptWatch[T any] struct {
	ctx    context.Context
	events chan any
}

func (w scriptWatch[T]) Next() (event listwatch.Event[T], err error) {
	select {
	case <-w.ctx.Done():
		return event, w.ctx.Err()
	case sent := <-w.events:
		if err, ok := sent.(error); ok {
			return event, err
		}
		return sent.(listwatch.Event[T]), nil
	}
}

func (scriptWatch[T]) Close() error { return nil }
