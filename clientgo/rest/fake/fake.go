// Package fake has a client that needs no server, for tests.
package fake

import (
	"context"
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// roundTripper is a function that implements [http.RoundTripper].
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// CreateHTTPClient returns a client that sends requests to roundTripper_.
func CreateHTTPClient(roundTripper_ func(*http.Request) (*http.Response, error)) *http.Client {
	return &http.Client{Transport: roundTripper(roundTripper_)}
}

// RESTClient is a rest.Interface with prepared responses.
type RESTClient struct {
	NegotiatedSerializer runtime.NegotiatedSerializer
	GroupVersion         schema.GroupVersion
	VersionedAPIPath     string

	// Err, if set, is the error of every request. In this case Req is not changed.
	Err error
	// Req is the last request.
	Req *http.Request
	// Client sends the requests if Err is not set.
	Client *http.Client
	// Resp is the response if neither Err nor Client is set.
	Resp *http.Response
}

var _ restclient.Interface = (*RESTClient)(nil)

// GetRateLimiter returns nil.
func (c *RESTClient) GetRateLimiter() flowcontrol.RateLimiter { return nil }

// Verb begins a request.
func (c *RESTClient) Verb(verb string) *restclient.Request { return c.Request().Verb(verb) }

// APIVersion returns GroupVersion.
func (c *RESTClient) APIVersion() schema.GroupVersion { return c.GroupVersion }

// Get begins a GET.
func (c *RESTClient) Get() *restclient.Request { return c.Verb("GET") }

// Put begins a PUT.
func (c *RESTClient) Put() *restclient.Request { return c.Verb("PUT") }

// Patch begins a PATCH.
func (c *RESTClient) Patch(pt types.PatchType) *restclient.Request {
	return c.Verb("PATCH").SetHeader("Content-Type", string(pt))
}

// Post begins a POST.
func (c *RESTClient) Post() *restclient.Request { return c.Verb("POST") }

// Delete begins a DELETE.
func (c *RESTClient) Delete() *restclient.Request { return c.Verb("DELETE") }

// Request begins a request to https://localhost.
func (c *RESTClient) Request() *restclient.Request {
	content := restclient.ClientContentConfig{
		ContentType: runtime.ContentTypeJSON, GroupVersion: c.GroupVersion,
		Negotiator: runtime.NewClientNegotiator(c.NegotiatedSerializer, c.GroupVersion),
	}
	base := &url.URL{Scheme: "https", Host: "localhost"}
	return restclient.NewRequestWithClient(base, c.VersionedAPIPath, content, CreateHTTPClient(c.respond))
}

func (c *RESTClient) respond(req *http.Request) (*http.Response, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	c.Req = req.WithContext(context.WithoutCancel(req.Context()))
	if c.Client != nil {
		return c.Client.Do(req)
	}
	return c.Resp, nil
}
