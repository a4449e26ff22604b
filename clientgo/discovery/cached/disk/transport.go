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

// RoundTrip returns a stored response while the server allows it to be used. Otherwise it asks the
// server, with the ETag of the stored response.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if !askable(request) {
		return t.next.RoundTrip(request)
	}
	known := t.load(request)
	if known == nil {
		return t.keep(t.next.RoundTrip(request))
	}
	if known.fresh(time.Now()) {
		return known.response(request), nil
	}
	tag := known.Header.Get("Etag")
	if tag == "" {
		return t.keep(t.next.RoundTrip(request))
	}
	conditional := request.Clone(request.Context())
	conditional.Header.Set("If-None-Match", tag)
	response, err := t.keep(t.next.RoundTrip(conditional))
	if err != nil || response.StatusCode != http.StatusNotModified {
		return response, err
	}
	_ = response.Body.Close()
	return known.response(request), nil
}

// askable reports whether a stored response may satisfy a request.
func askable(r *http.Request) bool {
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

// keep arranges for a storable response to be stored once its body has been read to the end.
func (t *transport) keep(response *http.Response, err error) (*http.Response, error) {
	if err != nil || response.StatusCode != http.StatusOK || !keepable(response.Header) {
		return response, err
	}
	response.Body = &keeper{ReadCloser: response.Body, transport: t, entry: newEntry(response, time.Now())}
	return response, nil
}

// keepable reports whether a server allows a response to be stored, and whether a stored response
// could save a later request or transfer.
func keepable(h http.Header) bool {
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

// keeper copies a body while it is read.
type keeper struct {
	io.ReadCloser
	transport *transport
	entry     *entry
	read      bytes.Buffer
	over      bool // too large, ended early, or stored
}

// Read stores the response when it reaches the end of the body.
func (k *keeper) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	if k.over {
		return n, err
	}
	k.read.Write(p[:n])
	switch {
	case k.read.Len() > maxFile/2:
		k.over, k.read = true, bytes.Buffer{}
	case err == io.EOF: //nolint:errorlint // that is the orderly end
		k.over = true
		// without the file, the next request asks the server
		_ = k.transport.store(k.entry, k.read.Bytes())
	case err != nil:
		k.over = true
	}
	return n, err
}
