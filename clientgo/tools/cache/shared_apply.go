package cache

import (
	"time"

	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/types"
)

// The informer's reflector calls the following methods in one goroutine, except for hasVersion and
// Resync.

func (s *sharedIndexInformer) hasVersion(key types.NamespacedName, resourceVersion string, uidHash uint64) bool {
	return s.applier.hasVersion(key, resourceVersion, uidHash)
}

// Transformer returns the informer's transform for the reflector. It makes the informer a
// TransformingStore.
func (s *sharedIndexInformer) Transformer() TransformFunc { return s.transform }

// replaceItems applies a whole list.
func (s *sharedIndexInformer) replaceItems(snapshot listwatch.Snapshot[any]) error {
	defer s.metrics.took(time.Now())
	if err := transformItems(snapshot.Items, s.transform); err != nil {
		return err
	}
	return s.applied(func() error {
		notes, err := s.applier.replace(snapshot, !s.isSynced)
		if err != nil {
			return err
		}
		s.notifyHandlers(notes)
		if !s.isSynced {
			s.isSynced = true
			for _, l := range s.handlers.all {
				l.upstreamSynced()
			}
			close(s.synced)
		}
		return nil
	})
}

// applyEvent applies one change.
func (s *sharedIndexInformer) applyEvent(event listwatch.Event[any]) error {
	defer s.metrics.took(time.Now())
	if err := transformEvent(&event, s.transform); err != nil {
		return err
	}
	return s.applied(func() error {
		note, changed, err := s.applier.event(event)
		if changed {
			s.notifyHandlers([]notification{note})
		}
		return err
	})
}

// applied calls the function change while no handler can be added or removed. After a panic in that
// function, applied pauses.
func (s *sharedIndexInformer) applied(change func() error) error {
	defer s.repanic()
	s.applyLock.Lock()
	defer s.applyLock.Unlock()
	return change()
}

// Resync delivers each object of the store to the handlers whose resync is due (SI-27).
func (s *sharedIndexInformer) Resync() error {
	s.applyLock.Lock()
	defer s.applyLock.Unlock()
	s.notifyHandlers(s.resync())
	return nil
}

// The following methods are there only to implement ReflectorStore. The reflector calls the methods
// of itemStore instead.

func (s *sharedIndexInformer) Add(obj interface{}) error { return s.applyObject(listwatch.Added, obj) }
func (s *sharedIndexInformer) Update(obj interface{}) error {
	return s.applyObject(listwatch.Modified, obj)
}
func (s *sharedIndexInformer) Delete(obj interface{}) error {
	return s.applyObject(listwatch.Deleted, obj)
}

func (s *sharedIndexInformer) applyObject(t listwatch.EventType, obj interface{}) error {
	return s.applyEvent(listwatch.Event[any]{Type: t, Item: listwatch.Item[any]{Object: obj}})
}

func (s *sharedIndexInformer) Replace(objs []interface{}, resourceVersion string) error {
	items := make([]listwatch.Item[any], len(objs))
	for i, obj := range objs {
		items[i].Object = obj
	}
	return s.replaceItems(listwatch.Snapshot[any]{Items: items, ResourceVersion: resourceVersion})
}
