package remotecommand

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

const (
	// maxFailure limits how much of the error stream is read, in bytes. A metav1.Status has a few
	// hundred bytes.
	maxFailure = 1 << 20
	// failureTimeout bounds how long run waits for the caller's writers after the connection is
	// closed, and for a connection to close.
	failureTimeout = time.Second
)

// opener opens the streams of a connection. The method Close of a stream ends only the direction to
// the server.
type opener interface {
	// open returns the stream of a kind, which is a value of corev1.StreamType.
	open(kind string) (io.ReadWriteCloser, error)
	// start is called after the last call of open. No stream is read before start is called.
	start()
}

func headers(kind string) http.Header {
	h := http.Header{}
	h.Set(corev1.StreamType, kind)
	return h
}

// session is a running command. Streams that the command does not have are nil.
type session struct {
	version                    version
	options                    StreamOptions
	failed, in, out, err, size io.ReadWriteCloser
	received                   chan struct{} // closed when the output has ended
}

// run transfers the streams of a command until the command or ctx has ended. At the end it calls
// hangUp, possibly more than once. The function hangUp closes the connection, which ends all
// streams.
func run(ctx context.Context, v version, options StreamOptions, o opener, hangUp func()) error {
	// cancelled at the end, because the closed connection causes further errors, which are ignored
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, hangUp)()
	s := &session{version: v, options: options, received: make(chan struct{})}
	opened := make(chan error, 1)
	go func() { opened <- s.open(o) }()
	var err error
	select {
	case err = <-opened:
	// An unresponsive server blocks open for half a minute, even after the connection is closed.
	case <-ctx.Done():
		return ctx.Err()
	}
	if err == nil {
		o.start()
		err = s.transfer(running)
		cancel()
		hangUp()
		select { // no write is running when run returns, unless a writer blocks
		case <-s.received:
		case <-time.After(failureTimeout):
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// open opens the streams of the options. A server waits for all streams that the request's URL
// names, and identifies each stream by its kind.
func (s *session) open(o opener) (err error) {
	for _, kind := range []struct {
		name   string
		wanted bool
		into   *io.ReadWriteCloser
	}{
		{corev1.StreamTypeError, true, &s.failed},
		{corev1.StreamTypeStdin, s.options.Stdin != nil, &s.in},
		{corev1.StreamTypeStdout, s.options.Stdout != nil, &s.out},
		{corev1.StreamTypeStderr, s.options.Stderr != nil && !s.options.Tty, &s.err},
		{corev1.StreamTypeResize, s.options.Tty && s.version.resizes, &s.size},
	} {
		if !kind.wanted {
			continue
		}
		if *kind.into, err = o.open(kind.name); err != nil {
			return err
		}
	}
	return nil
}

// transfer returns when the command has ended: when the output has ended and, from version 2 on,
// the error stream as well. The goroutines that copy the input return when the connection ends,
// unless a Read of the caller's reader blocks.
func (s *session) transfer(ctx context.Context) error {
	failure := make(chan error, 1)
	go func() { failure <- s.readFailure() }()
	s.sendInput(ctx)
	s.sendSizes(ctx)
	s.receive(ctx)

	// A server of version 1 need not end the error stream. Its error is used only if the error
	// stream ends before the output, or if there is no output.
	first := failure
	if s.version.endsError {
		first = nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-first:
		if err != nil {
			return err
		}
		failure <- nil
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.received:
		}
	case <-s.received:
	}
	if !s.version.endsError && (s.out != nil || s.err != nil) {
		select {
		case err := <-failure:
			return err
		default:
			return nil
		}
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-failure:
		return err
	}
}

// readFailure reads the error stream to its end and returns the error in it.
func (s *session) readFailure() error {
	message, err := io.ReadAll(io.LimitReader(s.failed, maxFailure))
	if err == nil {
		_, err = io.Copy(io.Discard, s.failed)
	}
	switch {
	case err != nil:
		return fmt.Errorf("error reading from error stream: %w", err)
	case len(message) == 0:
		return nil
	default:
		return s.version.failure(message)
	}
}

// sendInput sends the input, and then the end of the input.
func (s *session) sendInput(ctx context.Context) {
	if s.in == nil {
		return
	}
	var once sync.Once
	end := func() {
		if s.version.endsStdin {
			once.Do(func() { s.in.Close() })
		}
	}
	go func() {
		defer end()
		_, err := io.Copy(s.in, onlyReader{s.options.Stdin})
		report(ctx, err, "The input of a remote command could not be read or sent")
	}()
	// The server sends nothing on this stream. Its end means that the command stops reading.
	go func() {
		defer end()
		_, _ = io.Copy(io.Discard, s.in)
	}()
}

// onlyReader hides all methods of a reader except Read. With a method WriteTo, the reader would
// decide how the data is split into messages.
type onlyReader struct{ io.Reader }

// receive writes the output to the caller's writers. After a write error it continues to read,
// because a stream without a reader would block the other streams of the connection.
func (s *session) receive(ctx context.Context) {
	var output sync.WaitGroup
	for _, one := range []struct {
		from io.Reader
		to   io.Writer
	}{{s.out, s.options.Stdout}, {s.err, s.options.Stderr}} {
		if one.from == nil {
			continue
		}
		output.Go(func() {
			_, err := io.Copy(one.to, onlyReader{one.from})
			report(ctx, err, "The output of a remote command could not be received or written")
			_, _ = io.Copy(io.Discard, one.from)
		})
	}
	go func() {
		output.Wait()
		close(s.received)
	}()
}

// sendSizes sends the sizes of the terminal.
func (s *session) sendSizes(ctx context.Context) {
	if s.size == nil || s.options.TerminalSizeQueue == nil {
		return
	}
	go func() {
		encoder := json.NewEncoder(s.size)
		for size := s.options.TerminalSizeQueue.Next(); size != nil; size = s.options.TerminalSizeQueue.Next() {
			if err := encoder.Encode(size); err != nil {
				report(ctx, err, "A size of the terminal could not be sent")
				return
			}
		}
	}()
}

// report logs an error that occurs while the command runs.
func report(ctx context.Context, err error, what string) {
	if err != nil && ctx.Err() == nil {
		utilruntime.HandleErrorWithContext(ctx, err, what)
	}
}
