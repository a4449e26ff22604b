package cache

import (
	"strconv"
	"time"

	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// What follows is called by the informer's reflector only, in one goroutine but for hasVersion and Resync.

// informerKey is the key of the store.
func informerKey(key types.NamespacedName) string {
	if key.Namespace == "" {
		return key.Name
	}
	return key.Namespace + "/" + key.Name
}

func identityOf(obj interface{}) (version string, uidHash uint64, ok bool) {
	o, err := meta.Accessor(obj)
	if err != nil {
		return "", 0, false
	}
	return o.GetResourceVersion(), listwatch.HashUID(o.GetUID()), true
}

// isSame says that two states have one version, so that nothing has changed (SI-12).
func isSame(old, now interface{}) bool {
	a, _, okA := identityOf(old)
	b, _, okB := identityOf(now)
	return okA && okB && a == b && a != "" // a transform may have dropped it (D12)
}

func (s *sharedIndexInformer) hasVersion(key types.NamespacedName, resourceVersion string, uidHash uint64) bool {
	if resourceVersion == "" {
		return false
	}
	obj, exists, err := s.indexer.GetByKey(informerKey(key))
	if err != nil || !exists {
		return false
	}
	version, uid, ok := identityOf(obj)
	return ok && version == resourceVersion && !listwatch.OtherUID(uid, uidHash)
}

func (s *sharedIndexInformer) transformer() TransformFunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.transform
}

// replaceItems is a whole list: one step for readers of the store, then the handlers are told of what is gone, and of
// each object in the order of the list (PD-5).
func (s *sharedIndexInformer) replaceItems(items []listwatch.Item[any], resourceVersion string) error {
	defer s.metrics.took(time.Now())
	transform := s.transformer()
	objs := make([]interface{}, 0, len(items))
	listed := make(map[string]struct{}, len(items))
	keepRest := false
	for i := range items {
		item := &items[i]
		obj := item.Object
		if item.Unchanged {
			if item.Key.Name == "" { // an object that could not be read may be any
				keepRest = true
				continue
			}
			known, exists, err := s.indexer.GetByKey(informerKey(item.Key))
			if err != nil || !exists {
				continue
			}
			listed[informerKey(item.Key)] = struct{}{}
			objs = append(objs, known)
			continue
		}
		if transform != nil {
			var err error
			if obj, err = transform(obj); err != nil {
				return err
			}
		}
		key, err := DeletionHandlingMetaNamespaceKeyFunc(obj)
		if err != nil {
			return KeyError{Obj: obj, Err: err}
		}
		listed[key] = struct{}{}
		objs = append(objs, obj)
	}

	s.applying.Lock()
	defer s.applying.Unlock()
	notes := make([]notification, 0, len(objs))
	for _, key := range s.indexer.ListKeys() {
		if _, ok := listed[key]; ok {
			continue
		}
		old, exists, err := s.indexer.GetByKey(key)
		if err != nil || !exists {
			continue
		}
		if keepRest {
			objs = append(objs, old)
			continue
		}
		notes = append(notes, notification{kind: onDelete, now: DeletedFinalStateUnknown{Key: key, Obj: old}})
	}
	told := make(map[string]interface{})
	for _, obj := range objs {
		key, err := DeletionHandlingMetaNamespaceKeyFunc(obj)
		if err != nil {
			continue
		}
		old, exists := told[key]
		if !exists {
			old, exists, _ = s.indexer.GetByKey(key)
		}
		if exists {
			notes = append(notes, notification{kind: onUpdate, old: old, now: obj, same: isSame(old, obj)})
			continue
		}
		notes = append(notes, notification{kind: onAdd, now: obj, initial: !s.isSynced})
		if len(listed) < len(objs) { // a key that is listed twice is an add, then an update
			told[key] = obj
		}
	}
	if err := s.indexer.Replace(objs, resourceVersion); err != nil {
		return err
	}
	for _, obj := range objs {
		s.detector.AddObject(obj)
	}
	s.metrics.at(resourceVersion)
	s.tell(notes)
	if !s.isSynced {
		s.isSynced = true
		s.mu.Lock()
		all := s.handlers.all
		s.mu.Unlock()
		for _, l := range all {
			l.upstreamSynced()
		}
		close(s.synced)
	}
	return nil
}

// applyEvent is one change. What exists decides whether it is an add or an update (PD-2).
func (s *sharedIndexInformer) applyEvent(event listwatch.Event[any]) error {
	defer s.metrics.took(time.Now())
	if event.Type == listwatch.Bookmark {
		s.indexer.Bookmark(event.ResourceVersion)
		s.metrics.at(event.ResourceVersion)
		return nil
	}
	if event.Unchanged {
		return s.applyUnread(event)
	}
	obj := event.Object
	if transform := s.transformer(); transform != nil {
		var err error
		if obj, err = transform(obj); err != nil {
			return err
		}
	}
	key, err := DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return KeyError{Obj: obj, Err: err}
	}
	s.applying.Lock()
	defer s.applying.Unlock()
	var note notification
	old, exists, err := s.indexer.GetByKey(key)
	switch {
	case err != nil:
		return err
	case event.Type == listwatch.Deleted:
		note, err = notification{kind: onDelete, now: obj}, s.indexer.Delete(obj)
	case exists:
		note, err = notification{kind: onUpdate, old: old, now: obj, same: isSame(old, obj)}, s.indexer.Update(obj)
	default:
		note, err = notification{kind: onAdd, now: obj}, s.indexer.Add(obj)
	}
	if err != nil {
		return err
	}
	if note.kind != onDelete {
		s.detector.AddObject(obj)
	}
	s.metrics.at(event.ResourceVersion)
	s.tell([]notification{note})
	return nil
}

// applyUnread is an event whose object could not be read. A deletion has a tombstone.
func (s *sharedIndexInformer) applyUnread(event listwatch.Event[any]) error {
	s.applying.Lock()
	defer s.applying.Unlock()
	key := informerKey(event.Key)
	old, exists, err := s.indexer.GetByKey(key)
	if err != nil || !exists {
		return err
	}
	_, uid, _ := identityOf(old)
	if event.Type != listwatch.Deleted && !listwatch.OtherUID(uid, event.UIDHash) {
		return nil
	}
	if err := s.indexer.Delete(old); err != nil {
		return err
	}
	s.tell([]notification{{kind: onDelete, now: DeletedFinalStateUnknown{Key: key, Obj: old}}})
	return nil
}

// Resync tells the handlers whose resync is due of each object of the store (SI-27).
func (s *sharedIndexInformer) Resync() error {
	s.applying.Lock()
	defer s.applying.Unlock()
	objs := s.indexer.List()
	notes := make([]notification, len(objs))
	for i, obj := range objs {
		notes[i] = notification{kind: onUpdate, old: obj, now: obj, same: true}
	}
	s.tell(notes)
	return nil
}

// The rest of ReflectorStore, which the reflector doesn't call, as it finds a nativeStore.

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
	return s.replaceItems(items, resourceVersion)
}

// informerMetrics are those of an informer with a reserved identity. nil has none.
type informerMetrics struct {
	id      InformerNameAndResource
	queued  GaugeMetric
	latency HistogramMetric
	version GaugeMetric
}

func newInformerMetrics(p InformerMetricsProvider, id InformerNameAndResource) *informerMetrics {
	if !id.Reserved() {
		return nil
	}
	p = informerMetricsProvider(p)
	m := &informerMetrics{id: id, queued: p.NewQueuedItemMetric(id), latency: p.NewProcessingLatencyMetric(id), version: p.NewStoreResourceVersionMetric(id)}
	m.queued.Set(0) // nothing waits between the reflector and the store
	return m
}

func (m *informerMetrics) took(since time.Time) {
	if m != nil && m.id.Reserved() {
		m.latency.Observe(time.Since(since).Seconds())
	}
}

func (m *informerMetrics) at(version string) {
	if m == nil || !m.id.Reserved() {
		return
	}
	if v, err := strconv.ParseFloat(version, 64); err == nil {
		m.version.Set(v)
	} else if version != "" {
		utilruntime.HandleError(err)
	}
}
