package indexer

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
)

// source is what is read from: what a snapshot holds, or whatever is current.
type source struct {
	engine *engine
	hold   *hold // nil for whatever is current
}

// hold is the pin of a snapshot.
type hold struct {
	view     *view
	released atomic.Bool
	cleanup  runtime.Cleanup
}

// enter returns the view to read, pinned. leave must follow: until then, and no
// longer, what the view sees is kept.
func (s *source) enter() *view {
	if s.hold == nil {
		return s.engine.pin()
	}
	if s.hold.released.Load() {
		panic("indexer: a Snapshot was used after its Release")
	}
	return s.hold.view
}

func (s *source) leave(v *view) {
	if s.hold == nil {
		s.engine.unpin(v)
	}
	runtime.KeepAlive(s.hold)
}

// get returns the object of a key, or nil. Of what is current it pins nothing, but
// where a transaction that has not been published yet has written the key.
func (s *source) get(key types.NamespacedName) *version {
	if s.hold == nil {
		r := s.engine.records.find(key)
		if r == nil {
			return nil
		}
		if v := r.head.Load(); s.engine.settled(v) {
			return v.orNil()
		}
	}
	return s.getPinned(key)
}

// getPinned is get by a view. It is apart, as a function that defers takes longer
// to begin with.
//
//go:noinline
func (s *source) getPinned(key types.NamespacedName) *version {
	now := s.enter()
	defer s.leave(now)
	r := s.engine.records.find(key)
	if r == nil {
		return nil
	}
	return r.at(now.revision).orNil()
}

// state returns the state of the store beside the objects.
func (s *source) state() state {
	v := s.enter()
	defer s.leave(v)
	return v.state
}

// values iterates over the values of an index that are in use, and how many
// objects have them.
func (s *source) values(name string, yield func(string, int) bool) {
	view := s.enter()
	defer s.leave(view)
	x := s.engine.index(view, name)
	if x == nil {
		return
	}
	x.buckets.Range(func(value, b any) bool {
		count := 0
		slots, bucket := b.(*bucket).walk()
		for i := range slots {
			if r := slots[i].Load(); r != nil && r.at(view.revision).in(bucket) {
				count++
			}
		}
		return count == 0 || yield(value.(string), count)
	})
}

// check returns an error if there is no index of this name.
func (s *source) check(name string) error {
	indexes := s.state().indexes
	for _, x := range indexes {
		if x.name == name {
			return nil
		}
	}
	return noIndex(name, indexes)
}

// noIndex is the error for an index that is not among these.
func noIndex(name string, indexes []*index) error {
	return fmt.Errorf("%w %q, the store has %q", ErrNoIndex, name, namesOf(indexes))
}

func namesOf(indexes []*index) []string {
	var names []string
	for _, x := range indexes {
		names = append(names, x.name)
	}
	return names
}

// index returns the index that has this name in a view, or nil.
func (e *engine) index(v *view, name string) *index {
	if name == "" {
		return &e.namespaces
	}
	for _, x := range v.indexes {
		if x.name == name {
			return x
		}
	}
	return nil
}
