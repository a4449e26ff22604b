package transport

import (
	"context"
	"errors"
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// WrapperFunc wraps a round tripper.
type WrapperFunc func(rt http.RoundTripper) http.RoundTripper

// Wrappers returns one wrapper that calls the functions fns in order, and skips nil functions. It
// returns nil if there are no functions, and if there are two functions that are both nil.
func Wrappers(fns ...WrapperFunc) WrapperFunc {
	var chain []WrapperFunc
	for _, fn := range fns {
		if fn != nil {
			chain = append(chain, fn)
		}
	}
	switch len(chain) {
	case 0:
		// two nil functions come from Wrap(nil) on a configuration without a wrapper
		if len(fns) == 0 || len(fns) == 2 {
			return nil
		}
	case 1:
		return chain[0]
	}
	return func(rt http.RoundTripper) http.RoundTripper {
		for _, fn := range chain {
			rt = fn(rt)
		}
		return rt
	}
}

// ContextCanceller returns a wrapper. After ctx has ended, its requests return err without being
// sent.
func ContextCanceller(ctx context.Context, err error) WrapperFunc {
	return func(rt http.RoundTripper) http.RoundTripper {
		return &layer{next: rt, do: func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
			if ctx.Err() != nil {
				return nil, err
			}
			return next.RoundTrip(req)
		}}
	}
}

// layer is a round tripper that wraps another round tripper.
type layer struct {
	next http.RoundTripper
	do   func(req *http.Request, next http.RoundTripper) (*http.Response, error)
}

var _ utilnet.RoundTripperWrapper = (*layer)(nil)

// RoundTrip implements [http.RoundTripper].
func (l *layer) RoundTrip(req *http.Request) (*http.Response, error) { return l.do(req, l.next) }

// WrappedRoundTripper lets callers find the http.Transport inside.
func (l *layer) WrappedRoundTripper() http.RoundTripper { return l.next }

// settingLayer returns a layer that calls set with a copy of each request and sends the copy. If
// skip returns true for a request, the layer sends the request unchanged.
func settingLayer(next http.RoundTripper, skip func(*http.Request) bool, set func(*http.Request)) http.RoundTripper {
	return &layer{next: next, do: func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		if skip == nil || !skip(req) {
			req = utilnet.CloneRequest(req)
			set(req)
		}
		return next.RoundTrip(req)
	}}
}

func has(header string) func(*http.Request) bool {
	return func(req *http.Request) bool { return req.Header.Get(header) != "" }
}

// HTTPWrappersForConfig wraps rt as config requires. From the inside out, the layers are
// WrapTransport, logging, authentication, user agent, and impersonation.
func HTTPWrappersForConfig(config *Config, rt http.RoundTripper) (http.RoundTripper, error) {
	if config.WrapTransport != nil {
		rt = config.WrapTransport(rt)
	}
	rt = DebugWrappers(rt)
	switch {
	case config.HasBasicAuth() && config.HasTokenAuth():
		return nil, errors.New("username/password or bearer token may be set, but not both")
	case config.HasTokenAuth():
		var err error
		if rt, err = NewBearerAuthWithRefreshRoundTripper(config.BearerToken, config.BearerTokenFile, rt); err != nil {
			return nil, err
		}
	case config.HasBasicAuth():
		rt = NewBasicAuthRoundTripper(config.Username, config.Password, rt)
	}
	if config.UserAgent != "" {
		rt = NewUserAgentRoundTripper(config.UserAgent, rt)
	}
	if config.Impersonate.isSet() {
		rt = NewImpersonatingRoundTripper(config.Impersonate, rt)
	}
	return rt, nil
}
