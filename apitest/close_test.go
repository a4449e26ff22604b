package apitest_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/apitest"
)

// Closing a TLS connection writes a close alert for up to five seconds, and meanwhile holds a lock
// that handlers may need. If the client does not read, the write blocks. Time in a bubble does not
// advance during such a write, so Close would never return.
func TestCloseDoesNotWaitForClientsThatDoNotRead(t *testing.T) {
	t.Parallel()
	for name, busy := range map[string]bool{"silent watch": false, "watch with many events": true} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/TLS=%t", name, secure), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					srv := apitest.New(apitest.Options{TLS: secure})
					require.NoError(t, srv.ListenMemory())
					for range 3 {
						conn, err := srv.DialContext(t.Context(), "", "")
						require.NoError(t, err)
						defer conn.Close()
						if secure {
							pool := x509.NewCertPool()
							require.True(t, pool.AppendCertsFromPEM(srv.CA()))
							conn = tls.Client(conn, &tls.Config{RootCAs: pool, ServerName: "apitest"})
						}
						_, err = io.WriteString(conn, "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: apitest\r\n\r\n")
						require.NoError(t, err)
						_, err = conn.Read(make([]byte, 10_000))
						require.NoError(t, err)
					}
					synctest.Wait()
					require.Equal(t, 3, srv.Watches(""))
					if busy {
						create(t, srv, pod("a", "p"))
						synctest.Wait()
					}
					begin := time.Now()
					srv.Close()
					require.Zero(t, time.Since(begin))
				})
			})
		}
	}
}
