package warmstart

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/contain"
)

// File is a file that keeps the content of an informer's store beyond the process. It holds no
// resources, and is safe for concurrent use.
type File[T any] struct {
	path  string
	codec Codec[T]
	opts  Options

	mu        sync.Mutex // guards following
	informer  *informer.Informer[T]
	source    map[string]string // the description of the informer's source
	described bool
	lastSaved savedState[T] // the state that the file contains
}

// New returns the File for path. It neither reads nor writes the file. The error says which
// argument is missing.
func New[T any](path string, codec Codec[T], opts Options) (*File[T], error) {
	switch {
	case path == "":
		return nil, errors.New("warmstart: New needs a path")
	case codec.Name == "" || codec.Encode == nil || codec.Decode == nil:
		return nil, errors.New("warmstart: New needs a codec with a name, Encode and Decode")
	case opts.MaxBytes < 0:
		return nil, errors.New("warmstart: Options.MaxBytes must not be negative")
	case !opts.Secrets && isSecretType(reflect.TypeFor[T]()):
		return nil, fmt.Errorf("warmstart: %s: %w", path, ErrSecrets)
	}
	if opts.MaxBytes == 0 {
		opts.MaxBytes = 1 << 30
	}
	opts.Logger = contain.Logger(opts.Logger)
	return &File[T]{path: path, codec: codec, opts: opts}, nil
}

// Preload makes an informer begin with the objects in the file. It has the conditions of
// [informer.PreloadFrom]: call it after New, and before AddHandler and Run. From then on, Save
// saves that informer's store; a file serves one informer at a time.
//
// Run opens the file when the server has identified itself and permitted reading the resource. If
// the file cannot be used, Options.OnError and the informer's log say why, and the informer begins
// with a list. Preload returns an error if it is called too late.
func (f *File[T]) Preload(inf *informer.Informer[T]) error {
	load := func(source map[string]string) ([]indexer.Entry[T], string, error) {
		f.mu.Lock()
		if f.informer == inf {
			f.source, f.described = source, true
		}
		f.mu.Unlock()
		entries, resourceVersion, err := f.load(source)
		if err != nil && f.opts.OnError != nil {
			f.opts.OnError(err)
		}
		return entries, resourceVersion, err
	}
	if err := informer.PreloadFrom(inf, load); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.informer, f.source, f.described = inf, nil, false
	return nil
}

// load returns all objects in the file if they belong to this source, and the resourceVersion
// through which they are complete. Otherwise it returns an error. If there is no file, the error
// wraps fs.ErrNotExist.
func (f *File[T]) load(source map[string]string) (entries []indexer.Entry[T], resourceVersion string, err error) {
	want, err := f.headerFor(source)
	if err == nil {
		entries, resourceVersion, err = f.open(want)
	}
	if err != nil {
		return nil, "", fmt.Errorf("warmstart: %s: %w", f.path, err)
	}
	return entries, resourceVersion, nil
}

// open reads the file.
func (f *File[T]) open(want header) ([]indexer.Entry[T], string, error) {
	file, info, err := openSafely(f.path)
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	if info.Size() > f.opts.MaxBytes {
		return nil, "", fmt.Errorf("the file has %d bytes, more than Options.MaxBytes allows", info.Size())
	}
	return f.read(file, info.Size(), want, info.Mode())
}

// headerFor returns the header for a file of this source's objects, or an error that says why there
// can be no file.
func (f *File[T]) headerFor(source map[string]string) (header, error) {
	if f.opts.Source == "" && !identifies(source) {
		return header{}, fmt.Errorf("%w: allow the user to get the namespace kube-system, or set Options.Source", ErrUnknownSource)
	}
	if !f.opts.Secrets && isSecretSource(source) {
		return header{}, ErrSecrets
	}
	t := reflect.TypeFor[T]()
	return header{
		Source:     source,
		Name:       f.opts.Source,
		Projection: f.opts.Projection,
		Type:       typeName(t),
		Fields:     fieldsOf(t),
		API:        apiVersion(),
		Codec:      f.codec.Name,
		Secrets:    f.opts.Secrets,
	}, nil
}
