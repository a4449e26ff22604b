package informer

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"slices"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/reflector"
)

var (
	errPreloadLate    = errors.New("informer: Preload must come before AddHandler and Run, and into an empty store")
	errPreloadNil     = errors.New("informer: Preload needs an informer, and entries or a function that loads them")
	errPreloadVersion = errors.New("informer: Preload needs the resourceVersion through which the objects are complete")
)

// Preload has an informer begin with what an earlier process knew: all objects of the
// source as they were at resourceVersion. Package warmstart keeps that in a file. It
// comes after New and before anything else: no handler may have been added.
//
// Nothing is shown before the server has agreed: neither store nor handlers have the
// objects while the server cannot be reached, does not accept our credentials (401), or
// does not let us read the resource (403). Then they are in the store, handlers are told
// of them as Added with cause Initial, and what has changed meanwhile follows as it does
// after a broken watch: from a watch that goes on where the earlier process was, without
// a list, or from a list that decodes only what changed, as true updates and deletes
// with cause Relist. That list comes where the server has forgotten the version (410),
// or does not let the resource be watched.
//
// The objects are not used, and the informer begins with a list as usual, where
//
//   - the server's version is behind resourceVersion, as that of another cluster, or of
//     one that was restored from a backup, may be;
//   - the server's history is another one: it does not have the last change of the
//     objects, in that version, or has changes after it and up to resourceVersion that
//     they do not show. An empty store has no last change;
//   - a part of a merged source may be neither watched nor listed any more.
//
// A server that has forgotten its history can be found to have another one only by the
// list, when the objects have been shown: one that is listed in a version up to
// resourceVersion must be among them, in that version. Else another list replaces all
// of them.
//
// Where an index function refuses an object, that one is missing, and a list follows.
// What remains unnoticed is another history in which the same object was the last that
// changed up to resourceVersion, in the same version; and one that is forgotten, in which
// all objects that have not changed since have the versions that they had.
//
// The informer is synced when the server has agreed to such a watch, or when the
// list is in the store, and not before: preloaded objects alone are no sync. As the
// events of a watch follow one by one, a synced store may then still be where the
// earlier process was, for as long as it takes to read them; whoever needs more
// waits for a version, with WaitRV.
//
// (It is no method, so that only programs that call it link what is behind it.)
func Preload[T any](i *Informer[T], entries iter.Seq[indexer.Entry[T]], resourceVersion string) error {
	if resourceVersion == "" || resourceVersion == "0" {
		return errPreloadVersion
	}
	if entries == nil {
		return errPreloadNil
	}
	all := slices.Collect(entries)
	return preload(i, false, func(map[string]string) ([]indexer.Entry[T], string, error) { return all, resourceVersion, nil })
}

// PreloadFrom is [Preload] of objects that are loaded when the server has been asked
// what it is: load is called in Run, with the description of the source, nil where
// that is no listwatch.Describer; and again only if that has changed before the server has agreed.
// It holds Run up for as long as it takes. After an error of load, which is logged (one
// that wraps fs.ErrNotExist at INFO), the informer begins with a list.
func PreloadFrom[T any](i *Informer[T], load func(description map[string]string) (entries []indexer.Entry[T], resourceVersion string, err error)) error {
	return preload(i, true, load)
}

func preload[T any](i *Informer[T], describe bool, load func(map[string]string) ([]indexer.Entry[T], string, error)) error {
	if i == nil || load == nil {
		return errPreloadNil
	}
	i.mu.Lock()
	late := i.phase != created || i.named > 0 || i.store.ResourceVersion() != "" || i.preloads
	i.mu.Unlock()
	if late {
		return errPreloadLate
	}
	source := sources.Resume(i.source, sources.Resumption[T]{
		Load: func(description map[string]string) ([]indexer.Entry[T], string, error) {
			entries, version, err := load(description)
			if err == nil && (version == "" || version == "0") {
				err = errPreloadVersion
			}
			return entries, version, err
		},
		Describe: describe,
		Fill:     i.fill,
		Store:    i.store.Reader,
		Refused:  i.beginWithList,
	})
	reflected, err := reflector.New(source, &sink[T]{i.queue, i}, i.opts.Reflector)
	if err != nil {
		return err
	}
	i.mu.Lock()
	i.preloads = true
	i.mu.Unlock()
	i.reflector = reflected
	return nil
}

// fill puts objects into the store before the first list, and lets handlers know. After
// an error, those are missing that an index function has refused.
func (i *Informer[T]) fill(entries []indexer.Entry[T], resourceVersion string) error {
	ops := make([]indexer.Op[T], 0, len(entries))
	for _, entry := range entries {
		ops = append(ops, indexer.Op[T]{Key: entry.Key, Object: entry.Object, ResourceVersion: entry.ResourceVersion, UIDHash: entry.UIDHash})
	}
	revision, err := i.store.Apply(ops, "")
	if err == nil { // With an object missing it would be a lie.
		_, _ = i.store.Apply(nil, resourceVersion) // There is no object in it that could fail.
	}
	i.mu.Lock()
	registrations := i.registrations
	i.mu.Unlock()
	for _, r := range registrations {
		if !r.first.has(revision) {
			r.mailbox.postSnapshot(i.store.Snapshot())
		}
	}
	return err
}

// beginWithList says why nothing is preloaded. That there is no file yet is how everything begins.
func (i *Informer[T]) beginWithList(why error) {
	level := slog.LevelWarn
	if errors.Is(why, fs.ErrNotExist) {
		level = slog.LevelInfo
	}
	i.opts.Logger.Log(context.Background(), level, "nothing is preloaded, the informer begins with a list", "informer", i.opts.Name, "err", why)
}
