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
	errPreloadLate    = errors.New("informer: call Preload before AddHandler and Run, while the store is empty")
	errPreloadNil     = errors.New("informer: Preload needs an informer, and entries or a function that loads them")
	errPreloadVersion = errors.New("informer: Preload needs the resourceVersion through which the objects are complete")
)

// Preload makes an informer begin with the objects of an earlier process: all objects of the
// source, as they were at resourceVersion. Package warmstart keeps them in a file. Call it after
// New and before anything else: no handler may have been added.
//
// The store stays empty, and handlers receive nothing, until the server agrees to continue from
// resourceVersion. This includes the time while the server is unreachable, refuses the credentials
// (401), or forbids reading the resource (403). When the server agrees, the objects are stored, and
// handlers receive them as Added with cause Initial. Changes since resourceVersion follow as after
// a broken watch. Either a watch resumes at resourceVersion without a list, or a list decodes only
// the changed objects and reports true updates and deletes with cause Relist. The list is needed if
// the version has expired (410), or the resource cannot be watched.
//
// The objects are not used, and the informer begins with a normal list, if
//
//   - the server's version is lower than resourceVersion, as in another cluster or after a
//     restore from a backup;
//   - the server has another history: it does not have the last change of the objects at that
//     version, or has changes between it and resourceVersion that the objects lack. An empty store
//     has no last change.
//   - the server now forbids both watching and listing a part of a merged source.
//
// "Preloaded objects" in the package comment says which other histories can be detected, and when
// the informer is synced.
//
// (Preload is a function and not a method, so that programs that do not call it do not link its
// code.)
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

// PreloadFrom is [Preload] for objects that are loaded after the server has identified itself. Run
// calls the function load with the description of the source, or nil if the source is not a
// listwatch.Describer. Run calls the function again only if the description changes before the
// server has agreed. Run waits for load. An error of load is logged (one that wraps fs.ErrNotExist
// at INFO), and the informer begins with a list.
func PreloadFrom[T any](i *Informer[T], load func(description map[string]string) (entries []indexer.Entry[T], resourceVersion string, err error)) error {
	return preload(i, true, load)
}

func preload[T any](i *Informer[T], describe bool, load func(map[string]string) ([]indexer.Entry[T], string, error)) error {
	if i == nil || load == nil {
		return errPreloadNil
	}
	i.mu.Lock()
	tooLate := i.phase != created || i.handlerCount > 0 || i.store.ResourceVersion() != "" || i.preloads
	i.mu.Unlock()
	if tooLate {
		return errPreloadLate
	}
	source := sources.Resume(i.source, sources.ResumeOptions[T]{
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
		Refused:  i.logNotPreloaded,
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

// fill stores objects before the first list, and notifies handlers. An error names the objects that
// an index function refused; the store lacks them.
func (i *Informer[T]) fill(entries []indexer.Entry[T], resourceVersion string) error {
	ops := make([]indexer.Op[T], 0, len(entries))
	for _, entry := range entries {
		ops = append(ops, indexer.Op[T]{Key: entry.Key, Object: entry.Object, ResourceVersion: entry.ResourceVersion, UIDHash: entry.UIDHash})
	}
	revision, err := i.store.Apply(ops, "")
	if err == nil { // If an object is missing, the store must not claim this version.
		_, _ = i.store.Apply(nil, resourceVersion) // It cannot fail, because it stores no object.
	}
	i.mu.Lock()
	registrations := i.registrations
	i.mu.Unlock()
	for _, r := range registrations {
		if revision > r.startRevision {
			r.mailbox.postSnapshot(i.store.Snapshot())
		}
	}
	return err
}

// logNotPreloaded logs why nothing is preloaded. A file that does not exist yet is normal, and is
// logged at INFO.
func (i *Informer[T]) logNotPreloaded(reason error) {
	level := slog.LevelWarn
	if errors.Is(reason, fs.ErrNotExist) {
		level = slog.LevelInfo
	}
	i.opts.Logger.Log(context.Background(), level, "nothing is preloaded, so the informer begins with a list", "informer", i.opts.Name, "err", reason)
}
