package metrics

import (
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/workqueue"
)

// stages are the stages of a manager.
var stages = []controller.Stage{controller.Always, controller.Synced, controller.Leading}

var managerMetrics = func() snapshotMetrics[controller.Status] {
	r := snapshotMetrics[controller.Status]{part: []string{"manager"}}
	r.gauge("kinform_manager_ready", "Whether the manager is ready (method Ready): 1, or 0.", func(s controller.Status) float64 { return boolValue(s.Ready == nil) })
	r.gauges("kinform_manager_stage", "1 for the current stage of the manager, 0 for the others. Workers run in the stage leading.",
		func(s controller.Status, set func(float64, ...string)) {
			for _, stage := range stages {
				set(boolValue(s.Stage == stage), stage.String())
			}
		}, "stage")
	r.gauge("kinform_manager_stopping", "Whether the manager is shutting down: 1, or 0.", func(s controller.Status) float64 { return boolValue(s.Stopping) })
	r.gauges("kinform_manager_part_failed", "Whether an optional part has failed and will be restarted: 1, or 0.",
		func(s controller.Status, set func(float64, ...string)) {
			for _, p := range s.Parts {
				if p.Optional {
					set(boolValue(p.Failed != nil), p.Name)
				}
			}
		}, "part")
	return r
}()

var controllerMetrics = func() snapshotMetrics[controller.ControllerStatus] {
	r := snapshotMetrics[controller.ControllerStatus]{part: []string{"controller"}}
	r.gauge("kinform_controller_held_writes", "Writes that keys wait for, until a cache has them.", func(s controller.ControllerStatus) float64 { return float64(s.PendingWrites) })
	r.gauge("kinform_controller_longest_hold_seconds", "The longest time that a key has waited for its own write; 0 if no key waits.",
		func(s controller.ControllerStatus) float64 {
			if len(s.HeldKeys) == 0 {
				return 0
			}
			return s.HeldKeys[0].For.Seconds()
		})
	r.counter("kinform_controller_unseen_writes_total", "Waits that ended without the write, after two minutes or because the cache can no longer receive the write.",
		func(s controller.ControllerStatus) uint64 { return s.UnseenWrites })
	r.gauge("kinform_controller_undelivered_objects", "Objects with events that are not handled because a predicate or a mapping function panicked.",
		func(s controller.ControllerStatus) float64 { return float64(s.Undelivered) })
	return r
}()

// Manager adds a manager with all of its parts: clients, caches with all of their stages, and the
// queues of its controllers. It includes the lease if the manager's Elector is a *lease.Elector.
// Parts that are added to the manager later are included.
//
// The label "manager" has the manager's Name. The label "client" has the value manager for the
// manager's own client. For the clients of other clusters it has the values cluster-1 and so on.
//
// A manager does not know its event recorders: see [Metrics.Recorder]. Histograms also need
// observers: see [Metrics.ControllerObserver] and [Metrics.ClientObserver].
func (m *Metrics) Manager(manager *controller.Manager) (remove func()) {
	depths := newCappedMap(m.opts.MaxParts, other, func(string) *clientGoDepth { return newClientGoDepth() })
	return m.add(func(c *scrapeState) {
		s := manager.Status()
		labels, ok := c.part("manager", s.Name)
		if !ok {
			return
		}
		managerMetrics.emit(c, s, labels)
		for i, cluster := range s.Clusters {
			name := "manager"
			if i > 0 {
				name = "cluster-" + strconv.Itoa(i)
			}
			collectClient(c, name, cluster.Client.Stats())
			collectFactory(c, cluster.Caches)
		}
		for _, k := range s.Controllers {
			k.Queue.Name = k.Name
			m.collectQueue(c, k.Queue, depths.get(k.Name))
			if labels, ok := c.part("controller", k.Name); ok {
				controllerMetrics.emit(c, k, labels)
				if m.opts.ClientGoNames {
					clientGoControllerMetrics.emit(c, clientGoController{k.Queue, k.Workers}, labels)
				}
			}
		}
		if e, ok := s.Elector.(interface{ Stats() lease.Stats }); ok {
			m.collectElector(c, e.Stats())
		}
	})
}

// ControllerObserver returns an observer for controller.Options, which updates the histograms of
// all controllers and caches of a manager.
func (m *Metrics) ControllerObserver() *controller.Observer {
	return &controller.Observer{
		Queue: func(name string, next *workqueue.Observer[types.NamespacedName]) *workqueue.Observer[types.NamespacedName] {
			times := m.queueTimes(name)
			if f := m.observers.clientGo; f != nil {
				times.run = append(times.run, f.reconcileTime.WithLabelValues(m.observers.named("queue", name)))
			}
			return observeQueue(times, next)
		},
		Cache: func(name string, next controller.CacheObservers) controller.CacheObservers {
			next.Informer = m.InformerObserver(name, next.Informer)
			next.Reflector = m.ReflectorObserver(name, next.Reflector)
			next.Queue = m.FIFOObserver(name, next.Queue)
			return next
		},
	}
}
