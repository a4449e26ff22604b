// Package metrics has the metrics of API clients. Nothing is recorded until a program calls
// Register.
package metrics

import (
	"context"
	"net/url"
	"sync"
	"time"
)

// DurationMetric records durations.
type DurationMetric interface {
	Observe(duration time.Duration)
}

// ExpiryMetric records an expiry time; nil means never.
type ExpiryMetric interface {
	Set(expiry *time.Time)
}

// LatencyMetric records the latency of requests.
type LatencyMetric interface {
	Observe(ctx context.Context, verb string, u url.URL, latency time.Duration)
}

// ResolverLatencyMetric records the time to resolve a host name.
type ResolverLatencyMetric interface {
	Observe(ctx context.Context, host string, latency time.Duration)
}

// SizeMetric records sizes of requests and responses, in bytes.
type SizeMetric interface {
	Observe(ctx context.Context, verb string, host string, size float64)
}

// ResultMetric counts responses by status code.
type ResultMetric interface {
	Increment(ctx context.Context, code string, method string, host string)
}

// CallsMetric counts calls of credential plugins.
type CallsMetric interface {
	Increment(exitCode int, callStatus string)
}

// PolicyCallsMetric counts policy decisions about credential plugins, by result: "allowed" or
// "denied".
type PolicyCallsMetric interface {
	Increment(status string)
}

// RetryMetric counts retried requests.
type RetryMetric interface {
	IncrementRetry(ctx context.Context, code string, method string, host string)
}

// TransportCacheMetric records the number of cached transports.
type TransportCacheMetric interface {
	Observe(value int)
}

// TransportCreateCallsMetric counts requests for a transport, by result: "hit", "miss", "miss-gc"
// or "uncacheable".
type TransportCreateCallsMetric interface {
	Increment(result string)
}

// TransportCAReloadsMetric counts reloads of CA bundles by their result.
type TransportCAReloadsMetric interface {
	Increment(result, reason string)
}

// TransportCertRotationGCCallsMetric counts the rotations of client certificates that ended because
// their transport was unused.
type TransportCertRotationGCCallsMetric interface {
	Increment()
}

// TransportCacheGCCallsMetric counts garbage collections of unused transports, by result: "deleted"
// or "skipped".
type TransportCacheGCCallsMetric interface {
	Increment(result string)
}

// The metrics. Each metric does nothing until Register replaces it.
var (
	// ClientCertExpiry is the expiry time of the client certificate.
	ClientCertExpiry ExpiryMetric = noMetric{}
	// ClientCertRotationAge is the age of certificates when they are replaced.
	ClientCertRotationAge DurationMetric = noDuration{}
	// RequestLatency is the latency of requests.
	RequestLatency LatencyMetric = noLatency{}
	// ResolverLatency is the time to resolve host names.
	ResolverLatency ResolverLatencyMetric = noResolverLatency{}
	// RequestSize is the size of request bodies.
	RequestSize SizeMetric = noSize{}
	// ResponseSize is the size of response bodies.
	ResponseSize SizeMetric = noSize{}
	// RateLimiterLatency is the time that requests wait for the rate limiter.
	RateLimiterLatency LatencyMetric = noLatency{}
	// RequestResult counts responses.
	RequestResult ResultMetric = noResult{}
	// ExecPluginCalls counts calls of credential plugins.
	ExecPluginCalls CallsMetric = noCalls{}
	// ExecPluginPolicyCalls counts policy decisions about credential plugins.
	ExecPluginPolicyCalls PolicyCallsMetric = noString{}
	// RequestRetry counts retried requests.
	RequestRetry RetryMetric = noRetry{}
	// TransportCacheEntries is the number of cached transports.
	TransportCacheEntries TransportCacheMetric = noCount{}
	// TransportCreateCalls counts requests for a transport.
	TransportCreateCalls TransportCreateCallsMetric = noString{}
	// TransportCAReloads counts reloads of CA bundles.
	TransportCAReloads TransportCAReloadsMetric = noStrings{}
	// TransportCertRotationGCCalls counts the rotations of client certificates that ended because
	// their transport was unused.
	TransportCertRotationGCCalls TransportCertRotationGCCallsMetric = noCall{}
	// TransportCacheGCCalls counts garbage collections of unused transports.
	TransportCacheGCCalls TransportCacheGCCallsMetric = noString{}
)

// RegisterOpts has the metrics to set. A nil field leaves its metric unchanged.
type RegisterOpts struct {
	ClientCertExpiry             ExpiryMetric
	ClientCertRotationAge        DurationMetric
	RequestLatency               LatencyMetric
	ResolverLatency              ResolverLatencyMetric
	RequestSize                  SizeMetric
	ResponseSize                 SizeMetric
	RateLimiterLatency           LatencyMetric
	RequestResult                ResultMetric
	ExecPluginCalls              CallsMetric
	ExecPluginPolicyCalls        PolicyCallsMetric
	RequestRetry                 RetryMetric
	TransportCacheEntries        TransportCacheMetric
	TransportCreateCalls         TransportCreateCallsMetric
	TransportCAReloads           TransportCAReloadsMetric
	TransportCertRotationGCCalls TransportCertRotationGCCallsMetric
	TransportCacheGCCalls        TransportCacheGCCallsMetric

	// RegisterFn, if not nil, is called once, before the first client is made.
	RegisterFn func()
}

var (
	registering sync.Once
	ensuring    sync.Once
	registerFn  func()
)

// Register sets the metrics. Only the first call in a process has an effect. It must come before
// the first client is made.
func Register(opts RegisterOpts) {
	registering.Do(func() {
		set(&ClientCertExpiry, opts.ClientCertExpiry)
		set(&ClientCertRotationAge, opts.ClientCertRotationAge)
		set(&RequestLatency, opts.RequestLatency)
		set(&ResolverLatency, opts.ResolverLatency)
		set(&RequestSize, opts.RequestSize)
		set(&ResponseSize, opts.ResponseSize)
		set(&RateLimiterLatency, opts.RateLimiterLatency)
		set(&RequestResult, opts.RequestResult)
		set(&ExecPluginCalls, opts.ExecPluginCalls)
		set(&ExecPluginPolicyCalls, opts.ExecPluginPolicyCalls)
		set(&RequestRetry, opts.RequestRetry)
		set(&TransportCacheEntries, opts.TransportCacheEntries)
		set(&TransportCreateCalls, opts.TransportCreateCalls)
		set(&TransportCAReloads, opts.TransportCAReloads)
		set(&TransportCertRotationGCCalls, opts.TransportCertRotationGCCalls)
		set(&TransportCacheGCCalls, opts.TransportCacheGCCalls)
		registerFn = opts.RegisterFn
	})
}

func set[M any](metric *M, to M) {
	if any(to) != nil {
		*metric = to
	}
}

// EnsureRegistered calls the RegisterFn of Register, once. Constructors of clients call it.
func EnsureRegistered() {
	ensuring.Do(func() {
		if registerFn != nil {
			registerFn()
		}
	})
}

type (
	noMetric          struct{}
	noDuration        struct{}
	noLatency         struct{}
	noResolverLatency struct{}
	noSize            struct{}
	noResult          struct{}
	noCalls           struct{}
	noString          struct{}
	noStrings         struct{}
	noRetry           struct{}
	noCount           struct{}
	noCall            struct{}
)

func (noMetric) Set(*time.Time)                                           {}
func (noDuration) Observe(time.Duration)                                  {}
func (noLatency) Observe(context.Context, string, url.URL, time.Duration) {}
func (noResolverLatency) Observe(context.Context, string, time.Duration)  {}
func (noSize) Observe(context.Context, string, string, float64)           {}
func (noResult) Increment(context.Context, string, string, string)        {}
func (noCalls) Increment(int, string)                                     {}
func (noString) Increment(string)                                         {}
func (noStrings) Increment(string, string)                                {}
func (noRetry) IncrementRetry(context.Context, string, string, string)    {}
func (noCount) Observe(int)                                               {}
func (noCall) Increment()                                                 {}
