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

// nativeStore is a store of this package that takes what kinform's reflector hands over as it is, and can say what it
// has, so that unchanged objects need not be decoded. A shared informer is one.
type nativeStore interface {
	hasVersion(key types.NamespacedName, resourceVersion string, uidHash uint64) bool
	replaceItems(items []listwatch.Item[any], resourceVersion string) error
	applyEvent(event listwatch.Event[any]) error
}

// storeSink hands over to a ReflectorStore what a reflector has to say.
type storeSink struct {
	reflector *Reflector
	store     ReflectorStore
	bookmarks ReflectorBookmarkStore // the following are nil if the store is none
	versions  ResourceVersionUpdater
	native    nativeStore
	metrics   *reflectorMetrics
	ctx       context.Context // of the run
	from      *source
}

func (s *storeSink) HasVersion(key types.NamespacedName, resourceVersion string, uidHash uint64) bool {
	if checksStreamedLists() {
		return false // each object is to be compared
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

// unreadError is about an object that could not be read. A store of another package cannot be told of it, and may want to have
// what the server has: so the reflector lists until all can be read, as client-go does.
func unreadError(key types.NamespacedName) error {
	return fmt.Errorf("the object %q could not be read", informerKey(key))
}

// Apply logs errors of the store: the event is lost to it, and the next one follows (RC-23).
func (s *storeSink) Apply(event listwatch.Event[any]) error {
	if event.Unchanged && s.native == nil {
		return unreadError(event.Key)
	}
	// A bookmark or an unreadable object without a version does not say how far the store is.
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
			return nil // its version says nothing of the others (RC-24)
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
