package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"k8s.io/klog/v2"

	"k8s.io/client-go/tools/metrics"
)

// IsRetryableErrorFunc reports whether a request may be sent again after a network error.
type IsRetryableErrorFunc func(request *http.Request, err error) bool

// IsErrorRetryable calls r.
func (r IsRetryableErrorFunc) IsErrorRetryable(request *http.Request, err error) bool {
	return r(request, err)
}

// RetryAfter describes the next attempt of a request and the wait before it.
type RetryAfter struct {
	// Wait is the wait that the server has requested.
	Wait time.Duration
	// Attempt is the number of the next attempt, from 1.
	Attempt int
	// Reason is the reason for the next attempt.
	Reason string
}

// WithRetry decides on the attempts of one request. It is not safe for concurrent use.
type WithRetry interface {
	// IsNextRetry reports whether another attempt follows. It requires a remaining attempt and one
	// of two reasons: a 429 or 5xx response with Retry-After, or an err that f accepts.
	IsNextRetry(ctx context.Context, restReq *Request, httpReq *http.Request, resp *http.Response, err error, f IsRetryableErrorFunc) bool
	// Before is called before each attempt, and waits as long as the attempt must wait. If it
	// returns an error, the request ends with that error.
	Before(ctx context.Context, r *Request) error
	// After is called with the outcome of each attempt.
	After(ctx context.Context, r *Request, resp *http.Response, err error)
	// WrapPreviousError adds the error of the previous attempt to finalErr, the error of the last
	// attempt.
	WrapPreviousError(finalErr error) (err error)
}

// retryPolicy implements [WithRetry].
type retryPolicy struct {
	maxRetries int

	next           *RetryAfter // describes the next attempt
	attempts       int
	previous, last error // network errors of the last two attempts that failed with a network error
}

// IsNextRetry implements [WithRetry].
func (r *retryPolicy) IsNextRetry(ctx context.Context, restReq *Request, httpReq *http.Request, resp *http.Response, err error, f IsRetryableErrorFunc) bool {
	if httpReq == nil || resp == nil && err == nil {
		return false
	}
	if r.last != nil {
		r.previous = r.last
	}
	r.last = err
	next := &RetryAfter{Attempt: r.attempts + 1}
	r.attempts++
	r.next = next
	if next.Attempt > r.maxRetries {
		return false
	}
	if restReq.body != nil {
		return false // a reader cannot be read again
	}
	if err != nil {
		if !f.IsErrorRetryable(httpReq, err) {
			return false
		}
		next.Wait = time.Second
		next.Reason = fmt.Sprintf("due to network error: %s", err)
		return true
	}
	wait, ok := retryAfter(resp)
	if !ok {
		return false
	}
	next.Wait = wait
	next.Reason = fmt.Sprintf("due to server-side throttling, FlowSchema UID: %q", resp.Header.Get("X-Kubernetes-Pf-Flowschema-Uid"))
	if resp.StatusCode != http.StatusTooManyRequests {
		next.Reason = "due to retryable error code: " + resp.Status
	}
	return true
}

// retryAfter returns the wait that a 429 or 5xx response requests in whole seconds (RS-8).
func retryAfter(resp *http.Response) (time.Duration, bool) {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < http.StatusInternalServerError {
		return 0, false
	}
	seconds, ok := retryAfterSeconds(resp)
	return time.Duration(seconds) * time.Second, ok
}

func retryAfterSeconds(resp *http.Response) (int, bool) {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	return seconds, err == nil
}

// Before implements [WithRetry].
func (r *retryPolicy) Before(ctx context.Context, request *Request) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	url := request.URL()
	wait := request.backoff.CalculateBackoffWithContext(ctx, url)
	if r.next == nil {
		request.backoff.SleepWithContext(ctx, wait)
		return nil
	}
	if r.next.Wait > wait {
		wait = r.next.Wait
	}
	klog.FromContext(ctx).V(4).Info("Got a Retry-After response", "delay", wait, "attempt", r.next.Attempt, "url", url.String())
	request.backoff.SleepWithContext(ctx, wait)
	if err := request.throttle(ctx, r.next.Reason); err != nil {
		return err
	}
	return nil
}

// After implements [WithRetry].
func (r *retryPolicy) After(ctx context.Context, request *Request, resp *http.Response, err error) {
	code := 0
	if resp != nil {
		code = resp.StatusCode
	}
	shown := "<error>"
	if resp != nil {
		shown = strconv.Itoa(code)
	}
	metrics.RequestResult.Increment(ctx, shown, request.verb, hostOf(request))
	if r.next != nil {
		metrics.RequestRetry.IncrementRetry(ctx, shown, request.verb, hostOf(request))
	}
	request.backoff.UpdateBackoffWithContext(ctx, request.URL(), err, code)
}

// hostOf returns the host that a request is sent to.
func hostOf(r *Request) string {
	if r.c.base == nil {
		return ""
	}
	return r.c.base.Host
}

// WrapPreviousError implements [WithRetry].
func (r *retryPolicy) WrapPreviousError(err error) error {
	before := r.last
	if before == nil || err == nil || before == err { //nolint:errorlint // the same error value
		before = r.previous
	}
	if err == nil || before == nil || before.Error() == err.Error() {
		return err
	}
	if failed, ok := errors.AsType[*url.Error](before); ok {
		before = failed.Unwrap()
	}
	return &retriesError{current: err, previous: before}
}

// retriesError is the error of the last attempt, with the network error of an attempt before it.
type retriesError struct{ current, previous error }

// Error returns the texts of both errors.
func (e *retriesError) Error() string {
	return fmt.Sprintf("%v - error from a previous attempt: %v", e.current, e.previous)
}

// Unwrap returns the error of the last attempt.
func (e *retriesError) Unwrap() error { return e.current }

// drain reads the rest of a response if it is small, so that the connection can be reused.
func drain(resp *http.Response) {
	const most = 2 << 10
	if resp.ContentLength <= most {
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, most))
	}
	_ = resp.Body.Close()
}
