package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The methods create and change each give one order.

func (l *load) create(ctx context.Context, n int, order int64) error {
	robot := &Robot{
		TypeMeta:   metav1.TypeMeta{APIVersion: group.String(), Kind: robotKind.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: robotName(n)},
		Spec:       RobotSpec{Order: order, Shelf: fmt.Sprintf("shelf-%d", n%100)},
	}
	l.watcher.expect(robot.key(), order)
	_, err := l.robots.Create(ctx, robot, metav1.CreateOptions{})
	return err
}

func (l *load) change(ctx context.Context, n int, order int64) error {
	key := types.NamespacedName{Namespace: l.namespace, Name: robotName(n)}
	l.watcher.expect(key, order)
	_, err := l.robots.Patch(ctx, key, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"order":%d}}`, order), metav1.PatchOptions{})
	return err
}

func robotName(n int) string { return fmt.Sprintf("robot-%05d", n) }

// forEachRobot(give) returns a function that gives an order to each robot, with all clients at
// once.
func (l *load) forEachRobot(give func(ctx context.Context, n int, order int64) error) func(context.Context) error {
	return func(ctx context.Context) error {
		clients := newWorkerPool(ctx, l.clients)
		for n := range l.objects {
			l.orders++
			order := l.orders
			clients.do(n, func(ctx context.Context) error { return give(ctx, n, order) })
		}
		return clients.wait()
	}
}

// atEvenRate returns a function that gives orders at an even rate. The function runs for the time
// in the flags, and then as long as more returns true. It visits the robots in a scattered order,
// and visits a robot again only after all others.
func (l *load) atEvenRate(more func() bool) func(context.Context) error {
	return func(ctx context.Context) error {
		clients := newWorkerPool(ctx, l.clients)
		tick := time.NewTicker(time.Second / time.Duration(l.rate))
		defer tick.Stop()
		const stride = 7919 // a prime that does not divide usual numbers of robots
		for begun := time.Now(); time.Since(begun) < l.steady || more(); {
			select {
			case <-tick.C:
			case <-clients.ctx.Done():
				return clients.wait()
			}
			l.orders++
			order, robot := l.orders, int(l.orders*stride%int64(l.objects))
			clients.do(robot, func(ctx context.Context) error { return l.change(ctx, robot, order) })
		}
		return clients.wait()
	}
}

// workerPool runs functions concurrently until one of them fails. The functions for one robot run
// in order.
type workerPool struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	queues  []chan func(context.Context) error
	running sync.WaitGroup
}

func newWorkerPool(ctx context.Context, size int) *workerPool {
	c := &workerPool{}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	for range size {
		place := make(chan func(context.Context) error, 64)
		c.queues = append(c.queues, place)
		c.running.Go(func() {
			for f := range place {
				if c.ctx.Err() != nil {
					continue
				}
				if err := f(c.ctx); err != nil {
					c.cancel(err)
				}
			}
		})
	}
	return c
}

// do(robot, f) runs f for a robot, in the goroutine for that robot.
func (c *workerPool) do(robot int, f func(context.Context) error) {
	select {
	case c.queues[robot%len(c.queues)] <- f:
	case <-c.ctx.Done():
	}
}

// wait waits until all functions have ended, and returns the first error.
func (c *workerPool) wait() error {
	for _, place := range c.queues {
		close(place)
	}
	c.running.Wait()
	err := context.Cause(c.ctx)
	c.cancel(nil)
	return err
}
