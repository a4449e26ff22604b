package versions

import (
	"runtime"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
)

// Source selects the view that a reader reads: the view of a snapshot, or always the current view.
type Source struct {
	Engine *Engine
	hold   *Hold // pins the view of a snapshot; nil for the current view
}

// Hold keeps the view of a snapshot pinned.
type Hold struct {
	view     *View
	released atomic.Bool
	cleanup  runtime.Cleanup
}

// unpinning has the arguments of a hold's cleanup.
type unpinning struct {
	engine *Engine
	view   *View
}

// Take pins the current view, and returns a source that reads it. Release unpins the view. The
// garbage collector unpins it as well when the hold is no longer reachable.
func (h *Hold) Take(e *Engine) Source {
	h.view = e.Pin()
	h.cleanup = runtime.AddCleanup(h, func(u unpinning) { u.engine.Unpin(u.view) }, unpinning{e, h.view})
	return Source{Engine: e, hold: h}
}

// Release unpins the view. A second call does nothing.
func (h *Hold) Release(e *Engine) {
	if !h.released.Swap(true) {
		h.cleanup.Stop()
		e.Unpin(h.view)
	}
}

// Enter pins the view to read, and returns it. The caller must call Leave. Until then, the engine
// keeps everything that the view sees.
func (s *Source) Enter() *View {
	if s.hold == nil {
		return s.Engine.Pin()
	}
	if s.hold.released.Load() {
		panic("indexer: a Snapshot was used after its Release")
	}
	return s.hold.view
}

// Leave unpins the view that Enter returned.
func (s *Source) Leave(v *View) {
	if s.hold == nil {
		s.Engine.Unpin(v)
	}
	runtime.KeepAlive(s.hold)
}

// Get returns the version of a key that has an object, or nil. It pins the current view only if the
// newest version of the key may be of an unpublished transaction.
func (s *Source) Get(key types.NamespacedName) *Version {
	if s.hold == nil {
		r := s.Engine.byKey.find(key)
		if r == nil {
			return nil
		}
		if v := r.head.Load(); s.Engine.published(v) {
			return v.OrNil()
		}
	}
	return s.getPinned(key)
}

// getPinned is Get in a pinned view. It is a separate function because of its defer: BenchmarkGet.
//
//go:noinline
func (s *Source) getPinned(key types.NamespacedName) *Version {
	now := s.Enter()
	defer s.Leave(now)
	r := s.Engine.byKey.find(key)
	if r == nil {
		return nil
	}
	return r.At(now.Revision).OrNil()
}

// State returns the state of the view.
func (s *Source) State() State {
	v := s.Enter()
	defer s.Leave(v)
	return v.State
}

// Values iterates over the values of an index that objects have, with the number of objects of
// each.
func (s *Source) Values(name string, yield func(string, int) bool) {
	view := s.Enter()
	defer s.Leave(view)
	x := s.Engine.index(view, name)
	if x == nil {
		return
	}
	x.terms.Range(func(value, t any) bool {
		count := 0
		slots, term := t.(*Term).walk()
		for i := range slots {
			if r := slots[i].Load(); r != nil && r.At(view.Revision).In(term) {
				count++
			}
		}
		return count == 0 || yield(value.(string), count)
	})
}

// index returns the index that has this name in a view, or nil.
func (e *Engine) index(v *View, name string) *Index {
	if name == "" {
		return &e.namespaces
	}
	for _, x := range v.Indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// Walk returns the slots of the records with a value in an index, and the term that the visible
// version of a record must have. The name "" means the index by namespace, in which the value ""
// stands for all objects.
//
//	view := s.Enter()
//	defer s.Leave(view)
//	slots, term := s.Walk(view, index, value)
//	revision := view.Revision
//	for i := range slots {
//		if r := slots[i].Load(); r != nil {
//			if v := r.At(revision); v.In(term) { use(v) }
//		}
//	}
//
// The caller writes this loop, so that its data is in local variables and the compiler inlines its
// calls. An iterator over a struct takes 14 % longer (docs/adr/0004, BenchmarkAll). The view must
// be pinned before the call. Otherwise the term that Walk finds could be replaced by another one.
func (s *Source) Walk(pinned *View, name, value string) (slots []atomic.Pointer[Record], in *Term) {
	if name == "" && value == "" {
		return s.Engine.all.records.slots(), nil
	}
	if x := s.Engine.index(pinned, name); x != nil {
		if t := x.find(value); t != nil {
			return t.walk()
		}
	}
	return nil, nil
}

// walk does the work of Walk for one term. The set of an index value may include records that have
// the value only in an older or a newer version. So the caller must check that the visible version
// has the term. An object never leaves its namespace, so in the set of a namespace no check is
// needed.
func (t *Term) walk() (slots []atomic.Pointer[Record], in *Term) {
	if t.index.Name == "" {
		return t.records.slots(), nil
	}
	return t.records.slots(), t
}
