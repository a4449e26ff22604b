package cache

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"
)

// SI-17: even a handler of an empty store is synced by its goroutine, in the order of its notifications. Programs poll
// HasSynced after AddEventHandler: with client-go the first call returns false.
func TestTheGoroutineOfAHandlerMakesItSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListener(ResourceEventHandlerFuncs{}, "handler", klog.Background())
		l.upstreamSynced()
		require.False(t, l.HasSynced(), "the goroutine has not run")
		l.start(t.Context())
		synctest.Wait()
		require.True(t, l.HasSynced())
		l.stop()
		<-l.ended
	})
}
