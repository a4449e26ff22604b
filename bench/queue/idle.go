package main

import (
	"fmt"
	"runtime"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/kinform/kinform/plain"
	kinformqueue "github.com/kinform/kinform/workqueue"

	"github.com/kinform/kinform/bench/internal/report"
)

// idleRow is the name of the row with the goroutines and the memory of queues without keys.
const idleRow = "goroutines per idle queue"

// idleQueue is a way to make a queue without keys.
type idleQueue struct {
	name string
	ours bool
	open func() (shutDown func())
}

// With a name, the other libraries' queues have metrics. The queues of controllers have names.
var idleQueues = []idleQueue{
	{name: "client-go, plain", open: func() func() {
		return workqueue.NewTyped[types.NamespacedName]().ShutDown
	}},
	{name: "client-go, delaying", open: func() func() {
		return workqueue.NewTypedDelayingQueue[types.NamespacedName]().ShutDown
	}},
	{name: "client-go, rate-limiting", open: func() func() {
		return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]()).ShutDown
	}},
	{name: "client-go, rate-limiting, with a name", open: func() func() {
		return workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName](),
			workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: "bench"}).ShutDown
	}},
	{name: "controller-runtime", open: func() func() {
		return priorityqueue.New[types.NamespacedName]("").ShutDown
	}},
	{name: "controller-runtime, with a name", open: func() func() {
		return priorityqueue.New[types.NamespacedName]("bench").ShutDown
	}},
	{name: "plain", open: func() func() {
		return plain.NewQueue[types.NamespacedName]().ShutDown
	}},
	{name: "kinform", ours: true, open: func() func() {
		return kinformqueue.New(kinformqueue.Options[types.NamespacedName]{Name: "bench"}).ShutDown
	}},
}

// idle returns a table of the goroutines and bytes of unused queues.
func idle() (string, error) {
	t := report.Table{{idleRow, "", "KB", "target", ""}}
	for _, q := range idleQueues {
		goroutines, bytes, err := q.measure()
		if err != nil {
			return "", fmt.Errorf("%s: %w", q.name, err)
		}
		target, verdict := "", ""
		if q.ours {
			target, verdict = "0", "met"
			if goroutines > 0 {
				verdict = "missed"
			}
		}
		t.Add(q.name, fmt.Sprintf("%.1f", goroutines), fmt.Sprintf("%.1f", bytes/1000), target, verdict)
	}
	return t.String(), nil
}

// measure makes some queues, and returns the number of goroutines of each, and the bytes of each on
// the heap and on stacks.
func (q idleQueue) measure() (goroutines, bytes float64, err error) {
	const queues = 100
	others := goleak.IgnoreCurrent()
	q.open()() // so that global state exists already
	if err := goleak.Find(others); err != nil {
		return 0, 0, err
	}
	goroutinesBefore, bytesBefore := runtime.NumGoroutine(), memory()
	shutDown := make([]func(), queues)
	for n := range shutDown {
		shutDown[n] = q.open()
	}
	time.Sleep(10 * time.Millisecond) // time for short-lived goroutines to end
	goroutinesNow, bytesNow := runtime.NumGoroutine(), memory()
	for _, f := range shutDown {
		f()
	}
	return float64(goroutinesNow-goroutinesBefore) / queues, (bytesNow - bytesBefore) / queues, goleak.Find(others)
}

func memory() float64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc + stats.StackInuse)
}
