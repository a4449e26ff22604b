package cache

import (
	"container/heap"
	"errors"
	"sync"
)

// LessFunc reports whether the first object comes before the second.
type LessFunc func(interface{}, interface{}) bool

var errHeapClosed = errors.New("heap is closed")

// Heap is a priority queue of objects by key: Pop returns the least object. It is safe for
// concurrent use.
type Heap struct {
	mu     sync.Mutex // guards following
	cond   sync.Cond
	data   *heapData
	closed bool
}

// heapData implements heap.Interface of package container/heap.
type heapData struct {
	keyFunc KeyFunc
	less    LessFunc
	queue   []*heapItem
	items   map[string]*heapItem
}

type heapItem struct {
	key   string
	obj   interface{}
	index int // in the queue
}

func (d *heapData) Len() int           { return len(d.queue) }
func (d *heapData) Less(i, j int) bool { return d.less(d.queue[i].obj, d.queue[j].obj) }
func (d *heapData) Swap(i, j int) {
	d.queue[i], d.queue[j] = d.queue[j], d.queue[i]
	d.queue[i].index, d.queue[j].index = i, j
}

func (d *heapData) Push(x any) {
	item := x.(*heapItem)
	item.index = len(d.queue)
	d.queue = append(d.queue, item)
	d.items[item.key] = item
}

func (d *heapData) Pop() any {
	last := len(d.queue) - 1
	item := d.queue[last]
	d.queue[last] = nil
	d.queue = d.queue[:last]
	delete(d.items, item.key)
	return item
}

// NewHeap returns an empty heap.
func NewHeap(keyFn KeyFunc, lessFn LessFunc) *Heap {
	h := &Heap{data: &heapData{keyFunc: keyFn, less: lessFn, items: map[string]*heapItem{}}}
	h.cond.L = &h.mu
	return h
}

func (h *Heap) key(obj interface{}) (string, error) {
	key, err := h.data.keyFunc(obj)
	if err != nil {
		return "", KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

func (h *Heap) putLocked(key string, obj interface{}) {
	if item, ok := h.data.items[key]; ok {
		item.obj = obj
		heap.Fix(h.data, item.index)
		return
	}
	heap.Push(h.data, &heapItem{key: key, obj: obj})
}

// Close makes later adds fail, and makes Pop return an error once all objects are popped.
func (h *Heap) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.cond.Broadcast()
}

// IsClosed reports whether Close was called.
func (h *Heap) IsClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// Add queues an object. It replaces an object with the same key.
func (h *Heap) Add(obj interface{}) error { return h.add(obj, true) }

// Update does the same as Add.
func (h *Heap) Update(obj interface{}) error { return h.Add(obj) }

// BulkAdd adds several objects in one step. It stops at the first error; objects before it stay
// queued.
func (h *Heap) BulkAdd(list []interface{}) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errHeapClosed
	}
	defer h.cond.Broadcast()
	for _, obj := range list {
		key, err := h.key(obj)
		if err != nil {
			return err
		}
		h.putLocked(key, obj)
	}
	return nil
}

// AddIfNotPresent queues an object, unless the heap has an object with the same key.
func (h *Heap) AddIfNotPresent(obj interface{}) error { return h.add(obj, false) }

func (h *Heap) add(obj interface{}, replaces bool) error {
	key, err := h.key(obj)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errHeapClosed
	}
	if _, ok := h.data.items[key]; !ok || replaces {
		h.putLocked(key, obj)
	}
	h.cond.Broadcast()
	return nil
}

// Delete removes the object with the key of obj. Deleting an absent object is an error.
func (h *Heap) Delete(obj interface{}) error {
	key, err := h.key(obj)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	item, ok := h.data.items[key]
	if !ok {
		return errors.New("object not found")
	}
	heap.Remove(h.data, item.index)
	return nil
}

// Pop waits for an object, removes the least object and returns it. It returns an error if the heap
// is closed and empty.
func (h *Heap) Pop() (interface{}, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.data.queue) == 0 {
		if h.closed {
			return nil, errHeapClosed
		}
		h.cond.Wait()
	}
	return heap.Pop(h.data).(*heapItem).obj, nil
}

// List returns all objects, in no order.
func (h *Heap) List() []interface{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]interface{}, 0, len(h.data.queue))
	for _, item := range h.data.queue {
		list = append(list, item.obj)
	}
	return list
}

// ListKeys returns all keys, in no order.
func (h *Heap) ListKeys() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]string, 0, len(h.data.queue))
	for _, item := range h.data.queue {
		list = append(list, item.key)
	}
	return list
}

// Get calls GetByKey with the key of obj.
func (h *Heap) Get(obj interface{}) (interface{}, bool, error) {
	key, err := h.key(obj)
	if err != nil {
		return nil, false, err
	}
	return h.GetByKey(key)
}

// GetByKey returns the object with this key. The error is always nil.
func (h *Heap) GetByKey(key string) (interface{}, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	item, ok := h.data.items[key]
	if !ok {
		return nil, false, nil
	}
	return item.obj, true, nil
}
