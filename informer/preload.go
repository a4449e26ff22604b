package informer

import (
	"errors"
	"fmt"
	"iter"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/reflector"
)

var (
	errPreloadLate    = errors.New("informer: Preload must come before AddHandler and Run, and into an empty store")
	errPreloadVersion = errors.New("informer: Preload needs the resourceVersion through which the objects are complete")
)

// Preload fills the store with what an earlier process knew: all objects of the
// source as they were at resourceVersion. Package warmstart keeps that in a file.
// It comes after New and before anything else: no handler may have been added.
//
// Handlers are told of these objects as Added with cause Initial, as soon as the
// informer runs and whether or not the server answers. What has changed meanwhile
// follows as it does after a broken watch: from a watch that goes on where the
// earlier process was, without a list, or, where the server has forgotten that
// version (410), from a list that decodes only what changed, as true updates and
// deletes with cause Relist.
//
// The informer is synced when the server has agreed to such a watch, or when the
// list is in the store, and not before: preloaded objects alone are no sync. As the
// events of a watch follow one by one, a synced store may then still be where the
// earlier process was, for as long as it takes to read them; whoever needs more
// waits for a version, with WaitRV. A server whose versions are behind
// resourceVersion, such as another cluster or one restored from a backup, is
// listed.
//
// With an error, of an index function or because it comes too late, nothing is
// preloaded, and the informer begins with a list as usual.
//
// (It is no method, so that only programs that call it link what is behind it.)
func Preload[T any](i *Informer[T], entries iter.Seq[indexer.Entry[T]], resourceVersion string) error {
	if resourceVersion == "" || resourceVersion == "0" {
		return errPreloadVersion
	}
	i.mu.Lock()
	late := i.phase != created || i.named > 0 || i.store.ResourceVersion() != ""
	i.mu.Unlock()
	if late {
		return errPreloadLate
	}
	resumed := &resumed[T]{Source: i.source, store: i.store.Reader, version: resourceVersion}
	reflected, err := reflector.New(resumed, &sink[T]{i.queue, i.store, &i.gate}, i.opts.Reflector)
	if err != nil {
		return err
	}
	var ops []indexer.Op[T]
	for entry := range entries {
		ops = append(ops, indexer.Op[T]{Key: entry.Key, Object: entry.Object, ResourceVersion: entry.ResourceVersion, UIDHash: entry.UIDHash})
	}
	// The version last: with an object missing it would be a lie.
	if _, err := i.store.Apply(ops, ""); err != nil {
		_, _ = i.store.Replace(nil, "") // There is no object in it that could fail.
		return fmt.Errorf("informer: nothing is preloaded: %w", err)
	}
	_, _ = i.store.Apply(nil, resourceVersion) // As above.
	i.reflector = reflected
	return nil
}
