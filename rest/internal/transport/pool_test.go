package transport

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFilesAreReadWithoutALock: a disk may not respond, or a user's function may not return. Then
// only requests wait, for at most a second or until their contexts end. The Pool delays no other
// call.
func TestFilesAreReadWithoutALock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan *TLS)
		reads := 0
		pool := New(Options{CertificateFromGet: true, Load: func() (*TLS, error) { reads++; return <-answer, nil }}, &TLS{certificate: noCertificate})
		pool.Expire()
		certificate := &tls.Certificate{}
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				current, err := pool.Get(t.Context(), certificate)
				require.NoError(t, err)
				config, err := current.TLSClientConfig.GetClientCertificate(nil)
				require.NoError(t, err)
				require.Same(t, certificate, config)
			})
		}
		synctest.Wait()
		require.Equal(t, 1, reads)

		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), ReloadTimeout/2)
		defer cancel()
		_, err := pool.Get(ctx, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, ReloadTimeout/2, time.Since(began))
		pool.CloseIdle()
		pool.Expire()

		answer <- &TLS{sum: sha256.Sum256([]byte("new")), certificate: noCertificate}
		readers.Wait()
		require.Equal(t, 1, reads)
		require.Equal(t, sha256.Sum256([]byte("new")), pool.currentTLS.sum)
		readers.Go(func() {
			_, err := pool.Get(t.Context(), certificate)
			require.NoError(t, err)
		})
		// Expire was called during the first read, so the next request reads the files again.
		answer <- &TLS{sum: sha256.Sum256([]byte("newer")), certificate: noCertificate}
		readers.Wait()
		require.Equal(t, 2, reads)
	})
}

func TestTLSFilesAreReadAtMostOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		pool := New(Options{Load: func() (*TLS, error) { reads++; return &TLS{certificate: noCertificate}, nil }}, &TLS{certificate: noCertificate})
		first, err := pool.Get(t.Context(), nil)
		require.NoError(t, err)
		for range 1000 {
			again, err := pool.Get(t.Context(), nil)
			require.NoError(t, err)
			require.Same(t, first, again, "while the files do not change, requests must use one http.Transport")
			time.Sleep(time.Second)
		}
		require.Equal(t, 1000/60, reads)
	})
}

// TestRetiredTransportsAreDropped: retired transports do not accumulate if two certificates
// alternate for a long time.
func TestRetiredTransportsAreDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := New(Options{CertificateFromGet: true}, &TLS{certificate: noCertificate})
		certificates := []*tls.Certificate{{Certificate: [][]byte{{1}}}, {Certificate: [][]byte{{2}}}}
		first, err := pool.Get(t.Context(), certificates[0])
		require.NoError(t, err)
		for i := range 20 {
			again, err := pool.Get(t.Context(), &tls.Certificate{Certificate: [][]byte{{byte(i%2 + 1)}}})
			require.NoError(t, err)
			require.Equal(t, i == 0, first == again, "a certificate that is parsed again must not need a new http.Transport")
		}
		require.Len(t, pool.retired, 19)
		time.Sleep(forgetAfter + 1)
		_, err = pool.Get(t.Context(), certificates[1])
		require.NoError(t, err)
		require.Empty(t, pool.retired)
	})
}
