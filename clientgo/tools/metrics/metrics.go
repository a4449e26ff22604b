// Package metrics is where a program says who counts what clients of the API do. Nothing is counted unless it does.
package metrics

import (
	"context"
	"net/url"
	"sync"
	"time"
)

// DurationMetric takes durations.
type DurationMetric interface {
	Observe(duration time.Duration)
}

// ExpiryMetric takes the time when something ends; nil means never.
type ExpiryMetric interface {
	Set(expiry *time.Time)
}

// LatencyMetric takes how long requests take.
type LatencyMetric interface {
	Observe(ctx context.Context, verb string, u url.URL, latency time.Duration)
}

// ResolverLatencyMetric takes how long it takes to resolve the name of a host.
type ResolverLatencyMetric interface {
	Observe(ctx context.Context, host string, latency time.Duration)
}

// SizeMetric takes sizes of requests and answers, in bytes.
type SizeMetric interface {
	Observe(ctx context.Context, verb string, host string, size float64)
}

// ResultMetric counts answers by their status.
type ResultMetric interface {
	Increment(ctx context.Context, code string, method string, host string)
}

// CallsMetric counts runs of credential plugins.
type CallsMetric interface {
	Increment(exitCode int, callStatus string)
}

// PolicyCallsMetric counts what a policy said of credential plugins: "allowed" or "denied".
type PolicyCallsMetric interface {
	Increment(status string)
}

// RetryMetric counts requests that are sent again.
type RetryMetric interface {
	IncrementRetry(ctx context.Context, code string, method string, host string)
}

// TransportCacheMetric takes how many transports are kept.
type TransportCacheMetric interface {
	Observe(value int)
}

// TransportCreateCallsMetric counts who asked for a transport: "hit", "miss", "miss-gc" or "uncacheable".
type TransportCreateCallsMetric interface {
	Increment(result string)
}

// TransportCAReloadsMetric counts how often authorities were read again, and what came of it.
type TransportCAReloadsMetric interface {
	Increment(result, reason string)
}

// TransportCertRotationGCCallsMetric counts ends of rotations whose transport nobody uses any more.
type TransportCertRotationGCCallsMetric interface {
	Increment()
}

// TransportCacheGCCallsMetric counts transports that nobody uses any more: "deleted" or "skipped".
type TransportCacheGCCallsMetric interface {
	Increment(result string)
}

// What is counted. Each is something that does nothing until Register changes it.
var (
	// ClientCertExpiry is when the client's certificate ends.
	ClientCertExpiry ExpiryMetric = nothing{}
	// ClientCertRotationAge is how old certificates were when they were replaced.
	ClientCertRotationAge DurationMetric = nothingDuration{}
	// RequestLatency is how long requests take.
	RequestLatency LatencyMetric = nothingLatency{}
	// ResolverLatency is how long names of hosts take.
	ResolverLatency ResolverLatencyMetric = nothingResolver{}
	// RequestSize is how long bodies of requests are.
	RequestSize SizeMetric = nothingSize{}
	// ResponseSize is how long bodies of answers are.
	ResponseSize SizeMetric = nothingSize{}
	// RateLimiterLatency is how long requests wait for their limit.
	RateLimiterLatency LatencyMetric = nothingLatency{}
	// RequestResult counts answers.
	RequestResult ResultMetric = nothingResult{}
	// ExecPluginCalls counts runs of credential plugins.
	ExecPluginCalls CallsMetric = nothingCalls{}
	// ExecPluginPolicyCalls counts what a policy said of credential plugins.
	ExecPluginPolicyCalls PolicyCallsMetric = nothingString{}
	// RequestRetry counts requests that are sent again.
	RequestRetry RetryMetric = nothingRetry{}
	// TransportCacheEntries is how many transports are kept.
	TransportCacheEntries TransportCacheMetric = nothingCount{}
	// TransportCreateCalls counts who asked for a transport.
	TransportCreateCalls TransportCreateCallsMetric = nothingString{}
	// TransportCAReloads counts how often authorities were read again.
	TransportCAReloads TransportCAReloadsMetric = nothingStrings{}
	// TransportCertRotationGCCalls counts ends of rotations.
	TransportCertRotationGCCalls TransportCertRotationGCCallsMetric = nothingCall{}
	// TransportCacheGCCalls counts transports that nobody uses any more.
	TransportCacheGCCalls TransportCacheGCCallsMetric = nothingString{}
)

// RegisterOpts are who counts. What is nil stays as it is.
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

	// RegisterFn is called once, before the first client is made, unless it is nil.
	RegisterFn func()
}

var (
	registering sync.Once
	ensuring    sync.Once
	registerFn  func()
)

// Register says who counts. Only the first call in a process does something, and it must come before clients are made.
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

// EnsureRegistered calls the RegisterFn of Register, once. Whoever makes a client calls it.
func EnsureRegistered() {
	ensuring.Do(func() {
		if registerFn != nil {
			registerFn()
		}
	})
}

type (
	nothing         struct{}
	nothingDuration struct{}
	nothingLatency  struct{}
	nothingResolver struct{}
	nothingSize     struct{}
	nothingResult   struct{}
	nothingCalls    struct{}
	nothingString   struct{}
	nothingStrings  struct{}
	nothingRetry    struct{}
	nothingCount    struct{}
	nothingCall     struct{}
)

func (nothing) Set(*time.Time)                                                 {}
func (nothingDuration) Observe(time.Duration)                                  {}
func (nothingLatency) Observe(context.Context, string, url.URL, time.Duration) {}
func (nothingResolver) Observe(context.Context, string, time.Duration)         {}
func (nothingSize) Observe(context.Context, string, string, float64)           {}
func (nothingResult) Increment(context.Context, string, string, string)        {}
func (nothingCalls) Increment(int, string)                                     {}
func (nothingString) Increment(string)                                         {}
func (nothingStrings) Increment(string, string)                                {}
func (nothingRetry) IncrementRetry(context.Context, string, string, string)    {}
func (nothingCount) Observe(int)                                               {}
func (nothingCall) Increment()                                                 {}
