package httpcache

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
)

// XFromCache is a header of responses from the cache, with the value "1".
const XFromCache = "X-From-Cache"

// variedPrefix is the prefix of extra headers in cached responses. These headers hold the request's
// values of the headers that the response names in Vary.
const variedPrefix = "X-Varied-"

// Transport is an http.RoundTripper that returns cached responses when permitted. If a cached
// response may be out of date, the transport revalidates it with the server. It may be used by
// several goroutines at once.
type Transport struct {
	// Transport sends requests. Defaults to http.DefaultTransport.
	Transport http.RoundTripper
	// Cache is required.
	Cache Cache
	// MarkCachedResponses adds the header XFromCache to responses from the cache.
	MarkCachedResponses bool
}

// NewTransport returns a transport that marks responses from the cache.
func NewTransport(c Cache) *Transport { return &Transport{Cache: c, MarkCachedResponses: true} }

// NewMemoryCacheTransport returns a transport with a cache in memory.
func NewMemoryCacheTransport() *Transport { return NewTransport(NewMemoryCache()) }

// Client returns a client of the transport.
func (t *Transport) Client() *http.Client { return &http.Client{Transport: t} }

// RoundTrip implements http.RoundTripper. It caches responses to GET and HEAD. A response to GET is
// cached once its body has been read to the end. Partial responses are not cached.
func (t *Transport) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead || req.Header.Get("Range") != "" {
		t.Cache.Delete(req.URL.String())
		return t.send(req)
	}
	kept, err := CachedResponse(t.Cache, req)
	if err != nil || kept == nil {
		if directivesOf(req.Header).has("only-if-cached") {
			return gatewayTimeout(req)
		}
		if resp, err = t.send(req); err != nil {
			return nil, err
		}
		return t.storeAfterRead(req, resp), nil
	}
	if t.MarkCachedResponses {
		kept.Header.Set(XFromCache, "1")
	}
	conditional := req
	if matchesVary(kept, req) {
		switch cacheUseOf(kept.Header, req.Header) {
		case useFresh:
			return kept, nil
		case useAfterValidation:
			conditional = withValidators(req, kept.Header)
		}
	}
	resp, err = t.send(conditional)
	get := req.Method == http.MethodGet
	switch {
	case err == nil && get && resp.StatusCode == http.StatusNotModified:
		_ = resp.Body.Close()
		update(kept.Header, resp.Header)
		return t.storeAfterRead(req, kept), nil
	case get && (err != nil || resp.StatusCode >= http.StatusInternalServerError) && mayUseOnError(kept.Header, req.Header):
		if err == nil {
			_ = resp.Body.Close()
		}
		return kept, nil
	case err != nil:
		t.Cache.Delete(keyOf(req))
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		t.Cache.Delete(keyOf(req))
	}
	return t.storeAfterRead(req, resp), nil
}

func (t *Transport) send(req *http.Request) (*http.Response, error) {
	if t.Transport == nil {
		return http.DefaultTransport.RoundTrip(req)
	}
	return t.Transport.RoundTrip(req)
}

// matchesVary reports whether a cached response fits a request. All headers named in the response's
// Vary must have the same values as in the original request.
func matchesVary(cached *http.Response, req *http.Request) bool {
	for _, name := range commaSeparated(cached.Header, "Vary") {
		if req.Header.Get(name) != cached.Header.Get(variedPrefix+name) {
			return false
		}
	}
	return true
}

// withValidators returns a conditional copy of the request, with which the server validates the
// cached response. If the cached response has no ETag and no Last-Modified, the copy is an ordinary
// request.
func withValidators(req *http.Request, cached http.Header) *http.Request {
	conditional := req.Clone(req.Context())
	for from, to := range map[string]string{"Etag": "If-None-Match", "Last-Modified": "If-Modified-Since"} {
		if value := cached.Get(from); value != "" && req.Header.Get(to) == "" {
			conditional.Header.Set(to, value)
		}
	}
	return conditional
}

// update changes the headers of a cached response after the server has validated it. It copies the
// headers of the server's response, except headers about the connection.
func update(cached, response http.Header) {
	own := map[string]bool{"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Authorization": true,
		"Te": true, "Trailers": true, "Transfer-Encoding": true, "Upgrade": true}
	for _, name := range commaSeparated(response, "Connection") {
		own[http.CanonicalHeaderKey(name)] = true
	}
	for name, values := range response {
		if !own[name] {
			cached[name] = values
		}
	}
}

// storeAfterRead caches a response if both request and response permit it.
func (t *Transport) storeAfterRead(req *http.Request, resp *http.Response) *http.Response {
	key := keyOf(req)
	if directivesOf(req.Header).has("no-store") || directivesOf(resp.Header).has("no-store") {
		t.Cache.Delete(key)
		return resp
	}
	for _, name := range commaSeparated(resp.Header, "Vary") {
		if value := req.Header.Get(name); value != "" {
			resp.Header.Set(variedPrefix+name, value)
		}
	}
	if req.Method == http.MethodGet {
		resp.Body = &storingBody{ReadCloser: resp.Body, cache: t.Cache, key: key, resp: *resp}
		return resp
	}
	if dump, err := httputil.DumpResponse(resp, true); err == nil {
		t.Cache.Set(key, dump)
	}
	return resp
}

// storingBody copies a body while it is read, and stores the response when the end has been read.
type storingBody struct {
	io.ReadCloser
	cache Cache
	key   string
	resp  http.Response
	read  bytes.Buffer
}

func (k *storingBody) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	k.read.Write(p[:n])
	if err == io.EOF { //nolint:errorlint // the orderly end of the body
		k.resp.Body = io.NopCloser(bytes.NewReader(k.read.Bytes()))
		if dump, err := httputil.DumpResponse(&k.resp, true); err == nil {
			k.cache.Set(k.key, dump)
		}
	}
	return n, err
}

// gatewayTimeout returns the response to a request that permits only cached responses.
func gatewayTimeout(req *http.Request) (*http.Response, error) {
	return http.ReadResponse(bufio.NewReader(strings.NewReader("HTTP/1.1 504 Gateway Timeout\r\n\r\n")), req)
}
