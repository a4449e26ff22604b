package rest

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/util/flowcontrol"
)

// BackoffManager computes the waits before requests.
//
// Deprecated: Sleep ignores the caller's context. Use BackoffManagerWithContext.
type BackoffManager interface {
	UpdateBackoff(actualURL *url.URL, err error, responseCode int)
	CalculateBackoff(actualURL *url.URL) time.Duration
	Sleep(d time.Duration)
}

// BackoffManagerWithContext computes the waits before requests.
type BackoffManagerWithContext interface {
	// UpdateBackoffWithContext records the outcome of a request.
	UpdateBackoffWithContext(ctx context.Context, actualURL *url.URL, err error, responseCode int)
	// CalculateBackoffWithContext returns the wait before the next request.
	CalculateBackoffWithContext(ctx context.Context, actualURL *url.URL) time.Duration
	// SleepWithContext waits for d, or until ctx ends.
	SleepWithContext(ctx context.Context, d time.Duration)
}

// contextBackoff adapts a BackoffManager to BackoffManagerWithContext.
type contextBackoff struct{ BackoffManager }

// UpdateBackoffWithContext implements [BackoffManagerWithContext].
func (m contextBackoff) UpdateBackoffWithContext(_ context.Context, actualURL *url.URL, err error, responseCode int) {
	m.UpdateBackoff(actualURL, err, responseCode)
}

// CalculateBackoffWithContext implements [BackoffManagerWithContext].
func (m contextBackoff) CalculateBackoffWithContext(_ context.Context, actualURL *url.URL) time.Duration {
	return m.CalculateBackoff(actualURL)
}

// SleepWithContext implements [BackoffManagerWithContext].
func (m contextBackoff) SleepWithContext(_ context.Context, d time.Duration) { m.Sleep(d) }

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// NoBackoff is a BackoffManager without back-off. A request waits only if a response of the server
// requires it.
type NoBackoff struct{}

var (
	_ BackoffManager            = (*NoBackoff)(nil)
	_ BackoffManagerWithContext = (*NoBackoff)(nil)
	_ BackoffManager            = (*URLBackoff)(nil)
	_ BackoffManagerWithContext = (*URLBackoff)(nil)
)

// UpdateBackoff does nothing.
func (n *NoBackoff) UpdateBackoff(actualURL *url.URL, err error, responseCode int) {}

// UpdateBackoffWithContext does nothing.
func (n *NoBackoff) UpdateBackoffWithContext(ctx context.Context, actualURL *url.URL, err error, responseCode int) {
}

// CalculateBackoff returns zero.
func (n *NoBackoff) CalculateBackoff(actualURL *url.URL) time.Duration { return 0 }

// CalculateBackoffWithContext returns zero.
func (n *NoBackoff) CalculateBackoffWithContext(ctx context.Context, actualURL *url.URL) time.Duration {
	return 0
}

// Sleep waits for d. The server has requested this wait.
func (n *NoBackoff) Sleep(d time.Duration) { sleep(context.Background(), d) }

// SleepWithContext waits for d, or until ctx ends. The server has requested this wait.
func (n *NoBackoff) SleepWithContext(ctx context.Context, d time.Duration) { sleep(ctx, d) }

// URLBackoff waits longer after each consecutive failure of a host.
type URLBackoff struct {
	Backoff *flowcontrol.Backoff
}

// Disable makes all waits zero.
func (b *URLBackoff) Disable() { b.Backoff = flowcontrol.NewBackOff(0, 0) }

// host returns the key under which failures of a server are counted.
func host(u *url.URL) string {
	if u == nil {
		return ""
	}
	return u.Host
}

// UpdateBackoff counts a failure of the server: a response 429 or 5xx. Any other response and any
// network error reset the wait.
func (b *URLBackoff) UpdateBackoff(actualURL *url.URL, err error, responseCode int) {
	by := host(actualURL)
	if responseCode == http.StatusTooManyRequests || responseCode >= http.StatusInternalServerError {
		b.Backoff.Next(by, b.Backoff.Clock.Now())
		return
	}
	b.Backoff.Reset(by)
}

// UpdateBackoffWithContext is UpdateBackoff.
func (b *URLBackoff) UpdateBackoffWithContext(ctx context.Context, actualURL *url.URL, err error, responseCode int) {
	b.UpdateBackoff(actualURL, err, responseCode)
}

// CalculateBackoff returns the wait for the host.
func (b *URLBackoff) CalculateBackoff(actualURL *url.URL) time.Duration {
	return b.Backoff.Get(host(actualURL))
}

// CalculateBackoffWithContext is CalculateBackoff.
func (b *URLBackoff) CalculateBackoffWithContext(_ context.Context, actualURL *url.URL) time.Duration {
	return b.CalculateBackoff(actualURL)
}

// Sleep waits for d, measured by the clock of Backoff.
func (b *URLBackoff) Sleep(d time.Duration) { b.SleepWithContext(context.Background(), d) }

// SleepWithContext waits for d, measured by the clock of Backoff, or until ctx ends.
func (b *URLBackoff) SleepWithContext(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := b.Backoff.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
	}
}
