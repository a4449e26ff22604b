package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
)

// subject is a measured client.
type subject struct {
	name string
	// open makes an informer of pods that are listed in memory. Its handlers are called with each
	// update.
	open func(pods []*corev1.Pod, handlers []func(*corev1.Pod)) (instance, error)
	// goroutines starts informers on the server at url, each with some handlers, and returns when
	// all have synced. It is nil if the subject has no informers.
	goroutines func(ctx context.Context, url string, informers, handlers int) error
}

// instance is an informer with an in-memory server.
type instance interface {
	// run runs the informer until ctx ends.
	run(ctx context.Context)
	// waitForSync waits until all handlers have got the first list.
	waitForSync(ctx context.Context) error
	// send hands an update to the informer, as the server's write would.
	send(*corev1.Pod)
}

// measure sends events to a subject at a pace. It returns how long each event took to reach each of
// the fast handlers.
func (set settings) measure(s subject, p sendRate) (durations, error) {
	pods := make([]*corev1.Pod, 0, set.pods)
	for pod := range apitest.Pods(set.pods, apitest.PodOptions{}) {
		pod.ResourceVersion = strconv.Itoa(len(pods) + 1)
		pods = append(pods, pod)
	}
	updates := make([]*corev1.Pod, set.events)
	for n := range updates {
		updates[n] = pods[n%len(pods)].DeepCopy()
		updates[n].ResourceVersion = strconv.Itoa(len(pods) + 1 + n)
		// With it a handler finds the time at which the event was sent.
		updates[n].Generation = int64(n)
	}
	written := make([]time.Time, set.events)
	measured := make([]durations, fast)
	var missing atomic.Int64
	missing.Store(int64(fast * set.events))
	done := make(chan struct{})
	handlers := make([]func(*corev1.Pod), fast, fast+1)
	for h := range handlers {
		measured[h] = make(durations, 0, set.events)
		handlers[h] = func(pod *corev1.Pod) {
			measured[h] = append(measured[h], time.Since(written[pod.Generation]))
			if missing.Add(-1) == 0 {
				close(done)
			}
		}
	}
	handlers = append(handlers, func(*corev1.Pod) { time.Sleep(set.slow) })

	client, err := s.open(pods, handlers)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { client.run(ctx) })
	defer running.Wait()
	defer cancel()
	if err := client.waitForSync(ctx); err != nil {
		return nil, err
	}
	ticker := time.NewTicker(p.every)
	defer ticker.Stop()
	for n, pod := range updates {
		if n%p.burst == 0 {
			<-ticker.C
		}
		written[n] = time.Now()
		client.send(pod)
	}
	select {
	case <-done:
	case <-time.After(time.Minute):
		return nil, fmt.Errorf("%d calls of handlers are missing", missing.Load())
	}
	var all durations
	for _, d := range measured {
		all = append(all, d...)
	}
	return all, nil
}

// buffered is how many events the server may send ahead of the reader, as with a socket buffer.
const buffered = 1000
