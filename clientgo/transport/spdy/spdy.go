package spdy

//lint:file-ignore SA1019 programs may have types of apimachinery's httpstream, which client-go's signatures name

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	older "k8s.io/apimachinery/pkg/util/httpstream"
	olderspdy "k8s.io/apimachinery/pkg/util/httpstream/spdy"
	"k8s.io/client-go/internal/httpstreams"
	restclient "k8s.io/client-go/rest"
	"k8s.io/streaming/pkg/httpstream"
)

// pingPeriod is the period of pings to the server. Without pings, a proxy could close the
// connection as idle.
const pingPeriod = 5 * time.Second

// Upgrader turns a server's response into a connection.
type Upgrader interface {
	// NewConnection returns the connection of a response that accepts SPDY/3.1. For any other
	// response it returns the server's message as an error.
	NewConnection(resp *http.Response) (older.Connection, error)
}

// RoundTripperFor returns a round tripper with the credentials, TLS and proxy of config, and the
// Upgrader for its responses. The two handle one request at a time, because the Upgrader returns
// the connection of the latest request. RoundTripperFor ignores Dial and Transport of config.
func RoundTripperFor(config *restclient.Config) (http.RoundTripper, Upgrader, error) {
	secured, err := restclient.TLSConfigFor(config)
	if err != nil {
		return nil, nil, err
	}
	proxy := http.ProxyFromEnvironment
	if config.Proxy != nil {
		proxy = config.Proxy
	}
	upgrader, err := olderspdy.NewRoundTripperWithConfig(olderspdy.RoundTripperConfig{TLS: secured, Proxier: proxy, PingPeriod: pingPeriod})
	if err != nil {
		return nil, nil, err
	}
	rt, err := restclient.HTTPWrappersForConfig(config, upgrader)
	if err != nil {
		return nil, nil, err
	}
	return rt, upgrader, nil
}

// NewUpgraderForStreaming returns an Upgrader for a round tripper of k8s.io/streaming.
func NewUpgraderForStreaming(upgrader httpstream.UpgradeRoundTripper) Upgrader {
	return streamingUpgrader{upgrader}
}

type streamingUpgrader struct{ httpstream.UpgradeRoundTripper }

func (u streamingUpgrader) NewConnection(resp *http.Response) (older.Connection, error) {
	c, err := u.UpgradeRoundTripper.NewConnection(resp)
	if err != nil {
		return nil, err
	}
	return httpstreams.Older(c), nil
}

// Negotiate sends req and offers protocols in order of preference. It returns the connection, and
// the protocol that the server chose. The protocol is "" if the server named no protocol. The
// client's transport and the upgrader must come from one call of [RoundTripperFor].
func Negotiate(upgrader Upgrader, client *http.Client, req *http.Request, protocols ...string) (older.Connection, string, error) {
	for _, protocol := range protocols {
		req.Header.Add(older.HeaderProtocolVersion, protocol)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, "", fmt.Errorf("error sending request: %w", err)
	}
	defer resp.Body.Close()
	c, err := upgrader.NewConnection(resp)
	if err != nil {
		return nil, "", err
	}
	return c, resp.Header.Get(older.HeaderProtocolVersion), nil
}

// NegotiateStreaming is [Negotiate] with the types of k8s.io/streaming.
func NegotiateStreaming(upgrader Upgrader, client *http.Client, req *http.Request, protocols ...string) (httpstream.Connection, string, error) {
	c, protocol, err := Negotiate(upgrader, client, req, protocols...)
	if err != nil {
		return nil, "", err
	}
	return httpstreams.Newer(c), protocol, nil
}

// NewDialer returns a dialer that sends a request with this method to url, and upgrades it.
func NewDialer(upgrader Upgrader, client *http.Client, method string, url *url.URL) older.Dialer {
	return &dialer{upgrader: upgrader, client: client, method: method, url: url}
}

// NewDialerForStreaming is [NewDialer] with the types of k8s.io/streaming.
func NewDialerForStreaming(upgrader Upgrader, client *http.Client, method string, url *url.URL) httpstream.Dialer {
	return httpstreams.NewerDialer(NewDialer(upgrader, client, method, url))
}

type dialer struct {
	upgrader Upgrader
	client   *http.Client
	method   string
	url      *url.URL
}

func (d *dialer) Dial(protocols ...string) (older.Connection, string, error) {
	req, err := http.NewRequest(d.method, d.url.String(), nil)
	if err != nil {
		return nil, "", fmt.Errorf("error creating request: %w", err)
	}
	return Negotiate(d.upgrader, d.client, req, protocols...)
}
