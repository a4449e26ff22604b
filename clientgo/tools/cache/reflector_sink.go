package cache

import (
	"context"
	"fmt"

	"k8s.io/client-go/features"

	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

func watchListEnabled() bool { return features.FeatureGates().Enabled(features.WatchListClient) }

// itemStore is a store of this package that accepts the core's items and events directly. It
// reports which versions it has, so that unchanged objects need not be decoded. A shared informer
// is an itemStore.
type itemStore interface {
	hasVersion(key types.NamespacedName, resourceVersion string, uidHash uint64) bool
	replaceItems(snapshot listwatch.Snapshot[any]) error
	applyEvent(event listwatch.Event[any]) error
}

// storeSink passes the changes of a reflector to a ReflectorStore.
type storeSink struct {
	reflector *Reflector
	store     ReflectorStore
	bookmarks ReflectorBookmarkStore // like the next fields, nil unless the store implements it
	versions  ResourceVersionUpdater
	itemStore itemStore
	metrics   *reflectorMetrics
	ctx       context.Context // of the run
	from      *source
}

func (s *storeSink) HasVersion(key types.NamespacedName, resourceVersion string, uidHash uint64) bool {
	if checksStreamedLists() {
		return false // so that each object is decoded and compared
	}
	return s.itemStore != nil && s.itemStore.hasVersion(key, resourceVersion, uidHash)
}

func (s *storeSink) Replace(snapshot listwatch.Snapshot[any]) error {
	if s.from.streamed.Load() && checksStreamedLists() {
		s.checkStreamed(snapshot.Items, snapshot.ResourceVersion)
	}
	var err error
	if s.itemStore != nil {
		err = s.itemStore.replaceItems(snapshot)
	} else {
		objs := make([]interface{}, len(snapshot.Items))
		for i := range snapshot.Items {
			if snapshot.Items[i].State != listwatch.Decoded {
				return undecodableError(snapshot.Items[i].Key)
			}
			objs[i] = snapshot.Items[i].Object
		}
		if snapshot.NamesMissing {
			return undecodableError(types.NamespacedName{})
		}
		err = s.store.Replace(objs, snapshot.ResourceVersion)
	}
	if err != nil {
		return err
	}
	s.at(snapshot.ResourceVersion)
	return nil
}

// undecodableError is the error for an undecodable object if the store is not an itemStore. Such a
// store cannot be notified of the object, and may need the server's exact state. So the reflector
// repeats the list until all objects can be decoded, as client-go does.
func undecodableError(key types.NamespacedName) error {
	return fmt.Errorf("the object %q could not be read", informerKey(key))
}

// Apply passes an event to the store. If the store returns an error, Apply logs it and continues:
// the store misses this event (RC-23).
func (s *storeSink) Apply(event listwatch.Event[any]) error {
	if event.State != listwatch.Decoded && s.itemStore == nil {
		return undecodableError(event.Key)
	}
	// A bookmark or an undecodable object without a version does not advance the store's version.
	versionless := event.ResourceVersion == "" || event.ResourceVersion == "0"
	var err error
	switch {
	case versionless && event.Type == listwatch.Bookmark:
		return nil
	case s.itemStore != nil:
		err = s.itemStore.applyEvent(event)
	case event.Type == listwatch.Added:
		err = s.store.Add(event.Object)
	case event.Type == listwatch.Modified:
		err = s.store.Update(event.Object)
	case event.Type == listwatch.Deleted:
		err = s.store.Delete(event.Object)
	case event.Type == listwatch.Bookmark && s.bookmarks != nil:
		err = s.bookmarks.Bookmark(event.ResourceVersion)
	}
	if err != nil {
		utilruntime.HandleError(err)
	}
	if s.from.synthetic.Load() {
		if event.Type == listwatch.Added {
			// initial events are unordered, so events with lower versions may still follow (RC-24)
			return nil
		}
		s.from.synthetic.Store(false)
	}
	if versionless && event.State != listwatch.Decoded {
		return nil
	}
	s.at(event.ResourceVersion)
	if s.versions != nil {
		s.versions.UpdateResourceVersion(event.ResourceVersion)
	}
	return nil
}

func (s *storeSink) at(version string) {
	s.reflector.version.Store(&version)
	s.metrics.at(version)
}
