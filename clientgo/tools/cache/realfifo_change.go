package cache

import "fmt"

// Add queues Added.
func (f *RealFIFO) Add(obj interface{}) error { return f.change(Added, obj) }

// Update queues Updated.
func (f *RealFIFO) Update(obj interface{}) error { return f.change(Updated, obj) }

// Delete queues Deleted, whether the object is known or not.
func (f *RealFIFO) Delete(obj interface{}) error { return f.change(Deleted, obj) }

func (f *RealFIFO) change(kind DeltaType, obj interface{}) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tracker.populateLocked(0)
	if _, err := queueKey(f.keyFunc, obj); err != nil {
		return err
	}
	return f.queueLocked(kind, obj)
}

func (f *RealFIFO) queueLocked(kind DeltaType, obj interface{}) error {
	if kind != Sync {
		var err error
		if obj, err = f.transform(obj); err != nil {
			return err
		}
	}
	f.appendLocked(Delta{Type: kind, Object: obj})
	return nil
}

func (f *RealFIFO) transform(obj interface{}) (interface{}, error) {
	if _, tombstone := obj.(DeletedFinalStateUnknown); tombstone || f.transformer == nil {
		return obj, nil
	}
	return f.transformer(obj)
}

func (f *RealFIFO) appendLocked(delta Delta) {
	f.items = append(f.items, delta)
	f.pending.Add(1)
	f.measureLocked()
	f.cond.Broadcast()
}

// Bookmark queues the version if EmitDeltaTypeBookmark is set.
func (f *RealFIFO) Bookmark(resourceVersion string) error {
	if f.bookmarks {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.appendLocked(Delta{Type: Bookmark, Object: BookmarkInfo{ResourceVersion: resourceVersion}})
	}
	return nil
}

// Replace queues a Deleted for each pending or known key that is not in the list, then Replaced for
// each object. With AtomicEvents, it queues one ReplacedAll. If an object has no key, nothing is
// queued.
func (f *RealFIFO) Replace(newItems []interface{}, resourceVersion string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if f.atomic {
		err = f.replaceAllLocked(newItems, resourceVersion)
	} else {
		err = f.replaceLocked(newItems)
	}
	if err != nil {
		return err
	}
	f.tracker.populateLocked(len(f.items))
	return nil
}

func (f *RealFIFO) replaceAllLocked(newItems []interface{}, resourceVersion string) error {
	if f.transformer != nil {
		transformed := make([]interface{}, len(newItems))
		for i, obj := range newItems {
			var err error
			if transformed[i], err = f.transform(obj); err != nil {
				return err
			}
		}
		newItems = transformed
	}
	f.appendLocked(Delta{Type: ReplacedAll, Object: ReplacedAllInfo{ResourceVersion: resourceVersion, Objects: newItems}})
	return nil
}

func (f *RealFIFO) replaceLocked(newItems []interface{}) error {
	listed := make(map[string]struct{}, len(newItems))
	for _, obj := range newItems {
		key, err := queueKey(f.keyFunc, obj)
		if err != nil {
			return err
		}
		listed[key] = struct{}{}
	}
	pending := f.pendingLocked()
	for _, key := range pending.order {
		last := f.items[pending.last[key]]
		if _, ok := listed[key]; ok || last.Type == Deleted {
			continue
		}
		f.appendLocked(Delta{Type: Deleted, Object: DeletedFinalStateUnknown{Key: key, Obj: last.Object}})
	}
	for _, key := range f.known.ListKeys() {
		if _, ok := listed[key]; ok {
			continue
		}
		if _, ok := pending.last[key]; ok {
			continue
		}
		f.appendLocked(Delta{Type: Deleted, Object: DeletedFinalStateUnknown{Key: key, Obj: lookup(f.logger, f.known, key)}})
	}
	for _, obj := range newItems {
		if err := f.queueLocked(Replaced, obj); err != nil {
			return fmt.Errorf("couldn't enqueue object: %w", err)
		}
	}
	return nil
}

// pendingKeys has the keys of the queued deltas, ordered by the first delta of each key.
type pendingKeys struct {
	order []string
	last  map[string]int // the index of the newest delta
}

func (f *RealFIFO) pendingLocked() pendingKeys {
	pending := pendingKeys{last: map[string]int{}}
	for i, delta := range f.items {
		key, err := queueKey(f.keyFunc, delta.Object)
		if err != nil {
			continue // a transformer has returned an object without a key
		}
		if _, ok := pending.last[key]; !ok {
			pending.order = append(pending.order, key)
		}
		pending.last[key] = i
	}
	return pending
}

// Resync queues Sync for each known object that is not pending. With AtomicEvents, it queues one
// SyncAll.
func (f *RealFIFO) Resync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.atomic {
		f.appendLocked(Delta{Type: SyncAll, Object: SyncAllInfo{}})
		return nil
	}
	pending := f.pendingLocked()
	for _, key := range f.known.ListKeys() {
		if _, ok := pending.last[key]; ok {
			continue
		}
		if obj := lookup(f.logger, f.known, key); obj != nil {
			f.appendLocked(Delta{Type: Sync, Object: obj})
		}
	}
	return nil
}
