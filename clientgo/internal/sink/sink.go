// Package sink passes the objects of a list to a reflector while package rest decodes them. The
// list is never in memory as one body or one slice.
//
// A reflector puts a Sink into the context of a list request ([With]). The request's Into finds it
// ([From]), and does one of two things. Either it ignores the sink and fills the caller's list as
// usual, or it passes the objects to the sink:
//
//	s := sink.From(ctx)
//	if s != nil && s.Begin(list) {
//		for each object, in the order of the list { s.Add(item) }
//		s.End()
//	}
//
// In the second case it leaves list.Items empty and sets the list's metadata. The reflector
// recognizes the list that its ListFunc returns, and takes the objects from the sink
// ([Sink.Take]).
//
// A function that changes the list before it returns it would see a list without items. A reflector
// therefore uses a Sink only for functions that are known to return the list unchanged; see streams
// in tools/cache.
package sink

import (
	"context"
	"sync"

	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/runtime"
)

// Sink collects the objects of one list. The zero value is ready to use. The methods only read the
// fields Options and Use. The methods must not be called concurrently.
type Sink struct {
	// Options has Known and Bytes for the decoder, as in package rest of kinform. The other fields
	// are empty, because the request has these options.
	Options listwatch.ListOptions

	// Use is the purpose of the objects.
	Use Use

	// Progress is called for each object. May be nil.
	Progress func()

	mu          sync.Mutex // guards following
	list        runtime.Object
	items       []listwatch.Item[any]
	undecodable []*listwatch.ObjectError
	done        bool
	disabled    bool
}

type key struct{}

// With returns a context that carries the sink.
func With(ctx context.Context, s *Sink) context.Context { return context.WithValue(ctx, key{}, s) }

// From returns the sink of a context, or nil.
func From(ctx context.Context) *Sink {
	s, _ := ctx.Value(key{}).(*Sink)
	return s
}

// Begin announces the objects of list. If there was no End for an earlier list, its request has
// failed, and Begin drops its objects. After End or Take, Begin returns false: then the caller must
// fill the list as usual.
func (s *Sink) Begin(list runtime.Object) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.disabled || s.done {
		return false
	}
	s.list, s.items, s.undecodable = list, nil, nil
	return true
}

// Add passes one object to the sink, which then owns it.
func (s *Sink) Add(item listwatch.Item[any]) {
	s.mu.Lock()
	s.items = append(s.items, item)
	s.mu.Unlock()
	if s.Progress != nil {
		s.Progress()
	}
}

// AddUndecodable passes the error of an undecodable object to the sink.
func (s *Sink) AddUndecodable(undecodable *listwatch.ObjectError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undecodable = append(s.undecodable, undecodable)
}

// End marks the list as complete. The list has its metadata, and no items.
func (s *Sink) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
}

// Take returns the objects and decoding errors that the sink has received for list. The list is
// the result of a ListFunc. ok is false if the sink has received nothing for this list. The sink
// accepts no further list.
func (s *Sink) Take(list runtime.Object) (items []listwatch.Item[any], undecodable []*listwatch.ObjectError, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disabled = true
	if !s.done || list != s.list {
		return nil, nil, false
	}
	items, s.items = s.items, nil
	return items, s.undecodable, true
}
