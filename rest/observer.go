package rest

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/rest/internal/decode"
)

// Observer is a set of hooks into a client; each may be nil. The goroutines that do the work call
// the hooks, with no lock held. Several goroutines may call a hook at the same time. A hook delays
// the request until it returns.
type Observer struct {
	// OnSend is called for each request before it is sent, with the context of its caller.
	// setHeader sets a header of the request, such as traceparent. It may be called until OnSend
	// returns, and must not set headers that the client sets. OnSend may return a function, which
	// is called with the response, after OnResponse.
	OnSend func(ctx context.Context, info RequestInfo, setHeader func(name, value string)) (onResponse func(ResponseInfo))

	// OnResponse is called once for each request that was sent: when the headers of the response
	// have arrived, or when the request has failed without a response.
	OnResponse func(ResponseInfo)

	// OnRetry is called before the wait for each retry.
	OnRetry func(RetryInfo)

	// OnStreamEnd is called once for each list and each watch that was opened, when its user
	// closes it.
	OnStreamEnd func(StreamInfo)

	// OnWarning is called for each warning (RFC 7234, code 299) that a server sent with a response,
	// for example about a deprecated version.
	OnWarning func(text string)
}

// RequestInfo identifies a request by a few values that are suitable as labels of metrics. A URL is
// not suitable as a label, because it has names and versions of objects.
type RequestInfo struct {
	// Verb is the API's verb: get, list, watch, create, update, patch, delete or deletecollection.
	// For a request by [Client.Raw] it is "raw", and the other fields are empty.
	Verb string

	// Resource is the group, version and resource.
	Resource schema.GroupVersionResource

	// Subresource is the subresource, such as "status", or "" for the object itself.
	Subresource string
}

// ResponseInfo describes the response to a request.
type ResponseInfo struct {
	RequestInfo

	Method string
	URL    string // with names and versions; for the labels of metrics, use RequestInfo

	// StatusCode is the code of the response, or 0 if Err is set.
	StatusCode int

	// Latency is the time from sending the request to the headers of the response.
	Latency time.Duration

	// Err says why there is no response. It is nil if there is a response.
	Err error
}

// RetryInfo describes a failure after which a request is retried.
type RetryInfo struct {
	RequestInfo

	// Err is the failure, with the number of attempts so far.
	Err *Error

	// Wait is the time until the next attempt.
	Wait time.Duration
}

// StreamInfo describes a list or a watch that was closed.
type StreamInfo struct {
	RequestInfo

	URL string // with versions; for the labels of metrics, use RequestInfo

	// Objects counts the objects and events that Next returned. Unchanged counts the objects among
	// them that were not decoded, because the user of the stream already has them. ObjectErrors
	// counts the undecodable objects.
	Objects, Unchanged, ObjectErrors int

	// Duration is the time from the headers of the response to Close.
	Duration time.Duration

	// Err is the last error of Next. It is io.EOF after an orderly end, and nil if the stream was
	// closed before its end.
	Err error
}

// Stats has the counters of a client since NewClient. Each number is exact, but the numbers may be
// of slightly different moments, because they are read one after another.
type Stats struct {
	// Requests counts the requests that were sent, Failures the requests without a response, and
	// Retries the requests that were retries.
	Requests, Failures, Retries uint64

	// Connections is the number of open connections, and Streams the number of open lists and
	// watches.
	Connections, Streams int

	// BytesReceived and BytesSent count bytes on the connections, including headers and encryption.
	BytesReceived, BytesSent uint64

	// Decoded counts the decoded objects of lists and watches. Unchanged counts the objects that
	// were recognised by their version and not decoded. ObjectErrors counts the undecodable
	// objects.
	Decoded, Unchanged, ObjectErrors uint64

	// BytesOmitted counts the bytes, in the server's encoding, that ResourceOptions.Project has
	// removed from objects before they were decoded.
	BytesOmitted uint64
}

// counters has the numbers of Stats that the client counts itself; the transport counts
// connections and their bytes.
type counters struct {
	requests, failures, retries      atomic.Uint64
	streams                          atomic.Int64
	decoded, unchanged, objectErrors atomic.Uint64
	omitted                          atomic.Uint64
}

// Stats returns the counters of the client. It is cheap, and safe for concurrent
// use.
func (c *Client) Stats() Stats {
	open, received, sent := c.transport.Connections()
	return Stats{
		Requests:      c.counters.requests.Load(),
		Failures:      c.counters.failures.Load(),
		Retries:       c.counters.retries.Load(),
		Connections:   open,
		Streams:       int(c.counters.streams.Load()),
		BytesReceived: received,
		BytesSent:     sent,
		Decoded:       c.counters.decoded.Load(),
		Unchanged:     c.counters.unchanged.Load(),
		ObjectErrors:  c.counters.objectErrors.Load(),
		BytesOmitted:  c.counters.omitted.Load(),
	}
}

// notifySend calls OnSend. It returns the function to call with the response, or nil.
func (c *Client) notifySend(x *exchange, r *http.Request) func(ResponseInfo) {
	if c.observer == nil || c.observer.OnSend == nil {
		return nil
	}
	return c.observer.OnSend(x.ctx, x.info, r.Header.Set)
}

// notifyResponse reports the outcome of a request to OnResponse of the Observer, and to the
// function onResponse that OnSend returned, which may be nil.
func (c *Client) notifyResponse(x *exchange, start time.Time, err error, onResponse func(ResponseInfo)) {
	c.counters.requests.Add(1)
	if err != nil {
		c.counters.failures.Add(1)
	}
	if onResponse == nil && (c.observer == nil || c.observer.OnResponse == nil) {
		return
	}
	info := ResponseInfo{RequestInfo: x.info, Method: x.method, URL: x.url(), Latency: time.Since(start), Err: c.redactor.Err(err)}
	if err == nil {
		info.StatusCode = x.response.StatusCode
	}
	if c.observer.OnResponse != nil {
		c.observer.OnResponse(info)
	}
	if onResponse != nil {
		onResponse(info)
	}
}

// warn passes the warnings of a response to the observer and to the log.
func (c *Client) warn(x *exchange) {
	n := 0
	for text := range warnings(x.response.Header["Warning"]) {
		if n++; n > maxWarnings {
			break
		}
		text = decode.TruncatedText(text)
		text = c.redactor.Text(text)
		if c.loggedWarnings.addIfNew(text) {
			c.logger.Warn("Warning from the API server.", "url", x.url(), "warning", text)
		}
		if c.observer != nil && c.observer.OnWarning != nil {
			c.observer.OnWarning(text)
		}
	}
}
