package view

import (
	"slices"
	"time"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// entry is an informer or a queue in the view.
type entry interface{ entryName() string }

func (p *informerEntry) entryName() string { return p.name }
func (q *queueEntry) entryName() string    { return q.name }

// hasEntry(parts, name) reports whether one of the entries has the name.
func hasEntry[P entry](parts []P, name string) bool {
	return slices.ContainsFunc(parts, func(p P) bool { return p.entryName() == name })
}

// informerEntry is an informer in the view.
type informerEntry struct {
	name   string // unique among the informers of the view
	rec    *recorder
	status func() informer.Status
	store  objectStore // nil if the store cannot be queried
}

// queueEntry is a queue in the view.
type queueEntry struct {
	name  string // unique among the queues of the view
	rec   *recorder
	stats func() workqueue.Stats
	keys  func() inspectedKeys // nil if the keys cannot be inspected

	// limits returns the limits of the queue's rate limiter. It is nil if they are not known.
	limits func() workqueue.Limits

	// sources are the names of the informers whose handlers fill the queue; empty means all.
	sources []string
}

// traffic is the traffic of all clients of the program.
type traffic struct {
	rest.Stats
	known bool
}

func sumTraffic(clients []*rest.Client) (all traffic) {
	for _, c := range clients {
		s := c.Stats()
		all.known = true
		all.Requests += s.Requests
		all.Connections += s.Connections
		all.BytesReceived += s.BytesReceived
		all.BytesOmitted += s.BytesOmitted
		all.Decoded += s.Decoded
		all.Unchanged += s.Unchanged
	}
	return all
}

// A frame has at most maxShownQueueKeys keys of a queue. A queue with more than maxInspectedKeys is
// not inspected, because that would hold its lock for too long.
const (
	maxShownQueueKeys = 60
	maxInspectedKeys  = 2000
)

func countKeys(s workqueue.Stats) int { return s.Processing + s.Ready + s.Delayed + s.Parked }

// inspect returns the keys of the queue. It returns nothing if the queue cannot be inspected, or if
// it has too many keys.
func (q *queueEntry) inspect(s workqueue.Stats) inspectedKeys {
	if n := countKeys(s); q.keys == nil || n == 0 || n > maxInspectedKeys {
		return inspectedKeys{}
	}
	return q.keys()
}

// inspectedKeys are the keys of a queue at one moment.
type inspectedKeys struct {
	list []Key // the first keys

	// failing is the number of keys with at least manyFailures consecutive failures. worst is the
	// key with the most failures.
	failing int
	worst   Key
}

// manyFailures is the number of consecutive failures that counts as a problem. One or two failures
// may be conflicts.
const manyFailures = 3

// keysOf returns a function that inspects the keys of a queue.
func keysOf[K comparable](q *workqueue.Queue[K]) func() inspectedKeys {
	return func() (i inspectedKeys) {
		now := time.Now()
		states := q.Inspect()
		keys := make([]Key, 0, min(len(states), maxShownQueueKeys))
		for _, s := range states {
			if s.Retries >= manyFailures {
				i.failing++
				if s.Retries > i.worst.Retries {
					i.worst = Key{Key: nameOf(s.Key), Retries: s.Retries}
				}
			}
		}
		for _, s := range states[:min(len(states), maxShownQueueKeys)] {
			k := Key{Key: nameOf(s.Key), Processing: s.Processing, Dirty: s.Dirty, Ready: s.Ready, Parked: s.Parked,
				Adds: s.Causes.Count, Retries: s.Retries, Priority: s.Priority}
			switch {
			case s.Processing && !s.Started.IsZero():
				k.Age = max(now.Sub(s.Started), 0).Seconds()
			case s.Ready && !s.ReadySince.IsZero():
				k.Age = max(now.Sub(s.ReadySince), 0).Seconds()
			case !s.Until.IsZero():
				k.DueIn = max(s.Until.Sub(now), 0).Seconds()
			case !s.Cooling.IsZero():
				k.DueIn = max(s.Cooling.Sub(now), 0).Seconds()
			}
			keys = append(keys, k)
		}
		i.list = keys
		return i
	}
}
