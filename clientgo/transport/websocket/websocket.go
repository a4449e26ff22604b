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

// dataSize limits the data of a message, in bytes. The buffer has one more byte for the channel
// number. A frame is as large as the buffer. Each message must fit into one frame, because servers
// treat each frame as a separate message.
const (
	dataSize   = 32 * 1024
	bufferSize = dataSize + 1
)

// ConnectionHolder has the websocket that a round tripper has opened.
type ConnectionHolder interface {
	// DataBufferSize returns the maximal number of bytes of data in a message, without the channel
	// number.
	DataBufferSize() int
	// Connection returns the websocket. It returns nil if no request has succeeded yet.
	Connection() *gwebsocket.Conn
}

// RoundTripper opens one websocket. Each request needs its own RoundTripper.
type RoundTripper struct {
	// TLSConfig is for servers with an https or wss URL. nil means the defaults of crypto/tls.
	TLSConfig *tls.Config
	// Proxier returns the proxy for a request, or nil for no proxy. A nil Proxier means no proxy.
	Proxier func(req *http.Request) (*url.URL, error)
	// Conn is the websocket after RoundTrip.
	Conn *gwebsocket.Conn
}

// Connection returns Conn.
func (rt *RoundTripper) Connection() *gwebsocket.Conn { return rt.Conn }

// DataBufferSize returns 32768.
func (rt *RoundTripper) DataBufferSize() int { return dataSize }

// TLSClientConfig returns TLSConfig.
func (rt *RoundTripper) TLSClientConfig() *tls.Config { return rt.TLSConfig }

// RoundTrip opens the websocket. The request's Sec-Websocket-Protocol header has the protocols to
// offer. If the server responds without upgrading, or chooses a protocol that was not offered,
// httpstream.IsUpgradeFailure is true for the error. If the response is a metav1.Status, the error
// wraps an *apierrors.StatusError.
func (rt *RoundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		defer request.Body.Close()
	}
	header := request.Header.Clone()
	protocols := header[wsstream.WebSocketProtocolHeader]
	delete(header, wsstream.WebSocketProtocolHeader) // the dialer writes this header
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
		return nil, httpstreams.UpgradeFailure(upgradeError(err, resp))
	}
	if taken := conn.Subprotocol(); !slices.Contains(protocols, taken) {
		conn.Close()
		return nil, httpstreams.UpgradeFailure(fmt.Errorf("invalid protocol, expected one of %q, got %q", protocols, taken))
	}
	rt.Conn = conn
	return resp, nil
}

// overWebsocket returns u with the scheme ws or wss.
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

// upgradeError returns the error for a response that does not upgrade the connection. If the
// response body is a metav1.Status, the result is an error that the functions of package apierrors
// recognize. Otherwise the error has the status code and the body.
func upgradeError(err error, resp *http.Response) error {
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

// RoundTripperFor returns a round tripper with the credentials, TLS and proxy of config, and the
// holder of the websocket that it opens. Both are for one request.
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

// Negotiate sends req through rt and offers protocols in order of preference. It returns the
// websocket, whose Subprotocol is the protocol that the server has chosen. rt and connectionInfo
// must come from one call of [RoundTripperFor].
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
