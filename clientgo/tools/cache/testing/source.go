// Package framework has in-memory sources of objects, for tests.
package framework

import (
	"fmt"
	"math/rand"
	"strconv"
	"sync"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// objectID identifies an object by namespace, name and UID. A new object with the same name has
// another UID.
type objectID struct {
	namespace, name string
	uid             types.UID
}

// FakeControllerSource is a ListerWatcher of objects in memory. It assigns a version to each
// change, and keeps the changes since the last ResetWatch. A watch can begin at any of these
// changes.
type FakeControllerSource struct {
	lock        sync.RWMutex // guards the following fields
	Items       map[objectID]runtime.Object
	Broadcaster *watch.Broadcaster
	changes     []watch.Event // changes[0] has the version dropped+1
	dropped     int
	lastRV      int

	// ListError, if not nil, is the error of List.
	ListError error
}

// FakePVControllerSource is a FakeControllerSource of PersistentVolumes.
type FakePVControllerSource struct{ FakeControllerSource }

// FakePVCControllerSource is a FakeControllerSource of PersistentVolumeClaims.
type FakePVCControllerSource struct{ FakeControllerSource }

func newBroadcaster() *watch.Broadcaster { return watch.NewBroadcaster(100, watch.WaitIfChannelFull) }

// NewFakeControllerSource returns an empty source.
func NewFakeControllerSource() *FakeControllerSource {
	s := &FakeControllerSource{}
	s.Items, s.Broadcaster = map[objectID]runtime.Object{}, newBroadcaster()
	return s
}

// NewFakePVControllerSource returns an empty source.
func NewFakePVControllerSource() *FakePVControllerSource {
	s := &FakePVControllerSource{}
	s.Items, s.Broadcaster = map[objectID]runtime.Object{}, newBroadcaster()
	return s
}

// NewFakePVCControllerSource returns an empty source.
func NewFakePVCControllerSource() *FakePVCControllerSource {
	s := &FakePVCControllerSource{}
	s.Items, s.Broadcaster = map[objectID]runtime.Object{}, newBroadcaster()
	return s
}

// ResetWatch ends all watches and drops the changes so far.
func (f *FakeControllerSource) ResetWatch() {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.Broadcaster.Shutdown()
	f.Broadcaster = newBroadcaster()
	f.changes, f.dropped = nil, f.lastRV
}

// Add adds an object and sends the event to the watches.
func (f *FakeControllerSource) Add(obj runtime.Object) {
	f.Change(watch.Event{Type: watch.Added, Object: obj}, 1)
}

// Modify changes an object and sends the event to the watches.
func (f *FakeControllerSource) Modify(obj runtime.Object) {
	f.Change(watch.Event{Type: watch.Modified, Object: obj}, 1)
}

// Delete deletes an object and sends the event to the watches.
func (f *FakeControllerSource) Delete(lastValue runtime.Object) {
	f.Change(watch.Event{Type: watch.Deleted, Object: lastValue}, 1)
}

// AddDropWatch adds an object without an event.
func (f *FakeControllerSource) AddDropWatch(obj runtime.Object) {
	f.Change(watch.Event{Type: watch.Added, Object: obj}, 0)
}

// ModifyDropWatch changes an object without an event.
func (f *FakeControllerSource) ModifyDropWatch(obj runtime.Object) {
	f.Change(watch.Event{Type: watch.Modified, Object: obj}, 0)
}

// DeleteDropWatch deletes an object without an event.
func (f *FakeControllerSource) DeleteDropWatch(lastValue runtime.Object) {
	f.Change(watch.Event{Type: watch.Deleted, Object: lastValue}, 0)
}

// Change makes a change, sets the object's version, and sends the event with the probability
// watchProbability.
func (f *FakeControllerSource) Change(e watch.Event, watchProbability float64) {
	f.lock.Lock()
	defer f.lock.Unlock()
	o, err := meta.Accessor(e.Object)
	if err != nil {
		panic(err) // a test's mistake
	}
	f.lastRV++
	o.SetResourceVersion(strconv.Itoa(f.lastRV))
	key := objectID{o.GetNamespace(), o.GetName(), o.GetUID()}
	f.changes = append(f.changes, watch.Event{Type: e.Type, Object: e.Object.DeepCopyObject()})
	switch e.Type {
	case watch.Added, watch.Modified:
		f.Items[key] = e.Object
	case watch.Deleted:
		delete(f.Items, key)
	}
	if rand.Float64() < watchProbability {
		f.Broadcaster.Action(e.Type, e.Object.DeepCopyObject())
	}
}

// copies fills a list with copies of all objects.
func (f *FakeControllerSource) copies(list runtime.Object) (runtime.Object, error) {
	f.lock.RLock()
	defer f.lock.RUnlock()
	if f.ListError != nil {
		return nil, f.ListError
	}
	objs := make([]runtime.Object, 0, len(f.Items))
	for _, obj := range f.Items {
		objs = append(objs, obj.DeepCopyObject())
	}
	if err := meta.SetList(list, objs); err != nil {
		return nil, err
	}
	l, err := meta.ListAccessor(list)
	if err != nil {
		return nil, err
	}
	l.SetResourceVersion(strconv.Itoa(f.lastRV))
	return list, nil
}

// List returns a *v1.List of all objects, in no order.
func (f *FakeControllerSource) List(options metav1.ListOptions) (runtime.Object, error) {
	return f.copies(&v1.List{})
}

// List returns a *v1.PersistentVolumeList of all objects, in no order.
func (f *FakePVControllerSource) List(options metav1.ListOptions) (runtime.Object, error) {
	return f.copies(&v1.PersistentVolumeList{})
}

// List returns a *v1.PersistentVolumeClaimList of all objects, in no order.
func (f *FakePVCControllerSource) List(options metav1.ListOptions) (runtime.Object, error) {
	return f.copies(&v1.PersistentVolumeClaimList{})
}

// Watch returns the changes after a version. A version before the first remembered change has
// expired, even if no change is missing. So a client with an empty list of version 0 has to list
// again.
func (f *FakeControllerSource) Watch(options metav1.ListOptions) (watch.Interface, error) {
	f.lock.RLock()
	defer f.lock.RUnlock()
	from, err := strconv.Atoi(options.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if oldest := min(f.dropped+1, f.lastRV); from < oldest {
		return nil, apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", from, oldest))
	}
	if from > f.lastRV {
		return nil, fmt.Errorf("version %d is yet to come", from)
	}
	missed := make([]watch.Event, 0, len(f.changes))
	for _, e := range f.changes[from-f.dropped:] {
		missed = append(missed, watch.Event{Type: e.Type, Object: e.Object.DeepCopyObject()})
	}
	return f.Broadcaster.WatchWithPrefix(missed)
}

// IsWatchListSemanticsUnSupported returns true: a watch does not begin with the existing objects.
func (f *FakeControllerSource) IsWatchListSemanticsUnSupported() bool { return true }

// Shutdown ends all watches.
func (f *FakeControllerSource) Shutdown() { f.Broadcaster.Shutdown() }
