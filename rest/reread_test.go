package rest

import (
	"context"
	"crypto/tls"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A disk that does not answer, or a function of the user that does not return, holds up
// those who need what is read, no longer than a second and than their contexts last;
// and nobody else.
func TestFilesAreReadWithoutALock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan *security)
		reads := 0
		transports := &transports{
			read: func() (*security, error) { reads++; return <-answer, nil },
			used: &security{certificate: noCertificate},
		}
		certificate := &tls.Certificate{}
		transports.given = true
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				current, err := transports.get(t.Context(), certificate)
				require.NoError(t, err)
				config, err := current.TLSClientConfig.GetClientCertificate(nil)
				require.NoError(t, err)
				require.Same(t, certificate, config)
			})
		}
		synctest.Wait()
		require.Equal(t, 1, reads)

		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), patience/2)
		defer cancel()
		_, err := transports.get(ctx, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, patience/2, time.Since(began))
		transports.closeIdle()
		transports.reading.expire()

		answer <- &security{pem: NewSecret("new"), certificate: noCertificate}
		readers.Wait()
		require.Equal(t, 1, reads)
		require.Equal(t, "new", transports.used.pem.Reveal())
		readers.Go(func() {
			_, err := transports.get(t.Context(), certificate)
			require.NoError(t, err)
		})
		answer <- &security{pem: NewSecret("newer"), certificate: noCertificate} // since it expired while it was being read
		readers.Wait()
		require.Equal(t, 2, reads)
	})
}
