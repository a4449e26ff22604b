package remotecommand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"

	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/internal/httpstreams"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// allProtocols are the protocols offered over SPDY, in order of preference.
var allProtocols = []string{
	remotecommand.StreamProtocolV5Name, remotecommand.StreamProtocolV4Name, remotecommand.StreamProtocolV3Name,
	remotecommand.StreamProtocolV2Name, remotecommand.StreamProtocolV1Name,
}

type spdyExecutor struct {
	client    *http.Client
	upgrader  spdy.Upgrader
	method    string
	url       *url.URL
	protocols []string
}

// NewSPDYExecutor returns an executor that connects by SPDY.
func NewSPDYExecutor(config *restclient.Config, method string, url *url.URL) (Executor, error) {
	rt, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, err
	}
	return NewSPDYExecutorForTransports(rt, upgrader, method, url)
}

// NewSPDYExecutorRejectRedirects returns an executor that connects by SPDY and returns an error for
// a redirect.
func NewSPDYExecutorRejectRedirects(transport http.RoundTripper, upgrader spdy.Upgrader, method string, url *url.URL) (Executor, error) {
	return newSPDYExecutor(transport, upgrader, func(*http.Request, []*http.Request) error {
		return errors.New("redirect not allowed")
	}, method, url, allProtocols)
}

// NewSPDYExecutorForTransports returns an executor that connects with transport and upgrader. See
// [spdy.RoundTripperFor].
func NewSPDYExecutorForTransports(transport http.RoundTripper, upgrader spdy.Upgrader, method string, url *url.URL) (Executor, error) {
	return newSPDYExecutor(transport, upgrader, nil, method, url, allProtocols)
}

// NewSPDYExecutorForProtocols is [NewSPDYExecutorForTransports] with only these protocols, in order
// of preference.
func NewSPDYExecutorForProtocols(transport http.RoundTripper, upgrader spdy.Upgrader, method string, url *url.URL, protocols ...string) (Executor, error) {
	return newSPDYExecutor(transport, upgrader, nil, method, url, protocols)
}

func newSPDYExecutor(transport http.RoundTripper, upgrader spdy.Upgrader, redirect func(*http.Request, []*http.Request) error, method string, url *url.URL, protocols []string) (Executor, error) {
	return &spdyExecutor{
		client:   &http.Client{Transport: transport, CheckRedirect: redirect},
		upgrader: upgrader, method: method, url: url, protocols: protocols,
	}, nil
}

func (e *spdyExecutor) Stream(options StreamOptions) error {
	return e.StreamWithContext(context.Background(), options)
}

func (e *spdyExecutor) StreamWithContext(ctx context.Context, options StreamOptions) error {
	req, err := http.NewRequestWithContext(ctx, e.method, e.url.String(), nil)
	if err != nil {
		return fmt.Errorf("error creating request: %w", err)
	}
	conn, protocol, err := spdy.NegotiateStreaming(e.upgrader, e.client, req, e.protocols...)
	if err != nil {
		return err
	}
	hangUp := sync.OnceFunc(func() { httpstreams.AtMost(failureTimeout, func() { conn.Close() }) })
	defer hangUp()
	return run(ctx, versionOf(ctx, protocol), options, spdyOpener{conn}, hangUp)
}

// spdyOpener opens streams of a SPDY connection. The connection has its own goroutine that reads.
type spdyOpener struct{ httpstream.Connection }

func (o spdyOpener) open(kind string) (io.ReadWriteCloser, error) {
	return o.CreateStream(headers(kind))
}

func (spdyOpener) start() {}
