package websocket

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gwebsocket "github.com/gorilla/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/internal/httpstreams"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// dataSize is how much data a message has at most, in bytes. One byte more is for the number of its channel: servers take a
// message that is split into frames for several messages, and a frame is as large as the buffer.
const (
	dataSize   = 32 * 1024
	bufferSize = dataSize + 1
)

// ConnectionHolder has the websocket that a round tripper has made.
type ConnectionHolder interface {
	// DataBufferSize is how many bytes of data, beside the number of its channel, a message can have that is sent in one frame.
	DataBufferSize() int
	// Connection returns the websocket, or nil before a successful request.
	Connection() *gwebsocket.Conn
}

// RoundTripper makes one websocket of one request: a second request needs another RoundTripper.
type RoundTripper struct {
	// TLSConfig is for servers that are reached by https or wss. nil means the defaults of crypto/tls.
	TLSConfig *tls.Config
	// Proxier returns the proxy of a request, or nil for none. A nil Proxier means that there is none.
	Proxier func(req *http.Request) (*url.URL, error)
	// Conn is the websocket after RoundTrip.
	Conn *gwebsocket.Conn
}

// Connection returns Conn.
func (rt *RoundTripper) Connection() *gwebsocket.Conn { return rt.Conn }

// DataBufferSize is 32768 bytes.
func (rt *RoundTripper) DataBufferSize() int { return dataSize }

// TLSClientConfig returns TLSConfig.
func (rt *RoundTripper) TLSClientConfig() *tls.Config { return rt.TLSConfig }

// RoundTrip makes the websocket. The protocols that it offers are in the request's header Sec-Websocket-Protocol. The error of a
// server that has answered, and has not upgraded or has taken another protocol than those, is one of which
// httpstream.IsUpgradeFailure is true. If the server has answered with a metav1.Status, its cause is an *apierrors.StatusError.
func (rt *RoundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		defer request.Body.Close()
	}
	header := request.Header.Clone()
	protocols := header[wsstream.WebSocketProtocolHeader]
	delete(header, wsstream.WebSocketProtocolHeader) // the dialer writes it
	dialer := gwebsocket.Dialer{
		Proxy: rt.Proxier, TLSClientConfig: rt.TLSConfig, Subprotocols: protocols,
		ReadBufferSize: bufferSize, WriteBufferSize: bufferSize,
	}
	conn, resp, err := dialer.DialContext(request.Context(), overWebsocket(request.URL), header)
	if err != nil {
		if resp == nil || !errors.Is(err, gwebsocket.ErrBadHandshake) {
			return nil, err
		}
		defer resp.Body.Close()
		return nil, httpstreams.UpgradeFailure(refusal(err, resp))
	}
	if taken := conn.Subprotocol(); !slices.Contains(protocols, taken) {
		conn.Close()
		return nil, httpstreams.UpgradeFailure(fmt.Errorf("invalid protocol, expected one of %q, got %q", protocols, taken))
	}
	rt.Conn = conn
	return resp, nil
}

// overWebsocket returns u with the scheme of websockets.
func overWebsocket(u *url.URL) string {
	ws := *u
	switch ws.Scheme {
	case "http":
		ws.Scheme = "ws"
	case "https":
		ws.Scheme = "wss"
	}
	return ws.String()
}

// refusal says why a server did not upgrade: by its metav1.Status, in an error of which apierrors knows the reason, or by code and body.
func refusal(err error, resp *http.Response) error {
	body, readErr := io.ReadAll(resp.Body)
	if readErr != nil {
		return fmt.Errorf("%w (%s): reading the answer: %w", err, resp.Status, readErr)
	}
	var status metav1.Status
	if json.Unmarshal(body, &status) == nil && (status.Kind == "Status" || status.Kind == "" && status.Message != "") {
		return &apierrors.StatusError{ErrStatus: status}
	}
	if text := strings.TrimSpace(string(body)); text != "" {
		return fmt.Errorf("%w (%s): %s", err, resp.Status, text)
	}
	return fmt.Errorf("%w (%s)", err, resp.Status)
}

// RoundTripperFor returns a round tripper with the credentials, TLS and proxy of config, and the holder of the websocket that it
// will make. The pair is for one request.
func RoundTripperFor(config *restclient.Config) (http.RoundTripper, ConnectionHolder, error) {
	c, err := config.TransportConfig()
	if err != nil {
		return nil, nil, err
	}
	secured, err := transport.TLSConfigFor(c)
	if err != nil {
		return nil, nil, err
	}
	holder := &RoundTripper{TLSConfig: secured, Proxier: http.ProxyFromEnvironment}
	if config.Proxy != nil {
		holder.Proxier = config.Proxy
	}
	rt, err := transport.HTTPWrappersForConfig(c, holder)
	if err != nil {
		return nil, nil, err
	}
	return rt, holder, nil
}

// Negotiate sends req by rt and offers protocols, the preferred one first. It returns the websocket, whose Subprotocol the
// server has taken. rt and connectionInfo are a pair, see [RoundTripperFor].
func Negotiate(rt http.RoundTripper, connectionInfo ConnectionHolder, req *http.Request, protocols ...string) (*gwebsocket.Conn, error) {
	req.Header[wsstream.WebSocketProtocolHeader] = protocols
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if err := resp.Body.Close(); err != nil {
		if conn := connectionInfo.Connection(); conn != nil {
			conn.Close()
		}
		return nil, fmt.Errorf("error closing response body: %w", err)
	}
	return connectionInfo.Connection(), nil
}
