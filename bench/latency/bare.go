package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// bare is not an informer. One goroutine receives events from the server and passes each to the
// handlers' goroutines over channels. Its time is the cost of the scheduler, and of waking an idle
// processor. Every side has this cost.
type bare struct {
	events   chan *corev1.Pod
	handlers []func(*corev1.Pod)
	waiting  int // number of events that may wait for a slow handler: all events
}

func (set settings) openBare(_ []*corev1.Pod, handlers []func(*corev1.Pod)) (instance, error) {
	return &bare{events: make(chan *corev1.Pod, buffered), handlers: handlers, waiting: set.events}, nil
}

func (b *bare) run(ctx context.Context) {
	boxes := make([]chan *corev1.Pod, len(b.handlers))
	for i, handle := range b.handlers {
		boxes[i] = make(chan *corev1.Pod, b.waiting)
		go func() {
			for {
				select {
				case pod := <-boxes[i]:
					handle(pod)
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	for {
		select {
		case pod := <-b.events:
			for _, box := range boxes {
				box <- pod
			}
		case <-ctx.Done():
			return
		}
	}
}

func (b *bare) waitForSync(context.Context) error { return nil }

func (b *bare) send(pod *corev1.Pod) { b.events <- pod }
