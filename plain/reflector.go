// The reflector. Connections break, servers restart, and a server remembers changes for some minutes only.
// The reflector turns one list and many watches into one story without a gap: list, watch from the list's
// version, and when a watch ends in good order, watch again from the last version that was heard. When
// anything else happens, it lists again, and the queue works out what was missed. A server that has forgotten
// the version answers 410 Gone: that is no accident but the normal way to be told "you are too late, begin
// again".

package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reflector keeps a queue in step with a collection of the server.
type Reflector[T metav1.Object] struct {
	client *Client[T]
	queue  *DeltaFIFO[T]
	failed func(error) // is told of each failure

	version string // of the last change that was heard, "0" before the first list
}

// Run works until ctx ends. The first failure after things went well is news, and the next attempt follows at
// once; after each further one it waits longer.
func (r *Reflector[T]) Run(ctx context.Context) {
	r.version = "0"
	for failures := 0; ctx.Err() == nil; {
		began := time.Now()
		err := r.listAndWatch(ctx)
		if ctx.Err() != nil {
			return
		}
		r.failed(err)
		r.version = "" // Only the newest list is surely not older than what was heard.
		if time.Since(began) > longestBackoff {
			failures = 0
		}
		if failures > 0 {
			wait(ctx, backoff(time.Second, longestBackoff, failures-1))
		}
		failures++
	}
}

// longestBackoff is the longest wait between two attempts, and how long an attempt has to go well for the
// failures before it to be forgotten.
const longestBackoff = 30 * time.Second

// listAndWatch lists once, and watches until something goes wrong.
func (r *Reflector[T]) listAndWatch(ctx context.Context) error {
	listing, cancel := context.WithTimeout(ctx, time.Minute)
	items, version, err := r.client.List(listing, r.version)
	cancel()
	if err != nil {
		return err
	}
	if err := r.queue.Replace(items, version); err != nil {
		return err
	}
	for r.version = version; ; {
		began := time.Now()
		if err := r.watch(ctx); !errors.Is(err, io.EOF) {
			return err
		}
		if time.Since(began) < time.Second { // It would be asked again without a pause.
			return errors.New("the watch ended at once")
		}
	}
}

// watch reads one watch to its end, which is io.EOF where the server ended it in good order.
func (r *Reflector[T]) watch(ctx context.Context) error {
	// Five to ten minutes: clients that began together do not end together. A connection may die without a
	// word: then the timeout ends it.
	seconds := 300 + rand.IntN(300)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second+30*time.Second)
	defer cancel()
	watch, err := r.client.Watch(ctx, r.version, seconds)
	if err != nil {
		return err
	}
	defer watch.Close()
	for {
		change, err := watch.Next()
		if err != nil {
			return err
		}
		version := change.Object.GetResourceVersion()
		if change.Type == "BOOKMARK" {
			r.queue.Bookmark(version)
		} else if delta, known := deltaTypes[change.Type]; !known {
			return fmt.Errorf("the watch has an event of type %q", change.Type)
		} else if err := r.queue.Change(delta, change.Object); err != nil {
			return err
		}
		r.version = version
	}
}

var deltaTypes = map[string]DeltaType{"ADDED": Added, "MODIFIED": Updated, "DELETED": Deleted}

// What package reflector does beyond this:
//
//   - Its states and its answers to each failure are one table, which tests and the documentation share.
//   - It lists again only when it must: after 410 and when something was lost. A connection that broke is
//     opened again at the same version. After an outage, ten thousand reflectors of this kind list everything
//     from etcd at once.
//   - It hears silence: a connection that is alive and says nothing, a watch that never reaches its version.
//   - It notices a server that has gone back in time, as after a restore from a backup.
//   - Failures of the connection, of the request, and forbidden ones wait differently; the server's
//     Retry-After is kept.
