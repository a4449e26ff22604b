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
	// maxFailure bounds what is kept of the server's error about a connection, in bytes.
	maxFailure = 64 << 10
	// patience is how long what has arrived waits for who reads it, once forwarding has ended.
	patience = time.Second
)

// handle forwards one local connection until the pod ends it, or takes nothing more. It closes conn, and so ends the forwarding of
// all ports, if the server has an error about the connection: what forwards again finds out whether the pod is still there.
// Once ctx has ended it waits neither for a local end that reads nothing, nor for a server that does not answer.
func (pf *PortForwarder) handle(ctx context.Context, local net.Conn, port ForwardedPort, conn httpstream.Connection) {
	defer local.Close()
	defer context.AfterFunc(ctx, func() { _ = local.SetWriteDeadline(time.Now().Add(patience)) })()
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
	case <-ctx.Done(): // A server that does not answer holds up openStreams for half a minute, also once conn is closed.
		return
	}
	defer conn.RemoveStreams(failure, data)
	failed := make(chan error, 1)
	go func() { failed <- readFailure(failure) }()

	pf.exchange(local, data, port)
	// Data that nobody reads would hold up the other streams, and the error among them.
	_ = data.Reset()
	if err := <-failed; err != nil {
		pf.report(fmt.Errorf("an error occurred forwarding %d -> %d: %w", port.Local, port.Remote, err), port)
		conn.Close()
	}
}

// openStreams opens the pair of streams of one forwarded connection.
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
	_ = failure.Close() // it is only read
	if data, err = open(corev1.StreamTypeData); err != nil {
		_ = failure.Reset()
		conn.RemoveStreams(failure)
		return nil, nil, err
	}
	return failure, data, nil
}

// exchange copies in both directions. It returns when the pod has ended the connection, or what is local cannot be sent to it.
// A local end of sending is passed on, and the answer still received.
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

// readFailure returns what the server says about a forwarded connection, at the end of its error stream.
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
