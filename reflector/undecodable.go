package reflector

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// ErrUndecodable is wrapped by each error about undecodable objects; see [UndecodableError].
var ErrUndecodable = errors.New("objects cannot be read")

// Undecodable says which objects the sink lacks, or has in an older state than the server. Their
// bytes were undecodable, they were too large or of another kind, or a transform returned an error.
// The zero value describes a complete sink.
type Undecodable struct {
	// Count is the number of unreadable objects.
	Count int

	// Nameless is how many of the objects have an unreadable name. It is a lower bound, because two
	// changes may be about one object, or about two. While Nameless is not 0, the reflector takes
	// no object that a snapshot lacks for deleted: each may be a nameless one.
	Nameless int

	// Objects are the unreadable objects that have a name, at most a hundred of them, with version
	// and reason. They must not be changed.
	Objects []*listwatch.ObjectError
}

// Err returns nil if no object is unreadable, and an [*UndecodableError] otherwise.
func (u Undecodable) Err() error {
	if u.Count == 0 {
		return nil
	}
	return &UndecodableError{u}
}

// UndecodableError is an error about unreadable objects. It unwraps to [ErrUndecodable], and to the
// errors in Objects.
type UndecodableError struct{ Undecodable }

// shownInError is how many objects the text of an error names.
const shownInError = 3

// Error says how many objects are unreadable, and names the first three, with reasons.
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

// maxListed is the longest length of Unreadable.Objects.
const maxListed = 100

// undecodableSet is the set of unreadable objects.
type undecodableSet struct {
	byKey    map[types.NamespacedName]*listwatch.ObjectError
	listed   []*listwatch.ObjectError // at most maxListed of byKey
	nameless int
}

func (u *undecodableSet) empty() bool { return len(u.byKey) == 0 && u.nameless == 0 }

// add adds an object. An earlier entry of its key is replaced.
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

// remove removes an object that is decodable now, or gone. It reports whether the set had the
// object.
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

// state returns a copy for other goroutines.
func (u *undecodableSet) state() Undecodable {
	return Undecodable{Count: len(u.byKey) + u.nameless, Nameless: u.nameless, Objects: slices.Clone(u.listed)}
}

// Undecodable returns the reason why the object of a key is unreadable, a [*listwatch.ObjectError],
// or nil if the object is readable. Unlike Status, it knows all objects that have a name, not only
// a hundred. It may be called at any time, from any goroutine.
func (r *Reflector[T]) Undecodable(key types.NamespacedName) error {
	r.record.mu.Lock()
	defer r.record.mu.Unlock()
	if undecodable := r.undecodable.byKey[key]; undecodable != nil {
		return undecodable
	}
	return nil
}

// updateUndecodable changes the set of unreadable objects, and notifies the sink if it is a Waker.
func (r *Reflector[T]) updateUndecodable(change func(*undecodableSet)) {
	r.record.update(func(st *Status) { // the lock of the record guards the set as well
		change(&r.undecodable)
		st.Undecodable = r.undecodable.state()
	})
	if notifier, ok := any(r.sink).(UndecodableNotifier); ok && !r.undecodable.empty() {
		notifier.NotifyUndecodable()
	}
}

// removeUndecodable removes a key from the set, because the sink has got the server's state of its
// object.
func (r *Reflector[T]) removeUndecodable(key types.NamespacedName) {
	if undecodable := r.undecodable.byKey[key]; undecodable != nil {
		r.keepReasons([]*listwatch.ObjectError{undecodable})
		r.updateUndecodable(func(u *undecodableSet) { u.remove(key) })
	}
}

// keepReasons passes reasons to a sink that is a Keeper, before the reflector forgets them.
func (r *Reflector[T]) keepReasons(objects []*listwatch.ObjectError) {
	if keeper, ok := any(r.sink).(UndecodableKeeper); ok && len(objects) > 0 {
		keeper.KeepUndecodable(objects)
	}
}

// addSnapshotUndecodable records the unreadable objects of a snapshot, before the sink gets it. It
// returns an error if the snapshot must not be handed over: the first snapshot must be complete,
// unless Options.SkipUndecodable is set. Before the first snapshot the sink is empty, so incomplete
// also removes the earlier entries. Later, replaced removes them when the sink has the snapshot.
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

// replaceUndecodable replaces the set by the unreadable objects of a snapshot that the sink has
// got.
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
