package workqueue_test

import (
	"context"
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"github.com/kinform/kinform/workqueue"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // In these tests, reconciles fail on purpose.
	goleak.VerifyTestMain(m)
}

// newQueue returns a queue of strings that keeps times, with default options otherwise.
func newQueue() *workqueue.Queue[string] {
	return workqueue.New(workqueue.Options[string]{Name: "test", Timed: true})
}

// get takes the next key, and fails the test if no key is ready.
func get[K comparable](t *testing.T, q *workqueue.Queue[K]) K {
	t.Helper()
	if q.Len() == 0 { // require, called for each of 100,000 keys, would take most of a test's time
		t.Fatal("Get would block")
	}
	key, err := q.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// takeAll takes all ready keys, and calls Done for each.
func takeAll[K comparable](t *testing.T, q *workqueue.Queue[K]) []K {
	t.Helper()
	var taken []K
	for q.Len() > 0 {
		key := get(t, q)
		q.Done(key)
		taken = append(taken, key)
	}
	return taken
}

// serve is a worker: it processes keys until the queue is shut down and empty.
func serve[K comparable](q *workqueue.Queue[K], work func(K)) {
	for {
		key, err := q.Get(context.Background())
		if err != nil {
			return
		}
		work(key)
		q.Done(key)
	}
}
