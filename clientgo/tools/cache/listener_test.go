package cache

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"
)

// SI-17: the goroutine of a handler also syncs the handler of an empty store, in the order of its
// notifications. Programs poll HasSynced after AddEventHandler. With client-go the first call
// returns false.
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
