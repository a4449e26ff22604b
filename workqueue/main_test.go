package workqueue_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

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

// running starts Run. It returns a function that ends its context and returns the result of Run.
func running(t *testing.T, q *workqueue.Queue[string], workers int, reconcile func(context.Context, string) error) (end func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- q.Run(ctx, workers, reconcile) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// draining does the same as the function running, but starts RunUntil. The function that it returns
// ends the context stop.
func draining(t *testing.T, q *workqueue.Queue[string], workers int, reconcile func(context.Context, string) error) (end func() error) {
	stop, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- q.RunUntil(context.WithoutCancel(stop), stop, workers, reconcile) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// journal records events with the time since it was made.
type journal struct {
	start time.Time

	mu    sync.Mutex // guards following
	lines []string
}

func newJournal() *journal { return &journal{start: time.Now()} }

func (j *journal) note(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf("%s @%v", what, time.Since(j.start)))
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}
