package e2e_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/rest"
)

// pausedConn is a connection that delivers a given number of bytes, and the remaining bytes only
// after resume is closed.
type pausedConn struct {
	net.Conn
	left   int
	resume <-chan struct{}
}

func (c *pausedConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		<-c.resume
		return c.Conn.Read(p)
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// The client gets half a mebibyte of the list. Therefore the server still has most of the response
// when it is killed.
func TestServerIsKilledInTheMiddleOfAList(t *testing.T) {
	for _, s := range everyWay(pods) {
		t.Run(s.String(), func(t *testing.T) {
			const received = 512 << 10
			dam := make(chan struct{})
			s.configure = func(config *rest.Config) {
				dial := config.DialContext
				config.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := dial(ctx, network, address)
					if err != nil {
						return nil, err
					}
					return &pausedConn{conn, received, dam}, nil
				}
			}
			p := startPipeline[*corev1.Pod](t, s)
			eventually(t, time.Minute, func() string {
				if p.client.Stats().BytesReceived < received {
					return "the list has not begun"
				}
				return ""
			})
			require.NoError(t, kube.KillAPIServer())
			close(dam)
			eventually(t, time.Minute, func() string {
				if len(p.failures()) == 0 {
					return "the reflector has reported no failure"
				}
				return ""
			})
			t.Log(p.failures()[0])
			decoded := p.client.Stats().Decoded
			require.NotZero(t, decoded)
			require.Less(t, decoded, uint64(seeded), "the list must be incomplete")
			require.Zero(t, p.informer.Store().Len(), "an incomplete list must not reach the store")
			require.False(t, p.informer.Status().Synced)

			require.NoError(t, kube.StartAPIServer(t.Context()))
			p.waitForSync(t)
			p.requireServerState(t)
			p.stop(t)
		})
	}
}
