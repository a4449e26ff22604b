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
// times of all caches and controllers of a manager. It also calls the observer next, which may be
// nil.
func (v *View) ControllerObserver(next *controller.Observer) *controller.Observer {
	o := hooks.Copied(next)
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
		c.Informer, c.Reflector, c.Queue = v.recorders.informers.make(name).observe(c.Informer, c.Reflector, c.Queue)
		return c
	}
	o.Fill = func(name, cache string, queue enqueue.Queue) (enqueue.Queue, func(types.NamespacedName, string)) {
		v.fed.add(name, cache)
		if next != nil && next.Fill != nil {
			return next.Fill(name, cache, queue)
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
	v.sources = append(v.sources, func() (informers []*informerPart, queues []*queuePart) {
		status := m.Status()
		for _, cluster := range status.Clusters {
			v.Client(cluster.Client)
			informers = append(informers, v.shared(cluster.Caches)...)
		}
		for _, c := range status.Controllers {
			queues = append(queues, &queuePart{name: c.Name, rec: v.recorders.queues.of(c.Name),
				stats: func() workqueue.Stats { return c.Queue }, fedBy: cleaned(v.fed.by(c.Name))})
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
	v.sources = append(v.sources, func() ([]*informerPart, []*queuePart) { return v.shared(f.Status()), nil })
}

// shared returns the current informers of a factory.
func (v *View) shared(all []informer.SharedStatus) (informers []*informerPart) {
	for _, s := range all {
		informers = append(informers, &informerPart{name: s.Name, rec: v.recorders.informers.of(s.Name), status: func() informer.Status { return s.Status }})
	}
	return informers
}

// feeds records which caches feed which controllers of a manager.
type feeds struct {
	mu  sync.Mutex // guards following
	all map[string][]string
}

func (f *feeds) add(controller, cache string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[string][]string{}
	}
	if !slices.Contains(f.all[controller], cache) {
		f.all[controller] = append(f.all[controller], cache)
	}
}

func (f *feeds) by(controller string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.all[controller])
}
