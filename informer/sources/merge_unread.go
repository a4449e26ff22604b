package sources

import (
	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/types"
)

// partUnread is what the reflector has been told of the objects of a part that cannot be
// read. It must be told so again in a list that does without the part.
type partUnread struct {
	named    map[types.NamespacedName]*listwatch.ObjectError
	nameless []*listwatch.ObjectError // as many as the reflector counts
}

// add takes note of what has been told of an object that cannot be read.
func (u *partUnread) add(unread *listwatch.ObjectError) {
	switch {
	case unread.Type == listwatch.Deleted:
		delete(u.named, unread.Key)
	case unread.Key.Name == "" && unread.Type == listwatch.Modified && len(u.nameless) > 0: // It may be any of them.
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

// skipped takes note of an event of a watch that could not be read.
func (s *mergedState) skipped(part int, unread *listwatch.ObjectError) {
	if unread.Type == listwatch.Deleted && unread.Key.Name != "" && unread.ResourceVersion != "" {
		delete(s.objects, unread.Key) // The reflector deletes it. Else it lists.
	}
	s.unread[part].add(unread)
}

// keep adds to s what before had of a part that s does without, or has the first pages
// of, and returns what is to be told of it. An object that cannot be read is told as that:
// it exists, and what the sink has of it stays.
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
