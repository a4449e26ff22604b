package transport

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestUnresponsiveFileDoesNotBlockRequests: while a file cannot be read, requests use the last
// contents. Only the first requests wait, for a second.
func TestUnresponsiveFileDoesNotBlockRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := make(chan struct{})
		var reads atomic.Int32
		r := &Reloader{}
		hang := func() { reads.Add(1); <-disk }
		start := time.Now()
		require.NoError(t, r.ReloadIfDue(t.Context(), ReloadTimeout, hang))
		require.Equal(t, ReloadTimeout, time.Since(start))
		for range 100 {
			require.NoError(t, r.ReloadIfDue(t.Context(), ReloadTimeout, hang))
		}
		require.Equal(t, ReloadTimeout, time.Since(start), "later requests must not wait")
		time.Sleep(10 * ReloadInterval)
		require.NoError(t, r.ReloadIfDue(t.Context(), ReloadTimeout, hang))
		require.EqualValues(t, 1, reads.Load(), "only one read may run at a time")
		close(disk)
		synctest.Wait()
		require.NoError(t, r.ReloadIfDue(t.Context(), ReloadTimeout, hang))
		require.EqualValues(t, 2, reads.Load())
	})
}
