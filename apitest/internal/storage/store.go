package storage

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// ErrStale means that the object has changed since the writer read it.
var ErrStale = errors.New("the object has changed meanwhile")

// Store holds the objects of all resources, and their history.
type Store struct {
	mu       sync.Mutex // guards following
	version  uint64
	served   registry
	history  history
	appended chan struct{} // closed by the next write; nil if no watcher waits
}

// NewStore returns an empty store that keeps this number of past changes. Its version is 1.
func NewStore(window int) *Store {
	return &Store{version: 1, history: history{window: window}}
}

// Snapshot returns the objects of a resource, and the version of that state.
func (s *Store) Snapshot(res *Resource) (SortedRevisions, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return res.Data.objects, s.version
}

// SnapshotAt returns the objects of a resource at a version in the past. If ok is false, that
// version is too old.
func (s *Store) SnapshotAt(res *Resource, version uint64) (objects SortedRevisions, ok bool) {
	s.mu.Lock()
	objects = res.Data.objects
	changes, ok := s.history.after(version)
	s.mu.Unlock()

	return undo(objects, res.Data, changes), ok
}

// readSize is the maximum number of changes that a watcher reads at once. The limit lets a watcher
// that is slower than the writers notice when the window has moved past it.
const readSize = 256

// Read returns the next changes after a version, and the version of the last of these changes. If
// there are no changes yet, Read returns a channel that is closed by the next change. If ok is
// false, some of the changes have been dropped.
func (s *Store) Read(after uint64) (changes []*Change, through uint64, more <-chan struct{}, ok bool) {
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

// Get returns an object, or nil.
func (s *Store) Get(res *Resource, key types.NamespacedName) *Revision {
	s.mu.Lock()
	rev := res.Data.objects.get(key)
	s.mu.Unlock()
	return rev.ConvertedTo(res)
}

// Put replaces the revision old by obj. The store owns obj afterwards. The argument old is nil if
// the object must not exist. If old is not the stored revision any more, Put returns ErrStale.
func (s *Store) Put(res *Resource, old *Revision, obj apiobject.Object) (*Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
	if err := s.checkLocked(res, key, old); err != nil {
		return nil, err
	}
	rev, err := NewRevision(res, obj, s.version+1)
	if err != nil {
		return nil, err
	}
	res.Data.objects = res.Data.objects.with(rev)
	s.appendLocked(res.Data, old.storedRevision(), rev)
	return rev, nil
}

// Seed stores an object without a change of the version, and without an event for watchers. It is
// for the start of a server. It replaces an object with the same key.
func (s *Store) Seed(res *Resource, obj apiobject.Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	rev, err := NewRevision(res, obj, s.version)
	if err != nil {
		return err
	}
	res.Data.objects = res.Data.objects.with(rev)
	return nil
}

// Remove deletes the revision old. It returns the last state of the object with the version of the
// deletion. If old is not the stored revision any more, Remove returns ErrStale.
func (s *Store) Remove(res *Resource, old *Revision) (*Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkLocked(res, old.Key, old); err != nil {
		return nil, err
	}
	res.Data.objects = res.Data.objects.without(old.Key)
	return s.appendLocked(res.Data, old.storedRevision(), nil).Last().ConvertedTo(res), nil
}

func (s *Store) checkLocked(res *Resource, key types.NamespacedName, old *Revision) error {
	if res.Data.dropped {
		return fmt.Errorf("resource %s is no longer served", res.GroupVersionResource())
	}
	if res.Data.objects.get(key) != old.storedRevision() {
		return ErrStale
	}
	return nil
}

func (s *Store) appendLocked(data *Collection, prev, cur *Revision) *Change {
	s.version++
	c := newChange(s.version, data, prev, cur)
	s.history.append(c)
	if s.appended != nil {
		close(s.appended)
		s.appended = nil
	}
	return c
}

// Compact drops the history.
func (s *Store) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history.compact(s.version)
}

// AddResources starts to serve resources: all of them, or nothing if one of them is invalid.
func (s *Store) AddResources(resources ...*Resource) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, res := range resources {
		if err := s.served.add(res); err != nil {
			return err
		}
	}
	return nil
}

// RemoveResources stops serving resources. It deletes their objects first, so that watchers get
// DELETED events.
func (s *Store) RemoveResources(resources ...*Resource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, res := range resources {
		for rev := range res.Data.objects.InNamespace("") {
			s.appendLocked(res.Data, rev, nil)
		}
		res.Data.objects, res.Data.dropped = SortedRevisions{}, true
	}
	for _, res := range resources {
		s.served.remove(res)
	}
}

// ReplaceResources stops serving the old resources and serves the new ones, which may share the
// same objects. If one of the new resources is invalid, nothing changes. The watches of a resource
// in both lists are not interrupted. A dry run only makes the checks.
func (s *Store) ReplaceResources(old, new []*Resource, dryRun bool) error {
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
			close(res.Removed)
		}
	}
	return nil
}

// ResourcesOfCRD returns the resources of a CustomResourceDefinition, one for each served version.
func (s *Store) ResourcesOfCRD(crdName string) (all []*Resource) {
	for _, res := range s.Resources() {
		if res.CRDName == crdName {
			all = append(all, res)
		}
	}
	return all
}

// ResourceOfGoType returns the resource of a built-in type, or nil.
func (s *Store) ResourceOfGoType(t reflect.Type) *Resource {
	return s.find(func(res *Resource) bool { return res.GoType == t })
}

// HasBuiltin reports whether a group version has built-in types.
func (s *Store) HasBuiltin(group, version string) bool {
	return s.find(func(res *Resource) bool {
		return res.Protobuf() && res.Group == group && res.Version == version
	}) != nil
}

func (s *Store) find(is func(*Resource) bool) *Resource {
	all := s.Resources()
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// Resource returns the resource of this name, or nil.
func (s *Store) Resource(name schema.GroupVersionResource) *Resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served.byName[name]
}

// ResourceOfKind returns the resource of this kind, or nil.
func (s *Store) ResourceOfKind(gvk schema.GroupVersionKind) *Resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served.byKind[gvk]
}

// Resources returns all served resources, in the order of discovery.
func (s *Store) Resources() []*Resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served.all[:len(s.served.all):len(s.served.all)]
}

// Current returns the version of the latest write.
func (s *Store) Current() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Oldest returns the version of the newest change that has been dropped.
func (s *Store) Oldest() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.compacted
}
