// Package sink passes the objects of a list to a reflector while package rest decodes them. The
// list is never in memory as one body or one slice.
//
// A reflector puts a Sink into the context of a list request ([With]). The request's Into finds it
// ([From]), and does one of two things. Either it ignores the sink and fills the caller's list as
// usual, or it hands over the objects:
//
//	s := sink.From(ctx)
//	if s != nil && s.Begin(list) {
//		for each object, in the order of the list { s.Add(item) }
//		s.End()
//	}
//
// In that case it leaves list.Items empty and sets the list's metadata. The reflector recognizes
// the list that its ListFunc returns, and takes the objects from the sink ([Sink.Taken]).
//
// A function that changes the list before it returns it would see a list without items. A reflector
// therefore uses a Sink only for functions that are known not to do so; see streams in tools/cache.
package sink

import (
	"context"
	"sync"

	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/runtime"
)

// Sink collects the objects of one list. The zero value is ready to use. Options and Use are only
// read. The methods must not be called concurrently.
type Sink struct {
	// Options has Known and Bytes for the decoder, as in package rest of kinform. The other fields
	// are empty, because the request has them.
	Options listwatch.ListOptions

	// Use is the purpose of the objects.
	Use Use

	// Progress is called for each object. May be nil.
	Progress func()

	mu     sync.Mutex // guards following
	list   runtime.Object
	items  []listwatch.Item[any]
	unread []*listwatch.ObjectError
	done   bool
	off    bool
}

type key struct{}

// With returns a context that carries the sink.
func With(ctx context.Context, s *Sink) context.Context { return context.WithValue(ctx, key{}, s) }

// From returns the sink of a context, or nil.
func From(ctx context.Context) *Sink {
	s, _ := ctx.Value(key{}).(*Sink)
	return s
}

// Begin announces the objects of list. It drops the objects of an earlier list without End, because
// the request for that list has failed. Begin returns false if the list must be filled as usual.
// This is the case after End or Taken.
func (s *Sink) Begin(list runtime.Object) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.off || s.done {
		return false
	}
	s.list, s.items, s.unread = list, nil, nil
	return true
}

// Add hands over one object. The sink then owns it.
func (s *Sink) Add(item listwatch.Item[any]) {
	s.mu.Lock()
	s.items = append(s.items, item)
	s.mu.Unlock()
	if s.Progress != nil {
		s.Progress()
	}
}

// Skip hands over the error of an undecodable object.
func (s *Sink) Skip(unread *listwatch.ObjectError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unread = append(s.unread, unread)
}

// End marks the list as complete. The list has its metadata, and no items.
func (s *Sink) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
}

// Taken returns the objects and decoding errors that were handed over for list, which a ListFunc
// has returned. ok is false if nothing was handed over for this list. The sink accepts no further
// list.
func (s *Sink) Taken(list runtime.Object) (items []listwatch.Item[any], unread []*listwatch.ObjectError, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off = true
	if !s.done || list != s.list {
		return nil, nil, false
	}
	items, s.items = s.items, nil
	return items, s.unread, true
}
