package conformance

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	clientworkqueue "k8s.io/client-go/util/workqueue"

	"github.com/kinform/kinform/workqueue"
)

// Users configure limiters with numbers from client-go, so kinform's waits equal client-go's. The
// test covers consecutive failures, several keys, pauses, and a key that succeeds in between.
func TestLimitersWaitLikeClientGos(t *testing.T) { // WQ-31, WQ-32, WQ-33, WQ-34
	const fast, slow, longest = 5 * time.Millisecond, 10 * time.Second, time.Hour
	for name, open := range map[string]func() (workqueue.RateLimiter[string], clientworkqueue.TypedRateLimiter[string]){
		"exponential": func() (workqueue.RateLimiter[string], clientworkqueue.TypedRateLimiter[string]) {
			return workqueue.Exponential[string](fast, longest),
				clientworkqueue.NewTypedItemExponentialFailureRateLimiter[string](fast, longest)
		},
		"fast and slow": func() (workqueue.RateLimiter[string], clientworkqueue.TypedRateLimiter[string]) {
			return workqueue.FastSlow[string](fast, slow, 3),
				clientworkqueue.NewTypedItemFastSlowRateLimiter[string](fast, slow, 3)
		},
		"the longest of two": func() (workqueue.RateLimiter[string], clientworkqueue.TypedRateLimiter[string]) {
			return workqueue.MaxOf(workqueue.FastSlow[string](fast, slow, 5), workqueue.Exponential[string](fast, longest)),
				clientworkqueue.NewTypedMaxOfRateLimiter(
					clientworkqueue.NewTypedItemFastSlowRateLimiter[string](fast, slow, 5),
					clientworkqueue.NewTypedItemExponentialFailureRateLimiter[string](fast, longest))
		},
		"no longer than": func() (workqueue.RateLimiter[string], clientworkqueue.TypedRateLimiter[string]) {
			return workqueue.WithMaxWait(workqueue.Exponential[string](fast, longest), slow),
				clientworkqueue.NewTypedWithMaxWaitRateLimiter(
					clientworkqueue.NewTypedItemExponentialFailureRateLimiter[string](fast, longest), slow)
		},
		"default, with its bucket": func() (workqueue.RateLimiter[string], clientworkqueue.TypedRateLimiter[string]) {
			return workqueue.DefaultRateLimiter[string](), clientworkqueue.DefaultTypedControllerRateLimiter[string]()
		},
		"default of items": func() (workqueue.RateLimiter[string], clientworkqueue.TypedRateLimiter[string]) {
			return workqueue.DefaultItemRateLimiter[string](), clientworkqueue.DefaultTypedItemBasedRateLimiter[string]()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := open()
				for i := range 400 {
					key := []string{"often", "often", "often", "seldom", string(rune('a' + i%20))}[i%5]
					// Both sides compute a bucket in floating point, but in different orders.
					require.InDelta(t, theirs.When(key), ours.When(key), float64(time.Microsecond), "failure %d, of %s", i, key)
					require.Equal(t, theirs.NumRequeues(key), ours.NumRequeues(key))
					switch {
					case i%50 == 49:
						time.Sleep(3 * time.Second)
					case i%7 == 6:
						ours.Forget("seldom")
						theirs.Forget("seldom")
					}
				}
			})
		})
	}
}
