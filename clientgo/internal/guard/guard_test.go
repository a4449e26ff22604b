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

// Any number of informers take one look in each period.
func TestInformersShareTheirLooks(t *testing.T) {
	defer look.Store(nil)
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int64
		stop := make(chan struct{})
		Set(func(parts int) {
			require.Equal(t, Parts, parts)
			looks.Add(1)
		})
		for range 7 {
			go Run(stop)
		}
		time.Sleep(6*Period + time.Second)
		close(stop)
		synctest.Wait()
		require.EqualValues(t, 6, looks.Load())
	})
}
