package remotecommand

import (
	"context"

	"k8s.io/klog/v2"
)

var _ Executor = (*FallbackExecutor)(nil)

// FallbackExecutor uses a second executor if the first executor cannot connect.
type FallbackExecutor struct {
	primary, secondary Executor
	shouldFallback     func(error) bool
}

// NewFallbackExecutor returns an executor that tries primary first. If primary fails with an error
// for which shouldFallback is true, the executor uses secondary. shouldFallback must be false for
// errors that occur after a stream was read or written. The functions IsUpgradeFailure and
// IsHTTPSProxyError of both packages httpstream, in k8s.io/streaming and in apimachinery, meet this
// condition.
func NewFallbackExecutor(primary, secondary Executor, shouldFallback func(error) bool) (Executor, error) {
	return &FallbackExecutor{primary: primary, secondary: secondary, shouldFallback: shouldFallback}, nil
}

// Stream is StreamWithContext with a context that never ends.
//
// Deprecated: use StreamWithContext.
func (f *FallbackExecutor) Stream(options StreamOptions) error {
	return f.StreamWithContext(context.Background(), options)
}

// StreamWithContext uses the primary executor, or the secondary executor if the primary cannot
// connect.
func (f *FallbackExecutor) StreamWithContext(ctx context.Context, options StreamOptions) error {
	err := f.primary.StreamWithContext(ctx, options)
	if err == nil || !f.shouldFallback(err) {
		return err
	}
	klog.FromContext(ctx).V(4).Info("Remote command falls back to the second executor", "err", err)
	return f.secondary.StreamWithContext(ctx, options)
}
