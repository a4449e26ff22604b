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

	"github.com/kinform/kinform/internal/remind"
)

// persist calls attempt until it succeeds, or fails in a way that allows no retry; see [Error].
// Only verbs and Raw call persist, so that a program that only runs informers does not link it.
func (c *Client) persist(ctx context.Context, method string, of About, attempt func() error) error {
	var previous error
	for n := 1; ; n++ {
		err := attempt()
		failed, ok := errors.AsType[*Error](err)
		if !ok {
			return err
		}
		failed.Attempts, failed.Previous = n, previous
		wait, again := c.wait(method, failed)
		if !again || n > c.maxRetries {
			return err
		}
		if c.observer != nil && c.observer.OnRetry != nil {
			c.observer.OnRetry(Retry{About: of, Err: failed, Wait: wait})
		}
		c.sayRetry(failed, wait)
		if err := c.sleep(ctx, wait); err != nil {
			return &Error{Method: failed.Method, URL: failed.URL, Attempts: n, Err: err, Previous: failed.Err}
		}
		c.counters.retries.Add(1)
		previous = failed.Err
	}
}

// repeated decides which retries are logged. A request that succeeds does not reset it, because
// other requests may still fail.
type repeated struct {
	mu   sync.Mutex // guards following
	said remind.Reminder
}

// sayRetry logs that requests are retried: when retries start, and every few minutes while they
// last. Without the log, callers would notice only that their calls take long.
func (c *Client) sayRetry(failed *Error, wait time.Duration) {
	if wait == 0 {
		return // A credential was replaced, which is normal.
	}
	c.repeated.mu.Lock()
	unsaid, due := c.repeated.said.Due(failed.StatusCode, time.Now())
	c.repeated.mu.Unlock()
	if due {
		c.logger.Warn("A request failed and is retried.", "err", failed, "attempts", failed.Attempts, "retry_in", wait, "unlogged", unsaid)
	}
}

// These waits are the client's choice, not the server's.
const (
	lostWait = time.Second            // after a lost connection (RS-9)
	minWait  = 100 * time.Millisecond // if the server asks for a wait of 0
)

// wait returns whether a retry may follow a failure, and after which wait.
func (c *Client) wait(method string, failed *Error) (wait time.Duration, again bool) {
	if _, ok := errors.AsType[*apierrors.StatusError](failed.Err); ok {
		if failed.StatusCode == http.StatusUnauthorized {
			return 0, failed.Attempts == 1 && c.renewable()
		}
		if failed.StatusCode != http.StatusTooManyRequests && failed.StatusCode/100 != 5 {
			return 0, false
		}
		seconds, asked := retryAfterSeconds(failed.retryAfter, time.Now())
		if !asked { // a proxy may have dropped the header
			seconds, _ = apierrors.SuggestsClientDelay(failed.Err)
			asked = seconds > 0
		}
		wait = max(time.Duration(seconds)*time.Second, minWait)
		return wait + rand.N(wait/10), asked && wait <= c.maxRetryAfter
	}
	return lostWait + rand.N(lostWait/10), method == http.MethodGet && lost(failed.Err)
}

// renewable reports whether the next attempt may have another credential than the last one.
func (c *Client) renewable() bool {
	return c.credentials.file != nil || c.credentials.source != nil || c.transport.HasFiles()
}

// lost reports whether an error means that an open connection was lost.
func lost(err error) bool {
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
