package view

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/internal/hooks"
	"github.com/kinform/kinform/workqueue"
)

// ControllerObserver returns an observer for controller.Options. With it, the page shows events and
// times of all caches and controllers of a manager. The observer also calls next, which may be nil.
func (v *View) ControllerObserver(next *controller.Observer) *controller.Observer {
	o := hooks.CopyOf(next)
	o.Queue = func(name string, observer *workqueue.Observer[types.NamespacedName]) *workqueue.Observer[types.NamespacedName] {
		if next != nil && next.Queue != nil {
			observer = next.Queue(name, observer)
		}
		return QueueObserver(v, name, observer)
	}
	o.Cache = func(name string, c controller.CacheObservers) controller.CacheObservers {
		if next != nil && next.Cache != nil {
			c = next.Cache(name, c)
		}
		c.Informer, c.Reflector, c.Queue = v.recorders.informers.create(name).observe(c.Informer, c.Reflector, c.Queue)
		return c
	}
	o.Enqueue = func(name, cache string, queue enqueue.Queue) (enqueue.Queue, func(types.NamespacedName, string)) {
		v.feeds.add(name, cache)
		if next != nil && next.Enqueue != nil {
			return next.Enqueue(name, cache, queue)
		}
		return nil, nil
	}
	return o
}

// Manager adds all caches, controllers and clients of a manager, including later ones. Their events
// are shown if the manager's Observer is from [View.ControllerObserver].
func (v *View) Manager(m interface{ Status() controller.Status }) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sources = append(v.sources, func() (informers []*informerEntry, queues []*queueEntry) {
		status := m.Status()
		for _, cluster := range status.Clusters {
			v.Client(cluster.Client)
			informers = append(informers, v.sharedInformers(cluster.Caches)...)
		}
		for _, c := range status.Controllers {
			queues = append(queues, &queueEntry{name: c.Name, rec: v.recorders.queues.forName(c.Name),
				stats: func() workqueue.Stats { return c.Queue }, sources: cleanAll(v.feeds.cachesOf(c.Name))})
		}
		return informers, queues
	})
}

// Factory adds all informers of a factory, including later ones. Their events are shown if they
// were acquired with [InformerOptions] of this view and a unique Options.Name. If several informers
// have the same name, all of them show the events of the newest one.
func (v *View) Factory(f interface {
	Status() []informer.SharedStatus
}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sources = append(v.sources, func() ([]*informerEntry, []*queueEntry) { return v.sharedInformers(f.Status()), nil })
}

// sharedInformers returns the current informers of a factory.
func (v *View) sharedInformers(all []informer.SharedStatus) (informers []*informerEntry) {
	for _, s := range all {
		informers = append(informers, &informerEntry{name: s.Name, rec: v.recorders.informers.forName(s.Name), status: func() informer.Status { return s.Status }})
	}
	return informers
}

// cacheFeeds records which caches feed which controllers of a manager.
type cacheFeeds struct {
	mu  sync.Mutex // guards following
	all map[string][]string
}

func (f *cacheFeeds) add(controller, cache string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[string][]string{}
	}
	if !slices.Contains(f.all[controller], cache) {
		f.all[controller] = append(f.all[controller], cache)
	}
}

func (f *cacheFeeds) cachesOf(controller string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.all[controller])
}
