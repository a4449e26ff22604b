// Package recording records the frames of a view in a file, and plays such a file.
package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"

	"github.com/kinform/kinform/cmd/kinform/internal/browse"
	"github.com/kinform/kinform/view"
)

// maxSize is the maximum size of a recording to play, because the page holds all of it in memory.
const maxSize = 256 << 20

// File is a recording in progress.
type File struct {
	stop  context.CancelFunc
	ended chan error
}

// Start records the first pipeline of a view in a new file. With an empty path, Start returns nil,
// and Close does nothing. The caller must call Close.
func Start(v *view.View, path string) (*File, error) {
	if path == "" {
		return nil, nil
	}
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("--record: %s exists already: remove it, or name another file", path)
	}
	if err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &File{stop: stop, ended: make(chan error, 1)}
	go func() {
		if err := errors.Join(v.Record(ctx, to, ""), to.Close()); err != nil {
			f.ended <- fmt.Errorf("--record: the recording is incomplete: %w", err)
			return
		}
		f.ended <- nil
	}()
	return f, nil
}

// Close ends the recording, and returns an error if the recording is incomplete.
func (f *File) Close() error {
	if f == nil {
		return nil
	}
	f.stop()
	return <-f.ended
}

// load returns a view of a recording. The view requires a token from every viewer.
func load(path string) (*view.View, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("--replay: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSize {
		return nil, fmt.Errorf("--replay: %s has %d bytes: a recording is a file of at most %d", path, info.Size(), maxSize)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--replay: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSize+1)) // the file may grow while it is read
	switch {
	case err != nil:
		return nil, fmt.Errorf("--replay: %w", err)
	case len(text) > maxSize:
		return nil, fmt.Errorf("--replay: %s is growing, and has more than %d bytes now", path, maxSize)
	}
	v, err := view.New(view.Options{Title: info.Name(), Recording: text, Private: true})
	if err != nil {
		return nil, fmt.Errorf("--replay: %s: %w", path, err)
	}
	return v, nil
}

// Serve serves a page that plays a recording, until ctx ends. When the page is ready, Serve calls
// ready with a text that contains the page's address.
func Serve(ctx context.Context, path, listen string, open bool, ready func(where string)) error {
	v, err := load(path)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("cannot serve the page: %w", err)
	}
	url := fmt.Sprintf("http://%v/", listener.Addr())
	ready(browse.Instructions(v, url))
	if open {
		if err := browse.Open(v, url); err != nil {
			_ = listener.Close()
			return err
		}
	}
	return v.Serve(ctx, listener)
}
