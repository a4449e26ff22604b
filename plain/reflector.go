// The reflector. Connections break, servers restart, and a server keeps changes for only some
// minutes. The reflector joins one list and many watches into one history without a gap. It lists,
// and then watches from the list's version. When a watch ends normally, it watches again from the
// last version that it has received. When anything else happens, it lists again, and the queue
// finds the missed changes. A server that has dropped the version responds with 410 Gone. This code
// means "you are too late, list again".

package plain

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reflector keeps a queue in step with a collection of the server.
type Reflector[T metav1.Object] struct {
	client *Client[T]
	queue  *DeltaFIFO[T]
	failed func(error) // is called for each failure

	version string // of the last received change, "0" before the first list
}

// longestBackoff is the longest wait between two attempts. An attempt that succeeds for this long
// resets the count of failures.
const longestBackoff = 30 * time.Second

// Run works until ctx ends. After a first failure the next attempt follows at once, because a watch
// may break although the server works. After each further consecutive failure Run waits longer.
func (r *Reflector[T]) Run(ctx context.Context) {
	r.version = "0"
	for failures := 0; ctx.Err() == nil; failures++ {
		if failures > 1 {
			wait(ctx, backoff(time.Second, longestBackoff, failures-2))
		}
		began := time.Now()
		err := r.listAndWatch(ctx)
		if ctx.Err() != nil {
			return
		}
		r.failed(err)
		// Requests the newest list; any other list may be older than the received changes.
		r.version = ""
		if time.Since(began) > longestBackoff {
			failures = 0
		}
	}
}

// listAndWatch lists once, and watches until something fails, for example with a 410.
func (r *Reflector[T]) listAndWatch(ctx context.Context) error {
	listing, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	items, version, err := r.client.List(listing, r.version)
	if err != nil {
		return err
	}
	if err := r.queue.Replace(items, version); err != nil {
		return err
	}
	for r.version = version; ; {
		began := time.Now()
		if err := r.watch(ctx); err != nil {
			return err
		}
		if time.Since(began) < time.Second {
			// without the error, the next watch would follow at once
			return errors.New("the watch ended at once")
		}
	}
}

// watch opens one watch, for five to ten minutes. The time is random, so that clients that began
// together do not reconnect together. The timeout also ends a watch whose connection has died
// silently.
func (r *Reflector[T]) watch(ctx context.Context) error {
	seconds := 300 + rand.IntN(300)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds+30)*time.Second)
	defer cancel()
	return r.client.Watch(ctx, r.version, seconds, r.changed)
}

// changed queues a change, and remembers its version for the next watch.
func (r *Reflector[T]) changed(change Change[T]) (err error) {
	version := change.Object.GetResourceVersion()
	switch change.Type {
	case "ADDED":
		err = r.queue.Change(Added, change.Object)
	case "MODIFIED":
		err = r.queue.Change(Updated, change.Object)
	case "DELETED":
		err = r.queue.Change(Deleted, change.Object)
	case "BOOKMARK":
		r.queue.Bookmark(version)
	default:
		err = fmt.Errorf("the watch has an event of type %q", change.Type)
	}
	if err == nil {
		r.version = version
	}
	return err
}

// Package reflector does more than this file, for these reasons:
//
//   - A table lists the next state for each state and each reply. The tests and the documentation
//     use this table.
//   - It lists again only when it must, for example after a 410. When a connection breaks, it opens
//     the next watch at the same version. After an outage, ten thousand reflectors like this one
//     would list everything from etcd at once.
//   - It notices a connection that is open but sends nothing.
//   - It notices that a server's state has gone back in time, for example after a restore from a
//     backup.
//   - It waits differently after failures of the connection, failures of the request, and forbidden
//     requests. It respects the server's Retry-After.
