package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	"k8s.io/client-go/internal/sink"
	"k8s.io/client-go/tools/metrics"
)

// throttle waits for the rate limiter. reason says why there is a further attempt. It is "" for the
// first attempt.
func (r *Request) throttle(ctx context.Context, reason string) error {
	if r.limiter == nil {
		return nil
	}
	start := time.Now()
	err := r.limiter.Wait(ctx)
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("client rate limiter Wait returned an error: %w", err)
	}
	took := time.Since(start)
	if took > longThrottle {
		if reason == "" {
			reason = "client-side throttling, not priority and fairness"
		}
		r.logWait(ctx, took, reason)
	}
	metrics.RateLimiterLatency.Observe(ctx, r.verb, r.urlTemplate(), took)
	return err
}

func (r *Request) client() *http.Client {
	if r.c.Client != nil {
		return r.c.Client
	}
	return http.DefaultClient
}

func (r *Request) retryPolicy() WithRetry {
	if r.c.newRetryPolicy != nil {
		return r.c.newRetryPolicy(r.maxRetries)
	}
	return &retryPolicy{maxRetries: r.maxRetries}
}

// httpRequest returns the HTTP request of one attempt.
func (r *Request) httpRequest(ctx context.Context) (*http.Request, error) {
	var body io.Reader
	switch {
	case r.replayable:
		body = bytes.NewReader(r.bytes)
	case r.body != nil:
		body = r.body
	}
	req, err := http.NewRequestWithContext(withResolverLatency(ctx), r.verb, r.URL().String(), body)
	if err != nil {
		return nil, err
	}
	req.Header = r.header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	return req, nil
}

// attempt is the outcome of sending a request. Either response or err is set.
type attempt struct {
	request  *http.Request
	response *http.Response
	err      error
}

// send makes attempts until an attempt is final, and returns it with its response open. An attempt
// is final if done returns true for its response, or if it must not be retried. After a network
// error, mayRetry decides whether there is another attempt. If send returns an error, the last
// attempt was not sent. If sized is true, the size of the request body is recorded in the metrics.
func (r *Request) send(ctx context.Context, mayRetry IsRetryableErrorFunc, retry WithRetry, sized bool, done func(*http.Response) bool) (attempt, error) {
	client := r.client()
	for {
		if err := retry.Before(ctx, r); err != nil {
			return attempt{}, retry.WrapPreviousError(err)
		}
		req, err := r.httpRequest(ctx)
		if err != nil {
			return attempt{}, err
		}
		resp, err := client.Do(req)
		if sized && (req.ContentLength > 0 || req.ContentLength == 0 && req.Body == nil) {
			metrics.RequestSize.Observe(ctx, r.verb, hostOf(r), float64(req.ContentLength))
		}
		retry.After(ctx, r, resp, err)
		a := attempt{request: req, response: resp, err: err}
		if err == nil && done(resp) {
			return a, nil
		}
		if retry.IsNextRetry(ctx, r, req, resp, err, mayRetry) {
			if resp != nil {
				drain(resp)
			}
			continue
		}
		return a, nil
	}
}

// readOnly allows another attempt of a GET after the connection was lost (RS-9).
func readOnly(req *http.Request, err error) bool {
	return req.Method == http.MethodGet && (net.IsConnectionReset(err) || net.IsProbableEOF(err) || net.IsHTTP2ConnectionLost(err))
}

// neverDone is a value for the argument done of the method send: it lets any response be retried.
func neverDone(*http.Response) bool { return false }

// sendAndHandle sends the request, and calls the function fn with the final response. If fn returns
// true, it owns the response, and must close it and call end later.
func (r *Request) sendAndHandle(ctx context.Context, fn func(ctx context.Context, req *http.Request, resp *http.Response, end func()) (keep bool)) error {
	start := time.Now()
	defer func() { metrics.RequestLatency.Observe(ctx, r.verb, r.urlTemplate(), time.Since(start)) }()
	r.logRequest(ctx)
	if r.err != nil {
		klog.FromContext(ctx).V(4).Info("Error in request", "err", r.err)
		return r.err
	}
	if err := r.checkNamespace(); err != nil {
		return err
	}
	if err := r.throttle(ctx, ""); err != nil { // the timeout does not limit this wait (RS-17)
		return err
	}
	end, kept := context.CancelFunc(func() {}), false
	if r.timeout > 0 {
		ctx, end = context.WithTimeout(ctx, r.timeout)
	}
	defer func() {
		if !kept {
			end()
		}
	}()
	retry := r.retryPolicy()
	final, err := r.send(ctx, readOnly, retry, true, neverDone)
	switch {
	case err != nil:
		return err
	case final.err != nil:
		return retry.WrapPreviousError(final.err)
	}
	defer func() {
		if !kept {
			drain(final.response)
		}
	}()
	kept = fn(ctx, final.request, final.response, end)
	return nil
}

// Do sends the request. A Status of a failure becomes an *errors.StatusError. A network error is
// returned unchanged.
func (r *Request) Do(ctx context.Context) Result {
	var result Result
	to := sink.From(ctx)
	err := r.sendAndHandle(ctx, func(running context.Context, req *http.Request, resp *http.Response, end func()) bool {
		if to == nil || !r.canStream(resp) {
			result = r.read(ctx, resp, req)
			return false
		}
		warnings := handleWarnings(ctx, resp.Header, r.warningHandler)
		result = r.interpret(resp, req, nil)
		result.warnings = warnings
		if result.err != nil || result.decoder == nil {
			result = r.read(ctx, resp, req)
			return false
		}
		result.streamed = &listResponse{ctx: running, request: r, sentRequest: req, response: resp, end: end, to: to}
		return true
	})
	if err != nil {
		return Result{err: err}
	}
	if result.streamed != nil {
		return result
	}
	r.observeSize(ctx, result)
	return result
}

// observeSize records the size of a response body in the metrics, if the body was read.
func (r *Request) observeSize(ctx context.Context, result Result) {
	if n := len(result.body); n > 0 || result.err == nil {
		metrics.ResponseSize.Observe(ctx, r.verb, hostOf(r), float64(n))
	}
}

// DoRaw sends the request, and returns the body of the response unchanged. Only the status code
// determines the error. The caller interprets the body.
func (r *Request) DoRaw(ctx context.Context) ([]byte, error) {
	var result Result
	err := r.sendAndHandle(ctx, func(_ context.Context, req *http.Request, resp *http.Response, _ func()) bool {
		result.body, result.err = bodyOf(resp)
		r.logBody(ctx, "Response Body", result.body)
		if !isSuccess(resp) {
			result.err = r.nonStatusError(result.body, resp, req)
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	r.observeSize(ctx, result)
	return result.body, result.err
}

// Stream sends the request, and returns the body of the response. The caller must close it.
func (r *Request) Stream(ctx context.Context) (io.ReadCloser, error) {
	r.logRequest(ctx)
	if r.err != nil {
		return nil, r.err
	}
	if err := r.throttle(ctx, ""); err != nil {
		return nil, err
	}
	retry := r.retryPolicy()
	success := func(resp *http.Response) bool { return resp.StatusCode/100 == 2 }
	noNetwork := func(*http.Request, error) bool { return false }
	final, err := r.send(ctx, noNetwork, retry, false, success)
	switch {
	case err != nil:
		return nil, err
	case final.err != nil:
		return nil, retry.WrapPreviousError(final.err)
	case success(final.response):
		handleWarnings(ctx, final.response.Header, r.warningHandler)
		return final.response.Body, nil
	}
	defer drain(final.response)
	result := r.read(ctx, final.response, final.request)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%d while accessing %v: %s", result.statusCode, final.request.URL, result.body)
}

// Watch sends the request, and returns its events. If every attempt loses its connection, or times
// out, before there is a response, the watch has no events (RS-15).
func (r *Request) Watch(ctx context.Context) (watch.Interface, error) {
	r.logRequest(ctx)
	if r.err != nil {
		return nil, r.err
	}
	lost := func(_ *http.Request, err error) bool {
		return net.IsProbableEOF(err) || net.IsTimeout(err)
	}
	success := func(resp *http.Response) bool { return resp.StatusCode == http.StatusOK }
	retry := r.retryPolicy()
	final, err := r.send(ctx, lost, retry, false, success)
	switch {
	case err != nil:
		return nil, err
	case final.err != nil && lost(final.request, final.err):
		return watch.NewEmptyWatch(), nil
	case final.err != nil:
		return nil, retry.WrapPreviousError(final.err)
	case success(final.response):
		return r.newWatch(ctx, final.response)
	}
	defer drain(final.response)
	if result := r.read(ctx, final.response, final.request); result.Error() != nil {
		return nil, retry.WrapPreviousError(result.Error())
	}
	return nil, retry.WrapPreviousError(fmt.Errorf("for request %s, got status: %v", final.request.URL, final.response.StatusCode))
}
