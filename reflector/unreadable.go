package reflector

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// ErrUnreadable is wrapped by each error about undecodable objects; see [UnreadableError].
var ErrUnreadable = errors.New("objects cannot be read")

// Unreadable says which objects the sink lacks, or has in an older state than the server. Their
// bytes were undecodable, they were too large or of another kind, or a transform returned an error.
// The zero value describes a complete sink.
type Unreadable struct {
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

// Err returns nil if no object is unreadable, and an [*UnreadableError] otherwise.
func (u Unreadable) Err() error {
	if u.Count == 0 {
		return nil
	}
	return &UnreadableError{u}
}

// UnreadableError is an error about unreadable objects. It unwraps to [ErrUnreadable], and to the
// errors in Objects.
type UnreadableError struct{ Unreadable }

// inText is how many objects the text of an error names.
const inText = 3

// Error says how many objects are unreadable, and names the first three, with reasons.
func (e *UnreadableError) Error() string {
	if e == nil {
		return "<nil>"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %d are missing, or older than on the server", ErrUnreadable, e.Count)
	for i, object := range e.Objects {
		if i == inText {
			fmt.Fprintf(&b, "; and %d more", e.Count-e.Nameless-inText)
			break
		}
		fmt.Fprintf(&b, "; %v", object)
	}
	if e.Nameless > 0 {
		fmt.Fprintf(&b, "; %d of them have no readable name", e.Nameless)
	}
	return b.String()
}

// Unwrap returns [ErrUnreadable] and the errors of the objects.
func (e *UnreadableError) Unwrap() []error {
	if e == nil {
		return nil
	}
	reasons := []error{ErrUnreadable}
	for _, object := range e.Objects {
		reasons = append(reasons, object)
	}
	return reasons
}

// maxNamed is the longest length of Unreadable.Objects.
const maxNamed = 100

// unreadables is the set of unreadable objects.
type unreadables struct {
	byKey    map[types.NamespacedName]*listwatch.ObjectError
	named    []*listwatch.ObjectError // at most maxNamed of byKey
	nameless int
}

func (u *unreadables) empty() bool { return len(u.byKey) == 0 && u.nameless == 0 }

// add adds an object. An earlier entry of its key is replaced.
func (u *unreadables) add(unread *listwatch.ObjectError) {
	switch {
	case unread.Key.Name != "":
	case unread.Type == listwatch.Modified:
		u.nameless = max(u.nameless, 1) // several changes may be about one object
		return
	default:
		u.nameless++
		return
	}
	before := u.byKey[unread.Key]
	if u.byKey == nil {
		u.byKey = make(map[types.NamespacedName]*listwatch.ObjectError)
	}
	u.byKey[unread.Key] = unread
	if i := slices.Index(u.named, before); before != nil && i >= 0 {
		u.named[i] = unread
	} else if len(u.named) < maxNamed {
		u.named = append(u.named, unread)
	}
}

// remove removes an object that is decodable now, or gone. It reports whether the set had the
// object.
func (u *unreadables) remove(key types.NamespacedName) bool {
	before, ok := u.byKey[key]
	if !ok {
		return false
	}
	delete(u.byKey, key)
	if i := slices.Index(u.named, before); i >= 0 {
		u.named = slices.Delete(u.named, i, i+1)
		for _, other := range u.byKey {
			if len(u.byKey) >= maxNamed && !slices.Contains(u.named, other) {
				u.named = append(u.named, other)
				break
			}
		}
	}
	return true
}

// state returns a copy for other goroutines.
func (u *unreadables) state() Unreadable {
	return Unreadable{Count: len(u.byKey) + u.nameless, Nameless: u.nameless, Objects: slices.Clone(u.named)}
}

// Unreadable returns the reason why the object of a key is unreadable, a [*listwatch.ObjectError],
// or nil if the object is readable. Unlike Status, it knows all objects that have a name, not only
// a hundred. It may be called at any time, from any goroutine.
func (r *Reflector[T]) Unreadable(key types.NamespacedName) error {
	r.record.mu.Lock()
	defer r.record.mu.Unlock()
	if unread := r.unread.byKey[key]; unread != nil {
		return unread
	}
	return nil
}

// noteUnread changes the set of unreadable objects, and notifies the sink if it is a Waker.
func (r *Reflector[T]) noteUnread(change func(*unreadables)) {
	r.record.update(func(st *Status) { // the lock of the record guards the set as well
		change(&r.unread)
		st.Unreadable = r.unread.state()
	})
	if waker, ok := any(r.sink).(Waker); ok && !r.unread.empty() {
		waker.WakeUnreadable()
	}
}

// readable removes a key from the set, because the sink has got the server's state of its object.
func (r *Reflector[T]) readable(key types.NamespacedName) {
	if unread := r.unread.byKey[key]; unread != nil {
		r.keep([]*listwatch.ObjectError{unread})
		r.noteUnread(func(u *unreadables) { u.remove(key) })
	}
}

// keep passes reasons to a sink that is a Keeper, before the reflector forgets them.
func (r *Reflector[T]) keep(unread []*listwatch.ObjectError) {
	if keeper, ok := any(r.sink).(Keeper); ok && len(unread) > 0 {
		keeper.KeepUnreadable(unread)
	}
}

// incomplete records the unreadable objects of a snapshot, before the sink gets it. It returns an
// error if the snapshot must not be handed over: the first snapshot must be complete, unless
// Options.SkipUnreadable is set. Before the first snapshot the sink is empty, so incomplete also
// removes the earlier entries. Later, replaced removes them when the sink has the snapshot.
func (r *Reflector[T]) incomplete(unread unreadables) error {
	switch {
	case !r.synced:
		r.replaced(unread)
	case !unread.empty():
		r.noteUnread(func(u *unreadables) {
			for _, object := range unread.byKey {
				u.add(object)
			}
			u.nameless = max(u.nameless, unread.nameless)
		})
	}
	if r.synced || r.opts.SkipUnreadable {
		return nil
	}
	return unread.state().Err()
}

// replaced replaces the set by the unreadable objects of a snapshot that the sink has got.
func (r *Reflector[T]) replaced(unread unreadables) {
	if r.unread.empty() && unread.empty() {
		return
	}
	var forgotten []*listwatch.ObjectError
	for key, object := range r.unread.byKey {
		if unread.byKey[key] == nil {
			forgotten = append(forgotten, object)
		}
	}
	r.keep(forgotten)
	r.noteUnread(func(u *unreadables) { *u = unread })
}
