package cache

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"
)

// SI-17: even if the store is empty, HasSynced of a handler becomes true only when the handler's
// goroutine has run. Programs poll HasSynced after AddEventHandler, and in client-go the first call
// returns false.
func TestAHandlerSyncsEvenIfTheStoreIsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListener(ResourceEventHandlerFuncs{}, "handler", klog.Background())
		l.upstreamSynced()
		require.False(t, l.HasSynced(), "the handler has not synced before its goroutine runs")
		l.start(t.Context())
		synctest.Wait()
		require.True(t, l.HasSynced())
		l.stop()
		<-l.endedCh
	})
}
