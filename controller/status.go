package controller

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// Status is the state of a manager and of all its parts. Each part's state is consistent in itself,
// but the parts are read one after another.
type Status struct {
	// Name is Options.Name.
	Name string

	// Ready is the result of [Manager.Ready].
	Ready error

	// Stage is the stage of Run. It is Always before the caches are complete and after the
	// controllers have stopped. It is Synced while this process does not lead, and Leading while
	// its controllers run. Stopping is true once the controllers have stopped.
	Stage    Stage
	Stopping bool

	// Clusters has the manager's cluster first, and then the other clusters of its caches.
	Clusters []ClusterStatus

	// Controllers and Parts are in the order in which they were added.
	Controllers []ControllerStatus
	Parts       []PartStatus

	// Elector is Options.Elector, or nil.
	Elector Elector
}

// ClusterStatus is the state of a manager's caches of one cluster.
type ClusterStatus struct {
	Client *rest.Client
	Caches []informer.SharedStatus
}

// ControllerStatus is the state of a controller.
type ControllerStatus struct {
	Name string

	// Workers is Settings.Workers, whether or not they currently run.
	Workers int

	Queue workqueue.Stats

	// PendingWrites is the number of writes that keys currently wait for, see Client. HeldKeys
	// lists the waits by waiting time, longest first, at most 100. UnseenWrites counts the waits
	// that ended without the write: after two minutes, or because the cache could no longer see the
	// write.
	PendingWrites int
	HeldKeys      []HeldKey
	UnseenWrites  uint64

	// Undelivered is the number of objects with events that a function of the program has not
	// handled, because it panicked or called runtime.Goexit. The events are delivered again with
	// back-off.
	Undelivered int
}

// HeldKey is a key that is held back until a cache has a write.
type HeldKey struct {
	Key types.NamespacedName

	// Cache is the name of the cache, and Object the key of the written object.
	Cache  string
	Object types.NamespacedName

	// For is how long the key has waited for this write.
	For time.Duration
}

// PartStatus is the state of a part, see [Manager.Add].
type PartStatus struct {
	Name string
	PartOptions

	// Failed is the error of an optional part that currently does not run.
	Failed error
}

// Status returns the state of the manager and of all its parts. It is cheap enough to be called
// every second for a metric or a page.
func (m *Manager) Status() Status {
	s := Status{Name: m.opts.Name, Ready: m.Ready(), Elector: m.opts.Elector}
	m.mu.Lock()
	s.Stage, s.Stopping = m.stage, m.stopping
	factories, controllers := m.clusters, m.controllers // Neither slice is changed in place.
	for _, p := range m.parts {
		s.Parts = append(s.Parts, PartStatus{p.name, p.opts, p.err})
	}
	m.mu.Unlock()

	s.Clusters = []ClusterStatus{{Client: m.client}}
	for _, f := range factories {
		if f.client == m.client {
			s.Clusters[0].Caches = f.factory.Status()
		} else {
			s.Clusters = append(s.Clusters, ClusterStatus{f.client, f.factory.Status()})
		}
	}
	for _, c := range controllers {
		s.Controllers = append(s.Controllers, c.status())
	}
	return s
}

func (c *Controller[T]) status() ControllerStatus {
	c.manager.mu.Lock()
	deliveries := c.deliveries // The slice is not changed in place.
	c.manager.mu.Unlock()
	s := ControllerStatus{Name: c.controllerName, Workers: c.settings.Workers, Queue: c.queue.Stats()}
	for _, d := range deliveries {
		s.Undelivered += d.undelivered()
	}
	c.writeWaits.status(&s)
	return s
}

// healthy returns an error that names a key with a slow or an unseen write.
func (c *Controller[T]) healthy() error { return c.writeWaits.healthy() }
