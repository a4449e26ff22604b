package rest

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kinform/kinform/internal/logthrottle"
)

// withRetries calls attempt until it succeeds, or fails in a way that allows no retry; see [Error].
// Only verbs and Raw call withRetries, so that a program that only runs informers does not link it.
func (c *Client) withRetries(ctx context.Context, method string, info RequestInfo, attempt func() error) error {
	var previous error
	for n := 1; ; n++ {
		err := attempt()
		failed, ok := errors.AsType[*Error](err)
		if !ok {
			return err
		}
		failed.Attempts, failed.Previous = n, previous
		wait, mayRetry := c.retryDelay(method, failed)
		if !mayRetry || n > c.maxRetries {
			return err
		}
		if c.observer != nil && c.observer.OnRetry != nil {
			c.observer.OnRetry(RetryInfo{RequestInfo: info, Err: failed, Wait: wait})
		}
		c.logRetry(failed, wait)
		if err := c.sleep(ctx, wait); err != nil {
			return &Error{Method: failed.Method, URL: failed.URL, Attempts: n, Err: err, Previous: failed.Err}
		}
		c.counters.retries.Add(1)
		previous = failed.Err
	}
}

// retryLog decides which retries are logged. A request that succeeds does not reset it, because
// other requests may still fail.
type retryLog struct {
	mu       sync.Mutex // guards following
	throttle logthrottle.Throttle
}

// logRetry logs that requests are retried: when retries start, and every few minutes while they
// last. Without the log, callers would notice only that their calls take long.
func (c *Client) logRetry(failed *Error, wait time.Duration) {
	if wait == 0 {
		return // A credential was replaced, which is normal.
	}
	c.retryLog.mu.Lock()
	unlogged, due := c.retryLog.throttle.Due(failed.StatusCode, time.Now())
	c.retryLog.mu.Unlock()
	if due {
		c.logger.Warn("A request failed and is retried.", "err", failed, "attempts", failed.Attempts, "retry_in", wait, "unlogged", unlogged)
	}
}

// These waits are the client's choice, not the server's.
const (
	lostConnectionDelay = time.Second            // after a lost connection (RS-9)
	minRetryDelay       = 100 * time.Millisecond // if the server requests a wait of 0
)

// retryDelay returns whether a retry may follow a failure, and after which wait.
func (c *Client) retryDelay(method string, failed *Error) (retryDelay time.Duration, mayRetry bool) {
	if _, ok := errors.AsType[*apierrors.StatusError](failed.Err); ok {
		if failed.StatusCode == http.StatusUnauthorized {
			return 0, failed.Attempts == 1 && c.canRenewCredential()
		}
		if failed.StatusCode != http.StatusTooManyRequests && failed.StatusCode/100 != 5 {
			return 0, false
		}
		seconds, hasRetryAfter := retryAfterSeconds(failed.retryAfter, time.Now())
		if !hasRetryAfter { // a proxy may have dropped the header
			seconds, _ = apierrors.SuggestsClientDelay(failed.Err)
			hasRetryAfter = seconds > 0
		}
		retryDelay = max(time.Duration(seconds)*time.Second, minRetryDelay)
		return retryDelay + rand.N(retryDelay/10), hasRetryAfter && retryDelay <= c.maxRetryAfter
	}
	return lostConnectionDelay + rand.N(lostConnectionDelay/10), method == http.MethodGet && isConnectionLost(failed.Err)
}

// canRenewCredential reports whether the next attempt may have another credential than the last
// one.
func (c *Client) canRenewCredential() bool {
	return c.credentials.file != nil || c.credentials.source != nil || c.transport.HasFiles()
}

// isConnectionLost reports whether an error means that an open connection was lost.
func isConnectionLost(err error) bool {
	return utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err) ||
		errors.Is(err, io.ErrUnexpectedEOF)
}

// sleep waits. It returns an error if ctx ends first, or Close is called.
func (c *Client) sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closing:
		return ErrClosed
	}
}
