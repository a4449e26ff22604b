package workqueue

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const manyAlarms = 8 * spreadAtOnce

// midSpread returns a queue with many delayed keys, due one nanosecond apart. Its call of popDue
// has moved only a part of their alarms to lower spans. The function resume handles the rest.
func midSpread(t *testing.T) (q *Queue[int], resume func()) {
	q = New(Options[int]{})
	time.Sleep(time.Hour) // so that the floor is far before the alarms
	for key := range manyAlarms {
		q.AddAfter(key, time.Minute+time.Duration(key))
	}
	time.Sleep(time.Minute - 1)
	q.mu.Lock()
	q.pending++
	e, more := q.alarms.popDue(q.now() + 1)
	require.Nil(t, e)
	require.True(t, more)
	require.NotZero(t, q.alarms.spreading)
	q.mu.Unlock()
	require.NoError(t, q.Verify())
	return q, q.handleDueAlarms
}

func TestAShutDownMayComeWhileAlarmsAreSpread(t *testing.T) { // WQ-26, D4
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, goOn := midSpread(t)
		q.ShutDown()
		require.NoError(t, q.Verify())
		require.EqualValues(t, manyAlarms, q.Stats().Discarded)
		require.False(t, q.drainedLocked(), "handleDueAlarms has not finished")
		goOn()
		require.NoError(t, q.Drain(t.Context()))
	})
}

func TestDelaysMayChangeWhileAlarmsAreSpread(t *testing.T) { // WQ-21, WQ-22
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, goOn := midSpread(t)
		var soon, later []int
		for key := range manyAlarms {
			switch key % 4 {
			case 0:
				require.True(t, q.Cancel(key))
			case 1:
				// This time is a microsecond from now, in the middle of the other alarms. The alarm
				// comes behind the alarms of the same time.
				q.AddWith(key, AddOptions{After: time.Microsecond, Delay: Replace})
			case 2:
				q.AddWith(key, AddOptions{After: time.Hour, Delay: Latest})
				later = append(later, key)
			case 3: // the key is unchanged
				if key < 1000 {
					soon = append(soon, key)
				}
			}
		}
		for key := 1; key < manyAlarms; key += 4 {
			soon = append(soon, key)
		}
		for key := 1003; key < manyAlarms; key += 4 {
			soon = append(soon, key)
		}
		require.NoError(t, q.Verify())
		goOn()
		ready := func(after time.Duration) (keys []int) {
			time.Sleep(after)
			synctest.Wait()
			require.NoError(t, q.Verify())
			for key, ok := q.TryGet(); ok; key, ok = q.TryGet() {
				q.Done(key)
				keys = append(keys, key)
			}
			return keys
		}
		require.Equal(t, soon, ready(time.Second))
		require.Equal(t, later, ready(time.Hour))
		require.NoError(t, q.Drain(t.Context()))
	})
}
