package apitest

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// store holds the objects of all resources, and their history.
type store struct {
	mu       sync.Mutex // guards following
	version  uint64
	served   registry
	history  history
	appended chan struct{} // closed by the next write; nil if no watcher waits
}

// snapshot returns the objects of a resource, and the version of that state.
func (s *store) snapshot(res *resource) (sortedRevisions, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return res.data.objects, s.version
}

// snapshotAt returns the objects of a resource at a version in the past. If ok is false, that
// version is too old.
func (s *store) snapshotAt(res *resource, version uint64) (objects sortedRevisions, ok bool) {
	s.mu.Lock()
	objects = res.data.objects
	changes, ok := s.history.after(version)
	s.mu.Unlock()

	return undo(objects, res.data, changes), ok
}

// readSize is the maximum number of changes that a watcher reads at once. The limit lets a watcher
// that is slower than the writers notice when the window has moved past it.
const readSize = 256

// read returns the next changes after a version, and the version of the last of these changes. If
// there are no changes yet, read returns a channel that is closed by the next change. If ok is
// false, some of the changes have been dropped.
func (s *store) read(after uint64) (changes []*change, through uint64, more <-chan struct{}, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changes, ok = s.history.after(after)
	if len(changes) == 0 && s.appended == nil {
		s.appended = make(chan struct{})
	}
	if len(changes) > readSize {
		return changes[:readSize], changes[readSize-1].version, nil, ok
	}
	return changes, max(after, s.version), s.appended, ok
}

// get returns an object, or nil.
func (s *store) get(res *resource, key types.NamespacedName) *revision {
	s.mu.Lock()
	rev := res.data.objects.get(key)
	s.mu.Unlock()
	return rev.convertedTo(res)
}

// put replaces the revision old by obj. The store owns obj afterwards. The argument old is nil if
// the object must not exist. If old is not the stored revision any more, put returns errStale.
func (s *store) put(res *resource, old *revision, obj Object) (*revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
	if err := s.checkLocked(res, key, old); err != nil {
		return nil, err
	}
	rev, err := newRevision(res, obj, s.version+1)
	if err != nil {
		return nil, err
	}
	res.data.objects = res.data.objects.with(rev)
	s.appendLocked(res.data, old.storedRevision(), rev)
	return rev, nil
}

// remove deletes the revision old. It returns the last state of the object with the version of the
// deletion. If old is not the stored revision any more, remove returns errStale.
func (s *store) remove(res *resource, old *revision) (*revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkLocked(res, old.key, old); err != nil {
		return nil, err
	}
	res.data.objects = res.data.objects.without(old.key)
	return s.appendLocked(res.data, old.storedRevision(), nil).last().convertedTo(res), nil
}

func (s *store) checkLocked(res *resource, key types.NamespacedName, old *revision) error {
	if res.data.dropped {
		return fmt.Errorf("resource %s is no longer served", res.GroupVersionResource())
	}
	if res.data.objects.get(key) != old.storedRevision() {
		return errStale
	}
	return nil
}

func (s *store) appendLocked(data *collection, prev, cur *revision) *change {
	s.version++
	c := newChange(s.version, data, prev, cur)
	s.history.append(c)
	if s.appended != nil {
		close(s.appended)
		s.appended = nil
	}
	return c
}

// compact drops the history.
func (s *store) compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history.compact(s.version)
}

// addResources starts to serve resources: all of them, or nothing if one of them is invalid.
func (s *store) addResources(resources ...*resource) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, res := range resources {
		if err := s.served.add(res); err != nil {
			return err
		}
	}
	return nil
}

// removeResources stops serving resources. It deletes their objects first, so that watchers get
// DELETED events.
func (s *store) removeResources(resources ...*resource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, res := range resources {
		for rev := range res.data.objects.inNamespace("") {
			s.appendLocked(res.data, rev, nil)
		}
		res.data.objects, res.data.dropped = sortedRevisions{}, true
	}
	for _, res := range resources {
		s.served.remove(res)
	}
}

// replaceResources stops serving the old resources and serves the new ones, which may share the
// same objects. If one of the new resources is invalid, nothing changes. The watches of a resource
// in both lists are not interrupted. A dry run only makes the checks.
func (s *store) replaceResources(old, new []*resource, dryRun bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.served.clone()
	for _, res := range old {
		if !slices.Contains(new, res) {
			s.served.unlist(res)
		}
	}
	for _, res := range new {
		if slices.Contains(old, res) {
			continue
		}
		if err := s.served.add(res); err != nil {
			s.served = before
			return err
		}
	}
	if dryRun {
		s.served = before
		return nil
	}
	for _, res := range old {
		if !slices.Contains(new, res) {
			close(res.removed)
		}
	}
	return nil
}

// resourcesOfCRD returns the resources of a CustomResourceDefinition, one for each served version.
func (s *store) resourcesOfCRD(crdName string) (all []*resource) {
	for _, res := range s.resources() {
		if res.crdName == crdName {
			all = append(all, res)
		}
	}
	return all
}

// resourceOfGoType returns the resource of a built-in type, or nil.
func (s *store) resourceOfGoType(t reflect.Type) *resource {
	return s.find(func(res *resource) bool { return res.goType == t })
}

// hasBuiltin reports whether a group version has built-in types.
func (s *store) hasBuiltin(group, version string) bool {
	return s.find(func(res *resource) bool {
		return res.protobuf() && res.Group == group && res.Version == version
	}) != nil
}

func (s *store) find(is func(*resource) bool) *resource {
	all := s.resources()
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// resource returns the resource of this name, or nil.
func (s *store) resource(name schema.GroupVersionResource) *resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served.byName[name]
}

// resourceOfKind returns the resource of this kind, or nil.
func (s *store) resourceOfKind(gvk schema.GroupVersionKind) *resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served.byKind[gvk]
}

// resources returns all served resources, in the order of discovery.
func (s *store) resources() []*resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served.all[:len(s.served.all):len(s.served.all)]
}

// current returns the version of the latest write.
func (s *store) current() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// oldest returns the version of the newest change that has been dropped.
func (s *store) oldest() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.compacted
}
