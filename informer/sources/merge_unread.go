package sources

import (
	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/types"
)

// partUnread has the unreadable objects of a part that were reported to the reflector. A list
// without the part must report them again.
type partUnread struct {
	named    map[types.NamespacedName]*listwatch.ObjectError
	nameless []*listwatch.ObjectError // as many as the reflector counts
}

// add records that an unreadable object was reported.
func (u *partUnread) add(unread *listwatch.ObjectError) {
	switch {
	case unread.Type == listwatch.Deleted:
		delete(u.named, unread.Key)
	case unread.Key.Name == "" && unread.Type == listwatch.Modified && len(u.nameless) > 0:
		// The object may be any of the objects in nameless.
	case unread.Key.Name == "":
		again := *unread
		again.Type = 0 // as in a list
		u.nameless = append(u.nameless, &again)
	default:
		if u.named == nil {
			u.named = make(map[types.NamespacedName]*listwatch.ObjectError)
		}
		u.named[unread.Key] = unread
	}
}

// skipped records an undecodable event of a watch that was reported.
func (s *mergedState) skipped(part int, unread *listwatch.ObjectError) {
	if unread.Type == listwatch.Deleted && unread.Key.Name != "" && unread.ResourceVersion != "" {
		delete(s.objects, unread.Key) // The reflector deletes the object. In other cases it lists.
	}
	s.unread[part].add(unread)
}

// keep copies the objects of a part from the earlier state to s, because the list continues without
// the part or has only its first pages. It returns the objects to report. An unreadable object is
// reported as unreadable: it exists, and its stored state stays.
func (s *mergedState) keep(part int, before *mergedState) (objects []types.NamespacedName, unread []*listwatch.ObjectError) {
	now, then := &s.unread[part], &before.unread[part]
	listed := func(key types.NamespacedName) bool {
		_, readable := s.objects[key]
		return readable || now.named[key] != nil
	}
	for key, object := range then.named {
		if !listed(key) {
			unread = append(unread, object)
		}
	}
	if more := len(then.nameless) - len(now.nameless); more > 0 {
		unread = append(unread, then.nameless[:more]...)
	}
	for key, object := range before.objects {
		if object.part != part || listed(key) {
			continue
		}
		s.objects[key] = object
		if then.named[key] == nil {
			objects = append(objects, key)
		}
	}
	for _, object := range unread {
		now.add(object)
	}
	return objects, unread
}
