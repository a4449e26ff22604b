package rest

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/testing/tcpproxy"
	"github.com/kinform/kinform/listwatch"
)

func TestHalfOpenHTTP2ConnectionIsDetected(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]tcpproxy.Fault{
		"while a watch is idle":  {},
		"from the first byte on": {Kind: tcpproxy.Stall},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := newTLSServer(t, whoami())
				defer server.stop()
				server.renew(t)
				proxy := tcpproxy.New(server.network.DialContext, func(n int) tcpproxy.Fault {
					if n == 0 {
						return fault
					}
					return tcpproxy.Fault{}
				})
				defer proxy.Close()
				client, err := NewClient(Config{
					Host: "https://memory", DialContext: proxy.DialContext, TLS: TLSConfig{Insecure: true},
				}, Options{})
				require.NoError(t, err)
				defer client.Close()

				began := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				watch, err := pods(client).Watch(ctx, listwatch.WatchOptions{})
				require.Equal(t, fault.Kind == tcpproxy.None, err == nil)
				if err == nil {
					// while the server responds to pings, silence does not end the stream
					time.Sleep(time.Hour)
					synctest.Wait()
					require.Equal(t, 1, client.Stats().Connections)
					proxy.Stall()
					began = time.Now()
					_, err = watch.Next()
					require.NoError(t, watch.Close())
				}
				require.Error(t, err)
				require.ErrorContains(t, err, "GET https://memory/api/v1/pods?")
				require.LessOrEqual(t, time.Since(began), 45*time.Second, "the client must send a ping after 30 s of silence, and wait for its answer for 15 s")
				synctest.Wait() // the transport ends streams before it closes their connection
				require.Zero(t, client.Stats().Connections)

				_, err = client.Raw(t.Context(), http.MethodGet, "/", RawOptions{})
				require.NoError(t, err, "the next request must use another connection")
				require.Equal(t, 2, proxy.Connections())
			})
		})
	}
}
