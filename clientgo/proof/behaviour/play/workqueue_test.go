package play

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// playWorkqueue covers WQ-1 to WQ-11, WQ-20 to WQ-26 and WQ-30. It leaves out two defects of
// client-go: Done of an item that no worker has, and drains.
func playWorkqueue(t *testing.T, p *player) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](100*time.Millisecond, 20*time.Second))
		var held []string
		for range 80 {
			// so that no two items are due at the same time, because their order would be undefined
			// (WQ-22)
			time.Sleep(37 * time.Microsecond)
			item := strconv.Itoa(p.IntN(5))
			switch p.IntN(9) {
			case 0, 1:
				q.Add(item)
				p.trace("add %s", item)
			case 2, 3:
				if q.Len() > 0 || q.ShuttingDown() && len(held) == 0 {
					got, down := q.Get()
					p.trace("got %s %v", got, down)
					if !down {
						held = append(held, got)
					}
				}
			case 4:
				if len(held) > 0 {
					p.trace("done %s", held[0])
					q.Done(held[0])
					held = held[1:]
				}
			case 5:
				d := time.Duration(p.IntN(4000)) * time.Millisecond
				q.AddAfter(item, d)
				p.trace("add %s after %v", item, d)
			case 6:
				q.AddRateLimited(item)
				p.trace("add %s limited, %d", item, q.NumRequeues(item))
			case 7:
				q.Forget(item)
				p.trace("forget %s, %d", item, q.NumRequeues(item))
			case 8:
				// With half a millisecond more, no item is due exactly at the end of a wait.
				d := time.Duration(p.IntN(3000))*time.Millisecond + 500*time.Microsecond
				p.trace("sleep %v", d)
				time.Sleep(d)
			}
			if p.chance(80) {
				p.trace("shut down")
				q.ShutDown()
			}
			synctest.Wait()
			p.trace("  %d %v", q.Len(), q.ShuttingDown())
		}
		q.ShutDown()
		for _, item := range held {
			q.Done(item)
		}
		for {
			got, down := q.Get()
			p.trace("at last %s %v", got, down)
			if down {
				break
			}
			q.Done(got)
		}
		time.Sleep(time.Minute) // client-go's goroutine for delays ends late (D4)
	})
}
