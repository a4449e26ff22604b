package sources

import (
	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/types"
)

// partUndecodable has the undecodable objects of a part that were reported to the reflector. A list
// without the part must report them again.
type partUndecodable struct {
	named    map[types.NamespacedName]*listwatch.ObjectError
	nameless []*listwatch.ObjectError // the same number as in the reflector
}

// add records that an undecodable object was reported.
func (u *partUndecodable) add(object *listwatch.ObjectError) {
	switch {
	case object.Type == listwatch.Deleted:
		delete(u.named, object.Key)
	case object.Key.Name == "" && object.Type == listwatch.Modified && len(u.nameless) > 0:
		// The object may be any of the objects in nameless.
	case object.Key.Name == "":
		copied := *object
		copied.Type = 0 // as in a list
		u.nameless = append(u.nameless, &copied)
	default:
		if u.named == nil {
			u.named = make(map[types.NamespacedName]*listwatch.ObjectError)
		}
		u.named[object.Key] = object
	}
}

// reportedUndecodable records an undecodable event of a watch that was reported.
func (s *mergedState) reportedUndecodable(part int, object *listwatch.ObjectError) {
	if object.Type == listwatch.Deleted && object.Key.Name != "" && object.ResourceVersion != "" {
		delete(s.objects, object.Key) // The reflector deletes the object. In other cases it lists.
	}
	s.undecodable[part].add(object)
}

// keep copies the objects of a part from the earlier state to s, because the list continues without
// the part or has only its first pages. It returns the objects to report. An undecodable object is
// reported again as undecodable: it exists, and its stored state stays.
func (s *mergedState) keep(part int, before *mergedState) (objects []types.NamespacedName, undecodable []*listwatch.ObjectError) {
	now, then := &s.undecodable[part], &before.undecodable[part]
	listed := func(key types.NamespacedName) bool {
		_, decoded := s.objects[key]
		return decoded || now.named[key] != nil
	}
	for key, object := range then.named {
		if !listed(key) {
			undecodable = append(undecodable, object)
		}
	}
	if more := len(then.nameless) - len(now.nameless); more > 0 {
		undecodable = append(undecodable, then.nameless[:more]...)
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
	for _, object := range undecodable {
		now.add(object)
	}
	return objects, undecodable
}
