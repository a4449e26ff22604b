package reflector

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// ErrUnreadable is wrapped by each error about undecodable objects, which the sink lacks, or has in
// an older state; see [UnreadableError].
var ErrUnreadable = errors.New("objects cannot be read")

// Unreadable says which objects the sink lacks, or has in an older state than the server, because
// they were unreadable. Their bytes were undecodable, they were too large or of another kind, or a
// transform returned an error. The zero value describes a complete sink.
type Unreadable struct {
	// Count is the number of unreadable objects.
	Count int

	// Nameless is how many of them have an unreadable name. It is a lower bound, because two
	// changes may be about one object, or about two. A nameless object may be any object. While
	// there is one, the reflector takes no object that is missing in a snapshot for deleted.
	Nameless int

	// Objects are the unreadable objects that have a name, with version and reason, but no more
	// than a hundred. They must not be changed.
	Objects []*listwatch.ObjectError
}

// Err returns nil if no object is unreadable, and an [*UnreadableError] otherwise.
func (u Unreadable) Err() error {
	if u.Count == 0 {
		return nil
	}
	return &UnreadableError{u}
}

// UnreadableError is an error about objects that cannot be read. It unwraps to
// [ErrUnreadable], and to the errors in Objects.
type UnreadableError struct{ Unreadable }

// inText is how many objects an error names in its text.
const inText = 3

// Error says how many objects are unreadable, and names the first of them, with reasons.
func (e *UnreadableError) Error() string {
	if e == nil {
		return "<nil>"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %d, so that they are missing, or older than on the server", ErrUnreadable, e.Count)
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

// maxNamed bounds Unreadable.Objects.
const maxNamed = 100

// unreadables are the unreadable objects.
type unreadables struct {
	byKey    map[types.NamespacedName]*listwatch.ObjectError
	named    []*listwatch.ObjectError // maxNamed of them
	nameless int
}

func (u *unreadables) empty() bool { return len(u.byKey) == 0 && u.nameless == 0 }

// add adds an object. It replaces an earlier entry of its key.
func (u *unreadables) add(unread *listwatch.ObjectError) {
	switch {
	case unread.Key.Name != "":
	case unread.Type == listwatch.Modified:
		u.nameless = max(u.nameless, 1) // Several changes may be about one object.
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

// remove removes an object that is decodable now, or gone. It reports whether there was an entry of
// the object.
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

// state is a copy for others to read.
func (u *unreadables) state() Unreadable {
	return Unreadable{Count: len(u.byKey) + u.nameless, Nameless: u.nameless, Objects: slices.Clone(u.named)}
}

// Unreadable returns the reason why the object of a key is unreadable, a [*listwatch.ObjectError],
// or nil if it is not. Unlike Status, it has all objects that have a name. It may be called at any
// time, from any goroutine.
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
	r.record.update(func(st *Status) { // The lock of the record guards the set as well.
		change(&r.unread)
		st.Unreadable = r.unread.state()
	})
	if waker, ok := any(r.sink).(Waker); ok && !r.unread.empty() {
		waker.WakeUnreadable()
	}
}

// readable records that the sink has the server's state of a key.
func (r *Reflector[T]) readable(key types.NamespacedName) {
	if unread := r.unread.byKey[key]; unread != nil {
		r.keep([]*listwatch.ObjectError{unread})
		r.noteUnread(func(u *unreadables) { u.remove(key) })
	}
}

// keep hands reasons to the sink before the reflector forgets them.
func (r *Reflector[T]) keep(unread []*listwatch.ObjectError) {
	if keeper, ok := any(r.sink).(Keeper); ok && len(unread) > 0 {
		keeper.KeepUnreadable(unread)
	}
}

// incomplete records the unreadable objects of a snapshot. It returns an error if the snapshot must
// not be handed over: the first snapshot must be complete, unless Options.SkipUnreadable is set.
// replaced removes earlier unreadable objects, when the sink has the snapshot. Before the first
// snapshot the sink has nothing, so incomplete removes them at once.
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

// replaced records that exactly these objects of a snapshot are unreadable.
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
