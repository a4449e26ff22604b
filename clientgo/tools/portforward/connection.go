package portforward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/streaming/pkg/httpstream"
)

const (
	// maxFailure limits how much of the server's error about a connection is read, in bytes.
	maxFailure = 64 << 10
	// closeTimeout bounds how long received data waits for the local reader after forwarding has
	// ended.
	closeTimeout = time.Second
)

// handle forwards one local connection until the pod ends the connection or stops receiving. If the
// server reports an error about this connection, handle closes conn, which ends the forwarding of
// all ports. The next attempt to forward then shows whether the pod still exists. After ctx has
// ended, handle waits neither for a local program that does not read, nor for an unresponsive
// server.
func (pf *PortForwarder) handle(ctx context.Context, local net.Conn, port ForwardedPort, conn httpstream.Connection) {
	defer local.Close()
	defer context.AfterFunc(ctx, func() { _ = local.SetWriteDeadline(time.Now().Add(closeTimeout)) })()
	fmt.Fprintf(pf.out, "Handling connection for %d\n", port.Local)
	var failure, data httpstream.Stream
	opened := make(chan error, 1)
	go func() {
		var err error
		failure, data, err = pf.openStreams(port, conn)
		opened <- err
	}()
	select {
	case err := <-opened:
		if err != nil {
			pf.report(err, port)
			return
		}
	// An unresponsive server blocks openStreams for half a minute, even after conn is closed.
	case <-ctx.Done():
		return
	}
	defer conn.RemoveStreams(failure, data)
	failed := make(chan error, 1)
	go func() { failed <- readFailure(failure) }()

	pf.exchange(local, data, port)
	// Discard data that has not been read: it would block the other streams, including the error
	// stream.
	_ = data.Reset()
	if err := <-failed; err != nil {
		pf.report(fmt.Errorf("an error occurred forwarding %d -> %d: %w", port.Local, port.Remote, err), port)
		conn.Close()
	}
}

// openStreams opens the two streams of one forwarded connection.
func (pf *PortForwarder) openStreams(port ForwardedPort, conn httpstream.Connection) (failure, data httpstream.Stream, err error) {
	pf.mu.Lock()
	request := pf.requests
	pf.requests++
	pf.mu.Unlock()

	open := func(kind string) (httpstream.Stream, error) {
		h := http.Header{}
		h.Set(corev1.StreamType, kind)
		h.Set(corev1.PortHeader, strconv.Itoa(int(port.Remote)))
		h.Set(corev1.PortForwardRequestIDHeader, strconv.Itoa(request))
		s, err := conn.CreateStream(h)
		if err != nil {
			return nil, fmt.Errorf("error creating %s stream for port %d -> %d: %w", kind, port.Local, port.Remote, err)
		}
		return s, nil
	}
	if failure, err = open(corev1.StreamTypeError); err != nil {
		return nil, nil, err
	}
	_ = failure.Close() // nothing is written to the error stream
	if data, err = open(corev1.StreamTypeData); err != nil {
		_ = failure.Reset()
		conn.RemoveStreams(failure)
		return nil, nil, err
	}
	return failure, data, nil
}

// exchange copies data in both directions. It returns when the pod has ended the connection, or
// when local data cannot be sent to the pod. If the local side stops sending, exchange notifies the
// pod, and still receives the pod's data.
func (pf *PortForwarder) exchange(local net.Conn, data httpstream.Stream, port ForwardedPort) {
	var receiving, sending sync.WaitGroup
	ended := make(chan struct{}, 2)
	receiving.Go(func() {
		defer func() { ended <- struct{}{} }()
		_, err := io.Copy(local, data)
		pf.reportUnlessClosed("error copying from remote stream to local connection", err, port)
	})
	sending.Go(func() {
		defer data.Close()
		_, err := io.Copy(data, local)
		pf.reportUnlessClosed("error copying from local connection to remote stream", err, port)
		if err != nil {
			ended <- struct{}{}
		}
	})
	<-ended
	local.Close()
	sending.Wait()
	_ = data.Reset()
	receiving.Wait()
}

// readFailure reads the error stream to its end and returns the server's error about a forwarded
// connection.
func readFailure(s httpstream.Stream) error {
	message, err := io.ReadAll(io.LimitReader(s, maxFailure))
	if err == nil {
		_, err = io.Copy(io.Discard, s)
	}
	switch {
	case err != nil:
		return fmt.Errorf("reading the error stream: %w", err)
	case len(message) > 0:
		return errors.New(string(message))
	}
	return nil
}

func (pf *PortForwarder) report(err error, port ForwardedPort) {
	runtime.HandleErrorWithContext(pf.ctx, err, "A connection to a forwarded port has failed", "local", port.Local, "remote", port.Remote)
}

func (pf *PortForwarder) reportUnlessClosed(what string, err error, port ForwardedPort) {
	if err != nil && !errors.Is(err, net.ErrClosed) && pf.ctx.Err() == nil {
		pf.report(fmt.Errorf("%s: %w", what, err), port)
	}
}
