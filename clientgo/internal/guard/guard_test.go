package guard

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// There is one check per period, whatever the number of informers.
func TestInformersShareOneCheckPerPeriod(t *testing.T) {
	defer func() { checks = nil }()
	synctest.Test(t, func(t *testing.T) {
		var seen atomic.Int64
		stop := make(chan struct{})
		Add(func(parts int) {
			require.Equal(t, Parts, parts)
			seen.Add(1)
		})
		for range 7 {
			go Run(stop)
		}
		time.Sleep(6*Period + time.Second)
		close(stop)
		synctest.Wait()
		require.EqualValues(t, 6, seen.Load())
	})
}
