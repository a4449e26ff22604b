package warmstart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/logthrottle"
)

// Save replaces the file by the current content of the preloaded informer's store. Before the store
// has a version, that is before its first list, Save does nothing and returns nil. It does not save
// an incomplete store either ([ErrIncomplete]): an undecodable object, or an object in a failing
// part of a merged source, would be silently missing in the next process. The file then stays as it
// was, complete up to an earlier version.
func (f *File[T]) Save() error {
	_, err := f.save(savedState[T]{})
	return err
}

// savedState identifies the state of a store that was saved last.
type savedState[T any] struct {
	informer *informer.Informer[T]
	revision uint64
}

// save saves the store if its state differs from the argument last, the state that was saved
// before. It returns the state that is saved now.
func (f *File[T]) save(last savedState[T]) (savedState[T], error) {
	f.mu.Lock()
	inf, source, described := f.informer, f.source, f.described
	f.mu.Unlock()
	if inf == nil {
		return last, fmt.Errorf("warmstart: %s: there is nothing to save before Preload", f.path)
	}
	snapshot := inf.Store().Snapshot()
	defer snapshot.Release()
	now := savedState[T]{inf, snapshot.Revision()}
	if !described || snapshot.ResourceVersion() == "" || now == last {
		return last, nil
	}
	content, err := f.headerFor(source)
	if err == nil {
		content.ResourceVersion, content.Count = snapshot.ResourceVersion(), snapshot.Len()
		err = f.replace(snapshot, content, now, func() error { return checkComplete(inf.Status()) })
	}
	if err != nil {
		return last, fmt.Errorf("warmstart: %s: %w", f.path, err)
	}
	return now, nil
}

// checkComplete returns an error if the store is incomplete.
func checkComplete(s informer.Status) error {
	if err := s.Undecodable.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	if len(s.Parts) > 0 {
		return fmt.Errorf("%w: %d parts fail, such as %s: %w", ErrIncomplete, len(s.Parts), s.Parts[0].Part, s.Parts[0].Err)
	}
	return nil
}

// replace writes a new file and renames it over the old one, if the store is complete. It checks
// the store before and after the write, because the informer records a refused object a moment
// after the store's version.
func (f *File[T]) replace(snapshot *indexer.Snapshot[T], content header, now savedState[T], complete func() error) error {
	if err := complete(); err != nil {
		return err
	}
	dir := filepath.Dir(f.path)
	f.removeAbandoned(dir)
	file, err := os.CreateTemp(dir, filepath.Base(f.path)+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	renamed := false
	defer func() {
		if !renamed { // An error of this cleanup is not reported.
			_ = file.Close()
			_ = os.Remove(file.Name())
		}
	}()
	if err := f.write(file, snapshot.Entries(), content); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := complete(); err != nil {
		return err
	}
	if renamed, err = f.renameIfNewest(file.Name(), now); err != nil || !renamed {
		return err
	}
	return syncDir(dir)
}

// renameIfNewest renames the new file over the old one, unless a save that began later has already
// done so.
func (f *File[T]) renameIfNewest(written string, now savedState[T]) (renamed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lastSaved.informer == now.informer && f.lastSaved.revision > now.revision {
		return false, nil
	}
	if err := os.Rename(written, f.path); err != nil {
		return false, err
	}
	f.lastSaved = now
	return true, nil
}

// abandonedAfter is the age at which a temporary file counts as abandoned.
const abandonedAfter = time.Hour

// removeAbandoned removes temporary files of processes that were killed while they wrote. A file
// that cannot be removed is left: the save itself reports problems.
func (f *File[T]) removeAbandoned(dir string) {
	files, _ := os.ReadDir(dir)
	for _, b := range files {
		number, isOurs := strings.CutPrefix(b.Name(), filepath.Base(f.path)+".")
		number, isTemp := strings.CutSuffix(number, ".tmp")
		if !isOurs || !isTemp || strings.Trim(number, "0123456789") != "" {
			continue
		}
		if info, err := b.Info(); err == nil && time.Since(info.ModTime()) > abandonedAfter {
			_ = os.Remove(filepath.Join(dir, b.Name()))
		}
	}
}

// syncDir makes a rename survive a power loss. On Windows this is neither possible nor necessary.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// SaveEvery calls Save once in every interval, if the store has changed. When ctx ends, it calls
// Save once more, and returns the error of this last Save. A failed save is passed to OnError.
// Failures are also logged when they begin, and every few minutes while they last. SaveEvery starts
// no goroutine: run it in one, and wait for it before the process ends.
//
// The last save is complete if the informer has ended before ctx ends. Otherwise the next process
// receives later changes as changes since the save.
func (f *File[T]) SaveEvery(ctx context.Context, interval time.Duration) error {
	if interval <= 0 {
		return errors.New("warmstart: SaveEvery needs an interval")
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var last savedState[T]
	var err error
	var logThrottle logthrottle.Throttle
	save := func() {
		last, err = f.save(last)
		f.log(&logThrottle, err)
		if err != nil && f.opts.OnError != nil {
			f.opts.OnError(err)
		}
	}
	for {
		select {
		case <-ticker.C:
			save()
		case <-ctx.Done():
			save()
			return err
		}
	}
}

// log logs when saves begin to fail, every few minutes while they fail, and when a save works
// again.
func (f *File[T]) log(logThrottle *logthrottle.Throttle, err error) {
	if err == nil {
		if logThrottle.Recovered() {
			f.opts.Logger.Info("The store is saved again", "path", f.path)
		}
		return
	}
	kind := 0
	if errors.Is(err, ErrIncomplete) {
		kind = 1
	}
	if unlogged, due := logThrottle.Due(kind, time.Now()); due {
		f.opts.Logger.Warn("The store could not be saved; the file still holds the last save", "err", err, "unlogged", unlogged)
	}
}
