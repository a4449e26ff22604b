package view

import (
	"strconv"
	"time"
)

func serverNumbers(t *numberTable) {
	t.optionalGauge("server", "objects", "objects", "", "Objects of this resource on the server.",
		func(s *boxData) (float64, bool) {
			return float64(s.server.Objects), s.server.ResourceVersion != "" && s.server.Objects >= 0
		})
	t.optionalGauge("server", "window", "watchable past", "", "How many of the last versions a watch can start at. A watch from an older version gets 410 Gone.",
		func(s *boxData) (float64, bool) { return distance(s.server.Oldest, s.server.ResourceVersion) })
	t.optionalCounter("server", "received", "bytes received", "B", "Bytes from the server, for all resources, including headers and encryption.",
		func(s *boxData) (float64, bool) { return float64(s.traffic.BytesReceived), s.traffic.known })
	t.optionalCounter("server", "requests", "requests", "", "Requests to the server, for all resources.",
		func(s *boxData) (float64, bool) { return float64(s.traffic.Requests), s.traffic.known })
	t.optionalGauge("server", "connections", "connections", "", "Open connections.",
		func(s *boxData) (float64, bool) { return float64(s.traffic.Connections), s.traffic.known })
}

func reflectorNumbers(t *numberTable) {
	t.gauge("reflector", "synced", "synced", "bool", "Whether the store has the complete first list.",
		func(s *boxData) float64 { return boolNumber(s.informer.Synced) })
	t.optionalGauge("reflector", "lag", "versions behind", "", "How many writes the server has made since the reflector's version. Writes to other resources count as well.",
		func(s *boxData) (float64, bool) {
			return distance(s.informer.Reflector.ResourceVersion, s.server.ResourceVersion)
		})
	t.optionalGauge("reflector", "behind", "time behind", "s", "How long the server has had a newer version than the reflector, to a tenth of a second.",
		func(s *boxData) (float64, bool) {
			return s.lag.lag(s.informer.Reflector.ResourceVersion, time.Duration(s.now))
		})
	t.optionalGauge("reflector", "heard", "last heard", "s", "Time since the server last sent a list, an event or a bookmark.",
		func(s *boxData) (float64, bool) {
			heard := s.informer.Reflector.LastListAt
			if s.informer.Reflector.LastEventAt.After(heard) {
				heard = s.informer.Reflector.LastEventAt
			}
			return time.Since(heard).Seconds(), !heard.IsZero()
		})
	t.optionalGauge("reflector", "bookmark", "last bookmark", "s", "Time since the last bookmark. A bookmark is an event without an object; it contains the server's version.",
		func(s *boxData) (float64, bool) {
			at := s.rec.bookmarkAt.Load()
			return time.Duration(s.now - at).Seconds(), at > 0
		})
	t.counter("reflector", "events", "events", "Events of watches and streaming lists.", func(s *boxData) uint64 { return s.informer.Reflector.Events })
	t.counter("reflector", "bookmarks", "bookmarks", "Bookmarks: events without an object.", func(s *boxData) uint64 { return s.informer.Reflector.Bookmarks })
	t.counter("reflector", "listed", "objects listed", "Objects that lists have brought.", func(s *boxData) uint64 { return s.informer.Reflector.Listed })
	t.optionalCounter("reflector", "decoded", "objects decoded", "", "Decoded objects of lists and watches, for all resources.",
		func(s *boxData) (float64, bool) { return float64(s.traffic.Decoded), s.traffic.known })
	t.optionalCounter("reflector", "unchanged", "not decoded", "", "Objects of lists that were not decoded, because the store had them in the same version; for all resources.",
		func(s *boxData) (float64, bool) { return float64(s.traffic.Unchanged), s.traffic.known })
	t.counter("reflector", "watches", "watches", "Requests for a watch: the first one, and one more after each watch that has ended.", func(s *boxData) uint64 { return s.informer.Reflector.Watches })
	t.counter("reflector", "relists", "relists", "Lists after the first.", func(s *boxData) uint64 { return s.informer.Reflector.Relists })
	t.counter("reflector", "expired", "410 Gone", "Responses with 410 Gone (the version is too old), since the view began to count.", func(s *boxData) uint64 { return s.rec.expired.Load() })
	t.counter("reflector", "errors", "failed attempts", "Lists and watches that have failed.", func(s *boxData) uint64 { return s.informer.Reflector.Errors })
	t.gauge("reflector", "failures", "failures in a row", "", "Attempts that have failed since the last success.", func(s *boxData) float64 { return float64(s.informer.Reflector.Failures) })
}

func fifoNumbers(t *numberTable) {
	t.gauge("fifo", "keys", "keys on the shelf", "", "Objects with changes that the informer has not taken.", func(s *boxData) float64 { return float64(s.informer.Queue.Keys) })
	t.gauge("fifo", "deltas", "deltas", "", "Changes of the objects on the shelf.", func(s *boxData) float64 { return float64(s.informer.Queue.Deltas) })
	t.optionalGauge("fifo", "each", "deltas for a key", "", "How many changes an object on the shelf has on average.", func(s *boxData) (float64, bool) {
		return float64(s.informer.Queue.Deltas) / float64(s.informer.Queue.Keys), s.informer.Queue.Keys > 0
	})
	t.gauge("fifo", "inflight", "keys in the last batch", "", "Objects of the informer's current batch, or of the last one.", func(s *boxData) float64 { return float64(s.informer.Queue.InFlight) })
	t.gauge("fifo", "oldest", "oldest delta", "s", "How long the oldest change has been on the shelf.", func(s *boxData) float64 { return s.informer.Queue.OldestAge.Seconds() })
	t.counter("fifo", "queued", "deltas queued", "All changes that the reflector has queued so far.", func(s *boxData) uint64 { return s.informer.Queue.Queued })
	t.counter("fifo", "batches", "batches", "How often the informer has taken all changes from the shelf.", func(s *boxData) uint64 { return s.informer.Queue.Batches })
	t.counter("fifo", "merged", "deltas merged", "Changes that no handler gets: a change that a newer change has replaced, a delete after a delete, or the delete of an unknown object.",
		func(s *boxData) uint64 {
			return s.informer.Queue.Merged + s.informer.Queue.Collapsed + s.informer.Queue.Dropped
		})
	t.optionalGauge("fifo", "initial", "first list done", "%", "How much of the first list has arrived, if the server has reported the length of the list.",
		func(s *boxData) (float64, bool) {
			r := s.informer.Reflector
			if s.informer.Synced {
				return 100, true
			}
			return 100 * float64(r.Items) / float64(r.Total), r.Total > 0
		})
	t.time("fifo", "wait", "time on the shelf", "How long the oldest change of a batch was on the shelf.", func(r *recorder) []*histogram { return []*histogram{&r.fifoWait} })
}

func storeNumbers(t *numberTable) {
	t.gauge("store", "objects", "objects", "", "Objects in the store.", func(s *boxData) float64 { return float64(s.informer.Store.Objects) })
	t.optionalGauge("store", "bytes", "bytes, about", "B", "How large the objects would be as JSON, estimated from a sample every ten seconds.", func(s *boxData) (float64, bool) { return s.size() })
	t.optionalCounter("store", "omitted", "bytes left out", "B", "Bytes that a projection (rest.ResourceOptions.Project) has removed before objects were decoded, for all resources.",
		func(s *boxData) (float64, bool) { return float64(s.traffic.BytesOmitted), s.traffic.known })
	t.gauge("store", "namespaces", "namespaces", "", "Namespaces with objects.", func(s *boxData) float64 { return float64(s.informer.Store.Namespaces) })
	t.gauge("store", "indexes", "indexes", "", "Indexes, except the index of namespaces.", func(s *boxData) float64 { return float64(len(s.informer.Store.Indexes)) })
	t.gauge("store", "undecodable", "undecodable", "", "Objects that are missing, or old, because they cannot be decoded or indexed.", func(s *boxData) float64 { return float64(s.informer.Undecodable.Count) })
	t.optionalGauge("store", "lag", "versions behind", "", "How many writes the server has made since the store's version.",
		func(s *boxData) (float64, bool) {
			return distance(s.informer.Store.ResourceVersion, s.server.ResourceVersion)
		})
	t.optionalGauge("store", "behind", "time behind", "s", "How long the server has had a newer version than the store, to a tenth of a second.",
		func(s *boxData) (float64, bool) {
			return s.lag.lag(s.informer.Store.ResourceVersion, time.Duration(s.now))
		})
	t.gauge("store", "revision", "transactions", "", "How often the store has changed.", func(s *boxData) float64 { return float64(s.informer.Store.Revision) })
	t.counter("store", "added", "added", "Objects that were new.", func(s *boxData) uint64 { return s.informer.Store.Added })
	t.counter("store", "updated", "updated", "Objects that were replaced.", func(s *boxData) uint64 { return s.informer.Store.Updated })
	t.counter("store", "deleted", "deleted", "Objects that were removed.", func(s *boxData) uint64 { return s.informer.Store.Deleted })
	t.gauge("store", "waiting", "readers that wait", "", "Calls of WaitRV that wait until the store has a version.", func(s *boxData) float64 { return float64(s.informer.Store.Waiting) })
}

func handlersNumbers(t *numberTable) {
	t.gauge("handlers", "handlers", "handlers", "", "How many handlers the informer has.", func(s *boxData) float64 { return float64(len(s.informer.Handlers)) })
	t.gauge("handlers", "synced", "of them synced", "", "Handlers that have returned for every object of the first list.", func(s *boxData) (n float64) {
		for _, h := range s.informer.Handlers {
			n += boolNumber(h.Synced)
		}
		return n
	})
	t.gauge("handlers", "waiting", "events in mailboxes", "", "Events that have not reached their handlers yet.", func(s *boxData) (n float64) {
		for _, h := range s.informer.Handlers {
			n += float64(h.Waiting)
		}
		return n
	})
	t.gauge("handlers", "oldest", "oldest event", "s", "How long the oldest event in a mailbox has waited.", func(s *boxData) (oldest float64) {
		for _, h := range s.informer.Handlers {
			oldest = max(oldest, h.Oldest.Seconds())
		}
		return oldest
	})
	t.counter("handlers", "delivered", "calls", "Calls that have returned.", func(s *boxData) (n uint64) {
		for _, h := range s.informer.Handlers {
			n += h.Delivered
		}
		return n
	})
	t.counter("handlers", "coalesced", "events merged", "Events that were merged into another event of the same object, because a mailbox was full.", func(s *boxData) (n uint64) {
		for _, h := range s.informer.Handlers {
			n += h.Coalesced
		}
		return n
	})
	t.counter("handlers", "panics", "panics", "Calls that have panicked.", func(s *boxData) (n uint64) {
		for _, h := range s.informer.Handlers {
			n += h.Panics
		}
		return n
	})
	t.counter("handlers", "resyncs", "calls by resync", "Calls without a change: a resync calls the handler again for every object.", func(s *boxData) (n uint64) {
		for _, h := range s.informer.Handlers {
			n += h.Resyncs
		}
		return n
	})
	t.time("handlers", "wait", "time in a mailbox", "How long events wait for their handler.", func(r *recorder) []*histogram {
		return r.histogramsOf(func(t *handlerTimes) *histogram { return &t.wait })
	})
	t.time("handlers", "run", "time of a call", "How long handlers take.", func(r *recorder) []*histogram {
		return r.histogramsOf(func(t *handlerTimes) *histogram { return &t.run })
	})
}

func queueNumbers(t *numberTable) {
	t.gauge("queue", "ready", "ready", "", "Keys that wait for a worker.", func(s *boxData) float64 { return float64(s.queue.Ready) })
	t.gauge("queue", "delayed", "waiting", "", "Keys that wait for the end of a delay, such as after a failure.", func(s *boxData) float64 { return float64(s.queue.Delayed) })
	t.gauge("queue", "dirty", "dirty", "", "Keys that need a reconcile: the ready keys, and the keys that were added while a worker has them.", func(s *boxData) float64 { return float64(s.queue.Dirty) })
	t.gauge("queue", "processing", "processing", "", "Keys that a worker has.", func(s *boxData) float64 { return float64(s.queue.Processing) })
	t.gauge("queue", "parked", "parked", "", "Keys that wait for an event, for example until the store has received their write.", func(s *boxData) float64 { return float64(s.queue.Parked) })
	t.gauge("queue", "oldest", "oldest key", "s", "The longest time that a key has waited for a worker.", func(s *boxData) float64 { return s.queue.OldestReady.Seconds() })
	t.optionalGauge("queue", "tokens", "tokens", "", "Tokens in the bucket of the rate limiter, which all keys share. If there is no token, a retry waits for one. Below 0, retries have reserved tokens in advance.",
		func(s *boxData) (float64, bool) { return s.limits.Tokens, s.limits.Burst > 0 })
	t.counter("queue", "adds", "adds", "Keys that became dirty.", func(s *boxData) uint64 { return s.queue.Adds })
	t.counter("queue", "merged", "merged adds", "Adds of keys that were already dirty. Such a key is processed only once.", func(s *boxData) uint64 { return s.queue.Merged })
	t.counter("queue", "retries", "delayed adds", "Adds with a delay, including retries after a failure.", func(s *boxData) uint64 { return s.queue.Retries })
	t.time("queue", "wait", "time to a worker", "How long keys wait for a worker.", func(r *recorder) []*histogram { return []*histogram{&r.wait} })
}

func workersNumbers(t *numberTable) {
	t.gauge("workers", "workers", "workers", "", "How many workers the queue has.", func(s *boxData) float64 { return float64(s.queue.Workers) })
	t.optionalGauge("workers", "busy", "busy", "%", "Percentage of the workers that have a key.", func(s *boxData) (float64, bool) {
		return 100 * min(float64(s.queue.Processing)/float64(s.queue.Workers), 1), s.queue.Workers > 0
	})
	t.gauge("workers", "longest", "longest at a key", "s", "The longest time that a worker has had its current key.", func(s *boxData) float64 { return s.queue.LongestRunning.Seconds() })
	t.counter("workers", "done", "turns", "Reconciles that have ended.", func(s *boxData) uint64 { return s.queue.Dones })
	t.counter("workers", "succeeded", "successes", "Reconciles that ended without an error.", func(s *boxData) uint64 { return s.queue.Outcomes.Succeeded })
	t.counter("workers", "failures", "failures", "Reconciles that ended with an error or a panic.", func(s *boxData) uint64 { return s.queue.Failures })
	t.counter("workers", "panics", "panics", "Reconciles that ended with a panic.", func(s *boxData) uint64 { return s.queue.Panics })
	t.time("workers", "run", "time of a turn", "How long workers have a key.", func(r *recorder) []*histogram { return []*histogram{&r.run} })
}

// distance returns by how many versions the first argument is older than the second one. It returns
// false unless both are numbers.
func distance(behind, ahead string) (float64, bool) {
	a, errA := strconv.ParseUint(behind, 10, 64)
	b, errB := strconv.ParseUint(ahead, 10, 64)
	if errA != nil || errB != nil {
		return 0, false
	}
	return float64(b - min(a, b)), true
}
