package warmstart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
)

// Options say what the objects in a file are, as far as the file itself could not
// know: a file in which any of it is different is not used ([ErrOther]).
type Options struct {
	// Cluster is the server that the objects come from: its address, or better
	// something that changes when it is set up anew, such as the uid of the
	// namespace kube-system. Defaults to "".
	Cluster string

	// Resource is what the objects are, for example "pods" or
	// "widgets.v1.example.com". Required.
	Resource string

	// Namespaces are the namespaces that they come from, in any order. Defaults to
	// all.
	Namespaces []string

	// LabelSelector and FieldSelector are what the source selects by.
	LabelSelector, FieldSelector string

	// Projection is a name for what is kept of each object: for fields that the
	// source drops, and for what a transform does. Change it whenever that changes.
	Projection string

	// MaxBytes is the size beyond which a file is not read. Defaults to 1 GiB.
	MaxBytes int64

	// OnError is told when SaveEvery could not save, which it tries again after the
	// next interval. Defaults to nil: only the last such error is returned.
	OnError func(error)
}

// File is a place where the content of a store outlives the process. It holds no
// resources, and is safe for concurrent use.
type File[T any] struct {
	path  string
	codec Codec[T]
	opts  Options
}

// New returns the file at path. It neither reads nor writes it. The error says what
// is missing.
func New[T any](path string, codec Codec[T], opts Options) (*File[T], error) {
	switch {
	case path == "" || opts.Resource == "":
		return nil, errors.New("warmstart: New needs a path and Options.Resource")
	case codec.Name == "" || codec.Encode == nil || codec.Decode == nil:
		return nil, errors.New("warmstart: New needs a codec with a name, Encode and Decode")
	case opts.MaxBytes < 0:
		return nil, errors.New("warmstart: Options.MaxBytes must not be negative")
	}
	if opts.MaxBytes == 0 {
		opts.MaxBytes = 1 << 30
	}
	opts.Namespaces = slices.Compact(slices.Sorted(slices.Values(opts.Namespaces))) // nil if there is none
	return &File[T]{path: path, codec: codec, opts: opts}, nil
}

// content is the header of a file with this content.
func (f *File[T]) content(resourceVersion string, count int) header {
	return header{
		Cluster:         f.opts.Cluster,
		Resource:        f.opts.Resource,
		Type:            reflect.TypeFor[T]().String(),
		Codec:           f.codec.Name,
		Namespaces:      f.opts.Namespaces,
		LabelSelector:   f.opts.LabelSelector,
		FieldSelector:   f.opts.FieldSelector,
		Projection:      f.opts.Projection,
		ResourceVersion: resourceVersion,
		Count:           count,
	}
}

// Preload loads the file into an informer, as [informer.Preload] does, and with the
// same conditions: after New, before AddHandler and Run. After an error the informer
// is as it was, and lists.
func (f *File[T]) Preload(inf *informer.Informer[T]) error {
	entries, resourceVersion, err := f.Load()
	if err != nil {
		return err
	}
	return informer.Preload(inf, slices.Values(entries), resourceVersion)
}

// Load returns the objects in the file, and the resourceVersion through which they
// are complete: all of them, or an error. If there is no file, it wraps
// fs.ErrNotExist.
func (f *File[T]) Load() (entries []indexer.Entry[T], resourceVersion string, err error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, "", fmt.Errorf("warmstart: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && info.Size() > f.opts.MaxBytes {
		err = fmt.Errorf("the file has %d bytes, more than Options.MaxBytes", info.Size())
	}
	if err == nil {
		entries, resourceVersion, err = f.read(file, info.Size())
	}
	if err != nil {
		return nil, "", fmt.Errorf("warmstart: %s: %w", f.path, err)
	}
	return entries, resourceVersion, nil
}

// Save replaces the file by the content of a store as it is now. A store that does
// not know how far it is, as before its first list, is not saved, and that is no
// error.
func (f *File[T]) Save(store *indexer.Reader[T]) error {
	_, err := f.save(store, 0)
	return err
}

// save is Save for a store that may have changed since the revision that was saved
// last, and returns the one that is now.
func (f *File[T]) save(store *indexer.Reader[T], last uint64) (revision uint64, err error) {
	snapshot := store.Snapshot()
	defer snapshot.Release()
	if snapshot.ResourceVersion() == "" || snapshot.Revision() == last {
		return last, nil
	}
	if err := f.replace(snapshot); err != nil {
		return last, fmt.Errorf("warmstart: %s: %w", f.path, err)
	}
	return snapshot.Revision(), nil
}

// replace writes a file beside the old one and puts it in its place.
func (f *File[T]) replace(snapshot *indexer.Snapshot[T]) (err error) {
	dir := filepath.Dir(f.path)
	f.removeAbandoned(dir)
	file, err := os.CreateTemp(dir, filepath.Base(f.path)+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil { // Which is the one to report.
			_ = file.Close()
			_ = os.Remove(file.Name())
		}
	}()
	if err := f.write(file, snapshot); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), f.path); err != nil {
		return err
	}
	return syncDir(dir)
}

// abandonedAfter is for how long a file that is being written may lie still.
const abandonedAfter = time.Hour

// removeAbandoned removes what processes have left behind that were killed while
// they wrote. What cannot be removed is left: the save itself tells what is wrong.
func (f *File[T]) removeAbandoned(dir string) {
	beside, _ := os.ReadDir(dir)
	for _, b := range beside {
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

// syncDir makes a rename outlive a loss of power. On Windows that is not possible,
// nor needed.
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

// SaveEvery saves the store every interval, if it has changed, and once more when
// ctx ends; then it returns. The error is that of the last Save, and what a save
// could not do is told to OnError. It starts no goroutine: run it in one, and wait
// for it before the process ends.
//
// The last save is complete if the informer has ended before ctx does; otherwise
// what it receives after that is part of what changed meanwhile.
func (f *File[T]) SaveEvery(ctx context.Context, store *indexer.Reader[T], interval time.Duration) error {
	if interval <= 0 {
		return errors.New("warmstart: SaveEvery needs an interval")
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var saved uint64
	var err error
	save := func() {
		if saved, err = f.save(store, saved); err != nil && f.opts.OnError != nil {
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
