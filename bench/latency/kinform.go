package main

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

// kinformInstance is a kinform informer and its source.
type kinformInstance struct {
	informer *informer.Informer[*corev1.Pod]
	handlers []*informer.Registration[*corev1.Pod]
	source   *memory
}

func openKinform(pods []*corev1.Pod, handlers []func(*corev1.Pod)) (instance, error) {
	c := &kinformInstance{source: &memory{pods: pods, events: make(chan listwatch.Event[*corev1.Pod], buffered)}}
	var err error
	if c.informer, err = informer.New(c.source, informer.Options[*corev1.Pod]{}); err != nil {
		return nil, err
	}
	for _, handle := range handlers {
		// client-go delivers every event, so kinform must not merge events here either.
		registration, err := c.informer.AddHandler(func(e informer.Event[*corev1.Pod]) {
			if e.Type == informer.Updated {
				handle(e.New)
			}
		}, informer.HandlerOptions{Overflow: informer.Unbounded})
		if err != nil {
			return nil, err
		}
		c.handlers = append(c.handlers, registration)
	}
	return c, nil
}

func (c *kinformInstance) run(ctx context.Context) { _ = c.informer.Run(ctx) }

func (c *kinformInstance) waitForSync(ctx context.Context) error {
	for _, h := range c.handlers {
		if err := h.WaitForSync(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *kinformInstance) send(pod *corev1.Pod) {
	c.source.events <- listwatch.Event[*corev1.Pod]{Type: listwatch.Modified, Item: itemOf(pod)}
}

// memory is a source in memory.
type memory struct {
	pods   []*corev1.Pod
	events chan listwatch.Event[*corev1.Pod]
}

func (m *memory) List(context.Context, listwatch.ListOptions) (listwatch.ListStream[*corev1.Pod], error) {
	return &memoryList{m.pods}, nil
}

func (m *memory) Watch(ctx context.Context, _ listwatch.WatchOptions) (listwatch.WatchStream[*corev1.Pod], error) {
	return &memoryWatch{ctx, m.events}, nil
}

type memoryList struct{ rest []*corev1.Pod }

func (l *memoryList) Next() (item listwatch.Item[*corev1.Pod], err error) {
	if len(l.rest) == 0 {
		return item, io.EOF
	}
	item, l.rest = itemOf(l.rest[0]), l.rest[1:]
	return item, nil
}

func (l *memoryList) Meta() listwatch.ListMeta { return listwatch.ListMeta{ResourceVersion: "1"} }
func (l *memoryList) Close() error             { return nil }

type memoryWatch struct {
	ctx    context.Context
	events <-chan listwatch.Event[*corev1.Pod]
}

func (w *memoryWatch) Next() (event listwatch.Event[*corev1.Pod], err error) {
	select {
	case event = <-w.events:
		return event, nil
	case <-w.ctx.Done():
		return event, w.ctx.Err()
	}
}

func (w *memoryWatch) Close() error { return nil }

func itemOf(pod *corev1.Pod) listwatch.Item[*corev1.Pod] {
	return listwatch.Item[*corev1.Pod]{
		Key: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, Object: pod, ResourceVersion: pod.ResourceVersion,
	}
}

func kinformGoroutines(ctx context.Context, url string, informers, handlers int) error {
	client, err := rest.NewClient(rest.Config{Host: url}, rest.Options{})
	if err != nil {
		return err
	}
	for range informers {
		source, err := rest.For[*corev1.Pod](client, rest.ResourceOptions{})
		if err != nil {
			return err
		}
		inf, err := informer.New(source, informer.Options[*corev1.Pod]{})
		if err != nil {
			return err
		}
		for range handlers {
			if _, err := inf.AddHandler(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{}); err != nil {
				return err
			}
		}
		go func() { _ = inf.Run(ctx) }()
		if err := inf.WaitForSync(ctx); err != nil {
			return err
		}
	}
	return nil
}
