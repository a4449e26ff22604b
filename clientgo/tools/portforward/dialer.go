package portforward

//lint:file-ignore SA1019 programs may have types of apimachinery's httpstream, which client-go's signatures name

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	older "k8s.io/apimachinery/pkg/util/httpstream"
	utilportforward "k8s.io/apimachinery/pkg/util/portforward"
	"k8s.io/client-go/internal/httpstreams"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/transport/websocket"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// PingPeriod is the time between pings through a websocket. Without pings, a proxy could close the
// connection as idle.
const PingPeriod = 10 * time.Second

// NewSPDYOverWebsocketDialer returns a dialer that connects to url by a websocket and uses SPDY
// inside it. If the server does not support that, httpstream.IsUpgradeFailure is true for the
// error.
func NewSPDYOverWebsocketDialer(url *url.URL, config *restclient.Config) (older.Dialer, error) {
	return NewSPDYOverWebsocketDialerWithLogger(klog.Background(), url, config)
}

// NewSPDYOverWebsocketDialerWithLogger is [NewSPDYOverWebsocketDialer] with a logger, which the
// connections use.
func NewSPDYOverWebsocketDialerWithLogger(logger klog.Logger, url *url.URL, config *restclient.Config) (older.Dialer, error) {
	d, err := newTunnelDialer(logger, url, config)
	if err != nil {
		return nil, err
	}
	return httpstreams.OlderDialer(d), nil
}

// NewSPDYOverWebsocketDialerForStreaming is [NewSPDYOverWebsocketDialer] with the types of
// k8s.io/streaming.
func NewSPDYOverWebsocketDialerForStreaming(url *url.URL, config *restclient.Config) (httpstream.Dialer, error) {
	return newTunnelDialer(klog.Background(), url, config)
}

// NewSPDYOverWebsocketDialerForStreamingWithLogger is [NewSPDYOverWebsocketDialerWithLogger] with
// the types of k8s.io/streaming.
func NewSPDYOverWebsocketDialerForStreamingWithLogger(logger klog.Logger, url *url.URL, config *restclient.Config) (httpstream.Dialer, error) {
	return newTunnelDialer(logger, url, config)
}

type tunnelDialer struct {
	logger klog.Logger
	url    *url.URL
	config *restclient.Config
}

func newTunnelDialer(logger klog.Logger, url *url.URL, config *restclient.Config) (httpstream.Dialer, error) {
	// Each Dial makes a new transport from the config as it is then. This call only reports errors
	// of the config early.
	if _, _, err := websocket.RoundTripperFor(config); err != nil {
		return nil, err
	}
	return &tunnelDialer{logger: logger, url: url, config: restclient.CopyConfig(config)}, nil
}

func (d *tunnelDialer) Dial(protocols ...string) (httpstream.Connection, string, error) {
	rt, holder, err := websocket.RoundTripperFor(d.config)
	if err != nil {
		return nil, "", err
	}
	// The request has no context, because the end of a context would close the connection.
	req, err := http.NewRequest(http.MethodGet, d.url.String(), nil)
	if err != nil {
		return nil, "", err
	}
	tunnelled := make([]string, 0, len(protocols))
	for _, protocol := range protocols {
		tunnelled = append(tunnelled, utilportforward.WebsocketsSPDYTunnelingPrefix+protocol)
	}
	conn, err := websocket.Negotiate(rt, holder, req, tunnelled...)
	if err != nil {
		return nil, "", err
	}
	if conn == nil {
		return nil, "", errors.New("negotiated websocket connection is nil")
	}
	tunnel := NewTunnelingConnectionWithLogger(klog.LoggerWithName(d.logger, "client"), conn)
	c, err := spdy.NewClientConnectionWithPings(tunnel, PingPeriod)
	if err != nil {
		tunnel.Close()
		return nil, "", fmt.Errorf("creating the SPDY connection: %w", err)
	}
	return c, strings.TrimPrefix(conn.Subprotocol(), utilportforward.WebsocketsSPDYTunnelingPrefix), nil
}
