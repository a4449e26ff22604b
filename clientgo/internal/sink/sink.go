// Package sink lets a reflector take the objects of a list while package rest decodes them, so that
// the list is never held as one body or one slice.
//
// A reflector puts a Sink into the context of a list ([With]). The Into of a request finds it
// ([From]), and then does one of two things. It ignores it, and fills the caller's list as ever. Or it
// hands over:
//
//	s := sink.From(ctx)
//	if s != nil && s.Begin(list) {
//		for each object, in the order of the list { s.Add(item) }
//		s.End()
//	}
//
// and leaves list.Items empty, with list's metadata set. The reflector recognises the list that its
// ListFunc returns ([Sink.Taken]), and takes what was handed over.
//
// A function that changes the list before it returns it would see a list without items. So a
// reflector only puts a Sink into the context of functions of which it knows that they don't; see
// streams in tools/cache.
package sink

import (
	"context"
	"sync"

	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/runtime"
)

// A Sink takes the objects of one list. The zero value is ready to use. Its methods are for one
// goroutine at a time, but for Options and Use, which are only read.
type Sink struct {
	// Options has Known and Bytes for the decoder, as package rest of kinform takes them.
	// The other fields are empty: they are in the request.
	Options listwatch.ListOptions

	// Use is what becomes of the objects.
	Use Use

	// Progress, if it isn't nil, is called for each object.
	Progress func()

	mu     sync.Mutex // guards following
	list   runtime.Object
	items  []listwatch.Item[any]
	unread []*listwatch.ObjectError
	done   bool
	off    bool
}

type key struct{}

// With returns a context that has the sink.
func With(ctx context.Context, s *Sink) context.Context { return context.WithValue(ctx, key{}, s) }

// From returns the sink of a context, or nil.
func From(ctx context.Context) *Sink {
	s, _ := ctx.Value(key{}).(*Sink)
	return s
}

// Begin says that the objects of list follow. What was added for an earlier list that has not come
// to its end is dropped, as that request has failed. Begin returns false if the list must be filled
// as ever: the sink has got a whole list, or has been told to take none.
func (s *Sink) Begin(list runtime.Object) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.off || s.done {
		return false
	}
	s.list, s.items, s.unread = list, nil, nil
	return true
}

// Add hands over one object, which belongs to the sink from then on.
func (s *Sink) Add(item listwatch.Item[any]) {
	s.mu.Lock()
	s.items = append(s.items, item)
	s.mu.Unlock()
	if s.Progress != nil {
		s.Progress()
	}
}

// Skip hands over what is known of an object that could not be read.
func (s *Sink) Skip(unread *listwatch.ObjectError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unread = append(s.unread, unread)
}

// End says that all objects of the list have been added. The list has its metadata, and no items.
func (s *Sink) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
}

// Taken returns the objects that were handed over for this list, which is the one that a ListFunc
// has returned, and what could not be read. ok is false if there was no hand-over, or one for another list. The sink takes no
// further list.
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
