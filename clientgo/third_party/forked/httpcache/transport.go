package httpcache

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
)

// XFromCache is a header of responses that come from the cache, with the value "1".
const XFromCache = "X-From-Cache"

// varied is the beginning of headers of kept responses: each has what the request had in a header that Vary names.
const varied = "X-Varied-"

// Transport is an http.RoundTripper that answers from a cache if it may, and asks the server by validators if the response
// that it has may be out of date. It may be used at the same time by several goroutines.
type Transport struct {
	// Transport sends requests. nil is http.DefaultTransport.
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

// RoundTrip implements http.RoundTripper. Responses to GET and HEAD are kept, those to GET when their body has been read to
// its end. Of a part of a body, nothing is kept.
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
		return t.keep(req, resp), nil
	}
	if t.MarkCachedResponses {
		kept.Header.Set(XFromCache, "1")
	}
	conditional := req
	if suits(kept, req) {
		switch useOf(kept.Header, req.Header) {
		case fresh:
			return kept, nil
		case validate:
			conditional = withValidators(req, kept.Header)
		}
	}
	resp, err = t.send(conditional)
	get := req.Method == http.MethodGet
	switch {
	case err == nil && get && resp.StatusCode == http.StatusNotModified:
		_ = resp.Body.Close()
		update(kept.Header, resp.Header)
		return t.keep(req, kept), nil
	case get && (err != nil || resp.StatusCode >= http.StatusInternalServerError) && helpsOnError(kept.Header, req.Header):
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
	return t.keep(req, resp), nil
}

func (t *Transport) send(req *http.Request) (*http.Response, error) {
	if t.Transport == nil {
		return http.DefaultTransport.RoundTrip(req)
	}
	return t.Transport.RoundTrip(req)
}

// suits reports whether a kept response is one to this request, by the headers that its Vary names.
func suits(kept *http.Response, req *http.Request) bool {
	for _, name := range commaSeparated(kept.Header, "Vary") {
		if req.Header.Get(name) != kept.Header.Get(varied+name) {
			return false
		}
	}
	return true
}

// withValidators returns a copy of the request that asks whether the kept response is still valid, or the request itself if
// that response has no validators.
func withValidators(req *http.Request, kept http.Header) *http.Request {
	conditional := req.Clone(req.Context())
	for from, to := range map[string]string{"Etag": "If-None-Match", "Last-Modified": "If-Modified-Since"} {
		if value := kept.Get(from); value != "" && req.Header.Get(to) == "" {
			conditional.Header.Set(to, value)
		}
	}
	return conditional
}

// update replaces headers of a kept response by those of the answer that it is still valid, except the headers that are
// about the connection.
func update(kept, answer http.Header) {
	own := map[string]bool{"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Authorization": true,
		"Te": true, "Trailers": true, "Transfer-Encoding": true, "Upgrade": true}
	for _, name := range commaSeparated(answer, "Connection") {
		own[http.CanonicalHeaderKey(name)] = true
	}
	for name, values := range answer {
		if !own[name] {
			kept[name] = values
		}
	}
}

// keep has a response kept if both sides let it.
func (t *Transport) keep(req *http.Request, resp *http.Response) *http.Response {
	key := keyOf(req)
	if directivesOf(req.Header).has("no-store") || directivesOf(resp.Header).has("no-store") {
		t.Cache.Delete(key)
		return resp
	}
	for _, name := range commaSeparated(resp.Header, "Vary") {
		if value := req.Header.Get(name); value != "" {
			resp.Header.Set(varied+name, value)
		}
	}
	if req.Method == http.MethodGet {
		resp.Body = &keeper{ReadCloser: resp.Body, cache: t.Cache, key: key, resp: *resp}
		return resp
	}
	if dump, err := httputil.DumpResponse(resp, true); err == nil {
		t.Cache.Set(key, dump)
	}
	return resp
}

// keeper copies a body while it is read, and keeps the response when it has read the end.
type keeper struct {
	io.ReadCloser
	cache Cache
	key   string
	resp  http.Response
	read  bytes.Buffer
}

func (k *keeper) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	k.read.Write(p[:n])
	if err == io.EOF { //nolint:errorlint // that is the orderly end
		k.resp.Body = io.NopCloser(bytes.NewReader(k.read.Bytes()))
		if dump, err := httputil.DumpResponse(&k.resp, true); err == nil {
			k.cache.Set(k.key, dump)
		}
	}
	return n, err
}

// gatewayTimeout is the response to a request that may only be answered from the cache.
func gatewayTimeout(req *http.Request) (*http.Response, error) {
	return http.ReadResponse(bufio.NewReader(strings.NewReader("HTTP/1.1 504 Gateway Timeout\r\n\r\n")), req)
}
