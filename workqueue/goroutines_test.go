package workqueue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/workqueue"
)

// A bubble fails if a goroutine is left when its test function returns. Nothing here ends a queue.
func TestAQueueStartsNoGoroutine(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.Add("ready")
		q.AddAfter("delayed", time.Minute)
		synctest.Wait()
	})
}
