package disk

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"
)

// transport caches the responses that a server allows a client to store.
type transport struct {
	next      http.RoundTripper
	directory string
}

// WrappedRoundTripper returns the transport that sends the requests.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip returns a stored response while the server allows it to be used. Otherwise it sends the
// request, with the ETag of the stored response.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if !cacheableRequest(request) {
		return t.next.RoundTrip(request)
	}
	known := t.load(request)
	if known == nil {
		return t.storeAfterRead(t.next.RoundTrip(request))
	}
	if known.fresh(time.Now()) {
		return known.response(request), nil
	}
	tag := known.Header.Get("Etag")
	if tag == "" {
		return t.storeAfterRead(t.next.RoundTrip(request))
	}
	conditional := request.Clone(request.Context())
	conditional.Header.Set("If-None-Match", tag)
	response, err := t.storeAfterRead(t.next.RoundTrip(conditional))
	if err != nil || response.StatusCode != http.StatusNotModified {
		return response, err
	}
	_ = response.Body.Close()
	return known.response(request), nil
}

// cacheableRequest reports whether a stored response may satisfy a request.
func cacheableRequest(r *http.Request) bool {
	if r.Method != http.MethodGet || r.Body != nil && r.Body != http.NoBody {
		return false
	}
	for _, header := range []string{"Range", "If-None-Match", "If-Modified-Since", "Cache-Control", "Accept-Encoding", "Upgrade"} {
		if r.Header.Get(header) != "" {
			return false
		}
	}
	return true
}

// storeAfterRead arranges for a storable response to be stored once its body has been read to the
// end.
func (t *transport) storeAfterRead(response *http.Response, err error) (*http.Response, error) {
	if err != nil || response.StatusCode != http.StatusOK || !cacheable(response.Header) {
		return response, err
	}
	response.Body = &storingBody{ReadCloser: response.Body, transport: t, entry: newEntry(response, time.Now())}
	return response, nil
}

// cacheable reports whether a server allows a response to be stored, and whether a stored response
// could save a later request or transfer.
func cacheable(h http.Header) bool {
	if directives(h)["no-store"] != nil || h.Get("Content-Encoding") != "" || h.Get("Set-Cookie") != "" {
		return false
	}
	for _, line := range h.Values("Vary") {
		for name := range strings.SplitSeq(line, ",") {
			switch http.CanonicalHeaderKey(strings.TrimSpace(name)) {
			case "Accept", "Accept-Encoding", "":
			default:
				return false
			}
		}
	}
	return h.Get("Etag") != "" || lifetime(h) > 0
}

// storingBody copies a body while it is read.
type storingBody struct {
	io.ReadCloser
	transport *transport
	entry     *entry
	read      bytes.Buffer
	done      bool // too large, ended early, or stored
}

// Read stores the response when it reaches the end of the body.
func (k *storingBody) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	if k.done {
		return n, err
	}
	k.read.Write(p[:n])
	switch {
	case k.read.Len() > maxFile/2:
		k.done, k.read = true, bytes.Buffer{}
	case err == io.EOF: //nolint:errorlint // the orderly end of the body
		k.done = true
		// without the file, the next request is sent to the server
		_ = k.transport.store(k.entry, k.read.Bytes())
	case err != nil:
		k.done = true
	}
	return n, err
}
