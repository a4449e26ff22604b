package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// bare is no informer: one goroutine takes events from the server and gives each to
// the goroutines of the handlers, over channels, and nothing else. What it takes is
// what the scheduler and a processor that has just been idle take from everybody.
type bare struct {
	events   chan *corev1.Pod
	handlers []func(*corev1.Pod)
	waiting  int // events that may wait for a slow handler: all
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
