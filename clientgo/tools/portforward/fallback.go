package portforward

//lint:file-ignore SA1019 programs may have types of apimachinery's httpstream, which client-go's signatures name

import (
	older "k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/internal/httpstreams"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
)

// FallbackDialer uses a second dialer if the first dialer cannot connect.
type FallbackDialer struct {
	both *StreamingFallbackDialer
}

var (
	_ older.Dialer      = (*FallbackDialer)(nil)
	_ httpstream.Dialer = (*StreamingFallbackDialer)(nil)
)

// NewFallbackDialer returns a dialer that tries primary first. If primary fails with an error for
// which shouldFallback is true, the dialer uses secondary.
func NewFallbackDialer(primary, secondary older.Dialer, shouldFallback func(error) bool) older.Dialer {
	return &FallbackDialer{both: &StreamingFallbackDialer{
		primary: httpstreams.NewerDialer(primary), secondary: httpstreams.NewerDialer(secondary), shouldFallback: shouldFallback,
	}}
}

// Dial connects with the primary dialer, or with the secondary dialer.
func (f *FallbackDialer) Dial(protocols ...string) (older.Connection, string, error) {
	c, protocol, err := f.both.Dial(protocols...)
	return httpstreams.Older(c), protocol, err
}

// StreamingFallbackDialer is a [FallbackDialer] with the types of k8s.io/streaming.
type StreamingFallbackDialer struct {
	primary, secondary httpstream.Dialer
	shouldFallback     func(error) bool
}

// NewFallbackDialerForStreaming is [NewFallbackDialer] with the types of k8s.io/streaming.
func NewFallbackDialerForStreaming(primary, secondary httpstream.Dialer, shouldFallback func(error) bool) httpstream.Dialer {
	return &StreamingFallbackDialer{primary: primary, secondary: secondary, shouldFallback: shouldFallback}
}

// Dial connects with the primary dialer, or with the secondary dialer.
func (f *StreamingFallbackDialer) Dial(protocols ...string) (httpstream.Connection, string, error) {
	c, protocol, err := f.primary.Dial(protocols...)
	if err == nil || !f.shouldFallback(err) {
		return c, protocol, err
	}
	klog.Background().V(4).Info("Port forwarding falls back to the second dialer", "err", err)
	return f.secondary.Dial(protocols...)
}
