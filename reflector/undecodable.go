package reflector

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// ErrUndecodable is wrapped by every [UndecodableError].
var ErrUndecodable = errors.New("objects cannot be read")

// Undecodable is the set of objects that the sink lacks, or has in an older state than the server.
// The source could not decode their bytes, they were too large or of another kind, or a transform
// returned an error. The zero value describes a complete sink.
type Undecodable struct {
	// Count is the number of undecodable objects.
	Count int

	// Nameless is how many of the objects have an undecodable name. It is a lower bound, because
	// two changes may be about one object, or about two. While Nameless is not 0, no object counts
	// as deleted because a snapshot lacks it: it may be a nameless one.
	Nameless int

	// Objects are the undecodable objects that have a name, at most a hundred of them, with version
	// and reason. The caller must not change them.
	Objects []*listwatch.ObjectError
}

// Err returns nil if no object is undecodable, and an [*UndecodableError] otherwise.
func (u Undecodable) Err() error {
	if u.Count == 0 {
		return nil
	}
	return &UndecodableError{u}
}

// UndecodableError is an error about undecodable objects. It unwraps to [ErrUndecodable], and to
// the errors in Objects.
type UndecodableError struct{ Undecodable }

// shownInError is how many objects the text of an error names.
const shownInError = 3

// Error returns a text with the number of undecodable objects, and the first three with their
// reasons.
func (e *UndecodableError) Error() string {
	if e == nil {
		return "<nil>"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %d are missing, or older than on the server", ErrUndecodable, e.Count)
	for i, object := range e.Objects {
		if i == shownInError {
			fmt.Fprintf(&b, "; and %d more", e.Count-e.Nameless-shownInError)
			break
		}
		fmt.Fprintf(&b, "; %v", object)
	}
	if e.Nameless > 0 {
		fmt.Fprintf(&b, "; %d of them have no readable name", e.Nameless)
	}
	return b.String()
}

// Unwrap returns [ErrUndecodable] and the errors of the objects.
func (e *UndecodableError) Unwrap() []error {
	if e == nil {
		return nil
	}
	reasons := []error{ErrUndecodable}
	for _, object := range e.Objects {
		reasons = append(reasons, object)
	}
	return reasons
}

// maxListed is the maximum length of Undecodable.Objects.
const maxListed = 100

// undecodableSet is the set of undecodable objects.
type undecodableSet struct {
	byKey    map[types.NamespacedName]*listwatch.ObjectError
	listed   []*listwatch.ObjectError // at most maxListed of byKey
	nameless int
}

func (u *undecodableSet) empty() bool { return len(u.byKey) == 0 && u.nameless == 0 }

// add adds an object. It replaces an earlier entry of the same key.
func (u *undecodableSet) add(object *listwatch.ObjectError) {
	switch {
	case object.Key.Name != "":
	case object.Type == listwatch.Modified:
		u.nameless = max(u.nameless, 1) // several changes may be about one object
		return
	default:
		u.nameless++
		return
	}
	before := u.byKey[object.Key]
	if u.byKey == nil {
		u.byKey = make(map[types.NamespacedName]*listwatch.ObjectError)
	}
	u.byKey[object.Key] = object
	if i := slices.Index(u.listed, before); before != nil && i >= 0 {
		u.listed[i] = object
	} else if len(u.listed) < maxListed {
		u.listed = append(u.listed, object)
	}
}

// remove removes the entry of a key, and reports whether the set had one.
func (u *undecodableSet) remove(key types.NamespacedName) bool {
	before, ok := u.byKey[key]
	if !ok {
		return false
	}
	delete(u.byKey, key)
	if i := slices.Index(u.listed, before); i >= 0 {
		u.listed = slices.Delete(u.listed, i, i+1)
		for _, other := range u.byKey {
			if len(u.byKey) >= maxListed && !slices.Contains(u.listed, other) {
				u.listed = append(u.listed, other)
				break
			}
		}
	}
	return true
}

// state returns a copy of the set for other goroutines.
func (u *undecodableSet) state() Undecodable {
	return Undecodable{Count: len(u.byKey) + u.nameless, Nameless: u.nameless, Objects: slices.Clone(u.listed)}
}

// Undecodable returns the reason why the object of a key is undecodable, a
// [*listwatch.ObjectError], or nil if it is decodable or does not exist. Unlike Status, it knows
// all objects that have a name, not only a hundred. It may be called at any time, from any
// goroutine.
func (r *Reflector[T]) Undecodable(key types.NamespacedName) error {
	r.record.mu.Lock()
	defer r.record.mu.Unlock()
	if undecodable := r.undecodable.byKey[key]; undecodable != nil {
		return undecodable
	}
	return nil
}

// updateUndecodable changes the set of undecodable objects. If the set is then not empty, it
// notifies a sink that is an UndecodableNotifier.
func (r *Reflector[T]) updateUndecodable(change func(*undecodableSet)) {
	r.record.update(func(st *Status) { // the record's lock also guards the set
		change(&r.undecodable)
		st.Undecodable = r.undecodable.state()
	})
	if notifier, ok := any(r.sink).(UndecodableNotifier); ok && !r.undecodable.empty() {
		notifier.NotifyUndecodable()
	}
}

// removeUndecodable removes a key from the set, because the sink has received the server's state of
// this object.
func (r *Reflector[T]) removeUndecodable(key types.NamespacedName) {
	if undecodable := r.undecodable.byKey[key]; undecodable != nil {
		r.keepReasons([]*listwatch.ObjectError{undecodable})
		r.updateUndecodable(func(u *undecodableSet) { u.remove(key) })
	}
}

// keepReasons passes errors to a sink that is an UndecodableKeeper, before the reflector forgets
// them.
func (r *Reflector[T]) keepReasons(objects []*listwatch.ObjectError) {
	if keeper, ok := any(r.sink).(UndecodableKeeper); ok && len(objects) > 0 {
		keeper.KeepUndecodable(objects)
	}
}

// addSnapshotUndecodable records the undecodable objects of a snapshot, before the sink gets it. It
// returns an error if the reflector must not hand the snapshot over: the first snapshot must be
// complete, unless Options.SkipUndecodable is set. Before the first snapshot the sink is empty, so
// addSnapshotUndecodable also removes earlier entries. Later, replaceUndecodable removes them when
// the sink has the snapshot.
func (r *Reflector[T]) addSnapshotUndecodable(undecodable undecodableSet) error {
	switch {
	case !r.synced:
		r.replaceUndecodable(undecodable)
	case !undecodable.empty():
		r.updateUndecodable(func(u *undecodableSet) {
			for _, object := range undecodable.byKey {
				u.add(object)
			}
			u.nameless = max(u.nameless, undecodable.nameless)
		})
	}
	if r.synced || r.opts.SkipUndecodable {
		return nil
	}
	return undecodable.state().Err()
}

// replaceUndecodable replaces the set by the undecodable objects of a snapshot that the sink has
// received.
func (r *Reflector[T]) replaceUndecodable(undecodable undecodableSet) {
	if r.undecodable.empty() && undecodable.empty() {
		return
	}
	var dropped []*listwatch.ObjectError
	for key, object := range r.undecodable.byKey {
		if undecodable.byKey[key] == nil {
			dropped = append(dropped, object)
		}
	}
	r.keepReasons(dropped)
	r.updateUndecodable(func(u *undecodableSet) { *u = undecodable })
}
