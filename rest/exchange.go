package rest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/decode"
	"github.com/kinform/kinform/rest/internal/redact"
	"github.com/kinform/kinform/rest/internal/transport"
	"github.com/kinform/kinform/rest/internal/wire"
)

// requestTarget identifies a request, for observers and error messages.
type requestTarget struct {
	RequestInfo
	name string
}

// request is a request before it is sent.
type request struct {
	method       string
	path         string // absolute, unescaped, without the path of the host
	query        url.Values
	accept       string
	list         bool         // the response is a list
	uncompressed *atomic.Bool // set if the list must come without compression
	body         []byte
	contentType  string
	target       requestTarget
	anyContent   bool // the response may be anything, and has no encoding
}

// exchange is a request with its response. The response stays open until close.
type exchange struct {
	config     *decodeConfig
	method     string
	info       RequestInfo
	address    url.URL         // as it is sent
	ctx        context.Context // the caller's context
	requestCtx context.Context // the request's context: ends with ctx, and at close
	cancel     context.CancelCauseFunc
	response   *http.Response
	encoding   Encoding            // of the response
	maxBytes   int64               // maximum bytes of a list, with all its parts; 0 means no limit
	kinds      *decode.KindChecker // the expected kinds of the stream's objects
	owned      bool                // the caller may change the objects
	silence    silence
	listBytes  *atomic.Int64 // bytes of the list so far; the response may be one of several parts
}

// errHeaderTimeout is the cause that ends a request if its response does not begin in time.
// [os.ErrDeadlineExceeded] makes it a net.Error that is a timeout, and distinguishes it from the
// end of the caller's context.
var errHeaderTimeout = fmt.Errorf("no response: %w", os.ErrDeadlineExceeded)

// send sends a request, and returns when the headers of its response report success. Any other
// result is an [*Error]. The response is open until close, or until ctx ends.
func (c *Client) send(ctx context.Context, r request) (*exchange, error) {
	u := *c.base
	u.Path = strings.TrimSuffix(u.Path, "/") + r.path
	u.RawPath = ""
	u.RawQuery = r.query.Encode()
	x := &exchange{config: &c.decodeConfig, method: r.method, info: r.target.RequestInfo, address: u, ctx: ctx}
	x.requestCtx, x.cancel = context.WithCancelCause(ctx)

	returned := false
	defer func() {
		if !returned { // The caller's code, such as an Observer, has panicked.
			x.close()
		}
	}()
	err := c.roundTrip(x, r)
	returned = true
	if err != nil {
		err = x.wrapError(err)
		x.close()
		return nil, err
	}
	return x, nil
}

func (c *Client) roundTrip(x *exchange, r request) error {
	if c.closed.Load() {
		return ErrClosed
	}
	if err := x.ctx.Err(); err != nil {
		return err
	}
	if c.limit != nil {
		if err := c.limit(x.ctx); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(x.requestCtx, r.method, "", bodyReader(r.body))
	if err != nil {
		return err
	}
	req.URL, req.Host = &x.address, x.address.Host // the same URL as after parsing its text
	req.Header.Set("Accept", r.accept)
	compress := c.compress && r.list && !r.uncompressed.Load()
	if compress {
		req.Header.Set("Accept-Encoding", "gzip")
	} else {
		// Without this header, the transport would request gzip, and decompress it.
		req.Header.Set("Accept-Encoding", "identity")
	}
	req.Header.Set("User-Agent", c.userAgent)
	if r.body != nil {
		req.Header.Set("Content-Type", orDefault(r.contentType, mediaTypeJSON))
	}
	credential, err := c.credentials.apply(req)
	if err != nil {
		return err
	}
	httpTransport, err := c.transport.Get(x.ctx, credential.certificate())
	if err != nil {
		return err
	}

	onResponse := c.notifySend(x, req)
	start := time.Now()
	timer := time.AfterFunc(c.headerTimeout, func() { x.cancel(errHeaderTimeout) })
	defer timer.Stop()
	x.response, err = httpTransport.RoundTrip(req)
	if err != nil && context.Cause(x.requestCtx) == errHeaderTimeout {
		err = c.headerTimeoutError()
	}
	c.notifyResponse(x, start, err, onResponse)
	if err != nil {
		if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
			c.transport.Expire() // the file may have a new CA bundle by now
		}
		return err
	}
	if compress {
		transport.Decompress(x.response, c.maxCompression, r.uncompressed)
	}
	c.warn(x)
	if x.response.StatusCode == http.StatusUnauthorized {
		c.credentials.onUnauthorized(credential)
		c.transport.Expire()
	}
	if x.response.StatusCode/100 != 2 {
		var body []byte
		if x.response.StatusCode != http.StatusSwitchingProtocols {
			// after 101, the body is a connection, and never ends
			body, _ = io.ReadAll(io.LimitReader(x.response.Body, decode.MaxStatusBytes))
		}
		return statusError(r.method, x.response, body, r.target)
	}
	if !r.anyContent {
		if x.encoding, err = encodingOf(x.response); err != nil {
			return err
		}
	}
	if !timer.Stop() {
		return c.headerTimeoutError()
	}
	return nil
}

// headerTimeoutError returns the error of an exchange that the header timeout ended.
func (c *Client) headerTimeoutError() error {
	return fmt.Errorf("%w: the server sent no headers within %s", errHeaderTimeout, c.headerTimeout)
}

// wrapError wraps the reason of an exchange's failure. If the caller's context has ended, or the
// client was closed, wrapError uses this as the reason instead of err.
func (x *exchange) wrapError(err error) error {
	_, wrapped := errors.AsType[*Error](err)
	switch {
	case x.ctx.Err() != nil:
		err = x.ctx.Err()
	case x.requestCtx != nil && context.Cause(x.requestCtx) == errSilent:
		err = fmt.Errorf("%w: fewer than %d bytes have arrived within %s (rest.Options.MaxSilence)", errSilent, minProgressBytes, x.config.maxSilence)
	case x.config.closed.Load():
		err = ErrClosed
	case wrapped:
		return err
	}
	failed := &Error{Method: x.method, URL: x.url(), Attempts: 1, Err: x.config.redactor.Err(err)}
	if x.response != nil {
		failed.StatusCode = x.response.StatusCode
		failed.retryAfter = x.response.Header.Get("Retry-After")
	}
	return failed
}

// wrapDecodeError is like wrapError, for an error of package decode. In an ObjectError, it wraps
// the reason.
func (x *exchange) wrapDecodeError(err error) error {
	failed, ok := err.(*listwatch.ObjectError)
	if !ok {
		return x.wrapError(err)
	}
	failed.Err = &Error{Method: x.method, URL: x.url(), Err: x.config.redactor.Err(failed.Err)}
	return failed
}

// decoding says how the objects of the response are decoded.
func (x *exchange) decoding(e Encoding, held decode.HeldFunc) decode.Response {
	return decode.Response{Encoding: wire.Encoding(e), Kinds: x.kinds, Owned: x.owned, Held: held}
}

// maxPreallocBytes limits the memory that the client allocates because of a length in response
// headers.
const maxPreallocBytes = 64 << 10

// body reads the whole response. A response of more than limit bytes is an error.
func (x *exchange) body(limit int) ([]byte, error) {
	var read bytes.Buffer
	if n := x.response.ContentLength; n > 0 && n <= int64(limit) {
		// ReadFrom needs room to find the end.
		read.Grow(int(min(n, maxPreallocBytes)) + bytes.MinRead)
	}
	_, err := read.ReadFrom(io.LimitReader(x, int64(limit)+1))
	body := read.Bytes()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, connectionLostError(err)
	}
	if err == nil && len(body) > limit {
		return nil, fmt.Errorf("%w: the response has more than %d bytes", ErrTooLarge, limit)
	}
	return body, err
}

// close ends the exchange at once, even while another goroutine reads its body.
func (x *exchange) close() {
	x.cancel(nil)
	if x.response != nil {
		_ = x.response.Body.Close()
	}
}

// url returns the URL for messages, without secrets.
func (x *exchange) url() string {
	return x.config.redactor.Text(redact.URL(x.address))
}
