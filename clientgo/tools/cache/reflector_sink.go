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

// nativeStore is a store of this package that takes the changes of kinform's reflector directly. It
// reports which versions it has, so that unchanged objects need not be decoded. A shared informer
// is a nativeStore.
type nativeStore interface {
	hasVersion(key types.NamespacedName, resourceVersion string, uidHash uint64) bool
	replaceItems(items []listwatch.Item[any], resourceVersion string) error
	applyEvent(event listwatch.Event[any]) error
}

// storeSink passes the changes of a reflector to a ReflectorStore.
type storeSink struct {
	reflector *Reflector
	store     ReflectorStore
	bookmarks ReflectorBookmarkStore // each of the following is nil unless the store implements it
	versions  ResourceVersionUpdater
	native    nativeStore
	metrics   *reflectorMetrics
	ctx       context.Context // of the run
	from      *source
}

func (s *storeSink) HasVersion(key types.NamespacedName, resourceVersion string, uidHash uint64) bool {
	if checksStreamedLists() {
		return false // compare each object
	}
	return s.native != nil && s.native.hasVersion(key, resourceVersion, uidHash)
}

func (s *storeSink) Restore(items []listwatch.Item[any], resourceVersion string) error {
	return s.Replace(items, resourceVersion)
}

func (s *storeSink) Replace(items []listwatch.Item[any], resourceVersion string) error {
	if s.from.streamed.Load() && checksStreamedLists() {
		s.checkStreamed(items, resourceVersion)
	}
	var err error
	if s.native != nil {
		err = s.native.replaceItems(items, resourceVersion)
	} else {
		objs := make([]interface{}, len(items))
		for i := range items {
			if items[i].Unchanged {
				return unreadError(items[i].Key)
			}
			objs[i] = items[i].Object
		}
		err = s.store.Replace(objs, resourceVersion)
	}
	if err != nil {
		return err
	}
	s.at(resourceVersion)
	return nil
}

// unreadError is the error for an undecodable object. A store of another package has no way to
// learn of it and may need the server's exact state. So the reflector lists until all objects can
// be decoded, as client-go does.
func unreadError(key types.NamespacedName) error {
	return fmt.Errorf("the object %q could not be read", informerKey(key))
}

// Apply logs errors of the store. The store misses the event, and the next event follows (RC-23).
func (s *storeSink) Apply(event listwatch.Event[any]) error {
	if event.Unchanged && s.native == nil {
		return unreadError(event.Key)
	}
	// A bookmark or an undecodable object without a version does not advance the store's version.
	versionless := event.ResourceVersion == "" || event.ResourceVersion == "0"
	var err error
	switch {
	case versionless && event.Type == listwatch.Bookmark:
		return nil
	case s.native != nil:
		err = s.native.applyEvent(event)
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
			// initial events come in no order, so the version says nothing about the rest (RC-24)
			return nil
		}
		s.from.synthetic.Store(false)
	}
	if versionless && event.Unchanged {
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
