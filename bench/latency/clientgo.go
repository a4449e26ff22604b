package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

var errNotSynced = errors.New("an informer has not synced")

// clientGoInstance is a shared informer with its server.
type clientGoInstance struct {
	informer cache.SharedIndexInformer
	synced   []cache.InformerSynced
	events   chan watch.Event
}

func openClientGo(pods []*corev1.Pod, handlers []func(*corev1.Pod)) (instance, error) {
	c := &clientGoInstance{events: make(chan watch.Event, buffered)}
	c.informer = cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
			for _, pod := range pods {
				list.Items = append(list.Items, *pod)
			}
			return list, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return watching(c.events), nil
		},
	}, &corev1.Pod{}, 0, cache.Indexers{})
	for _, handle := range handlers {
		registration, err := c.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(_, obj any) { handle(obj.(*corev1.Pod)) },
		})
		if err != nil {
			return nil, err
		}
		c.synced = append(c.synced, registration.HasSynced)
	}
	return c, nil
}

func (c *clientGoInstance) run(ctx context.Context) { c.informer.RunWithContext(ctx) }

func (c *clientGoInstance) waitForSync(ctx context.Context) error {
	if !cache.WaitForCacheSync(ctx.Done(), c.synced...) {
		return errNotSynced
	}
	return nil
}

func (c *clientGoInstance) send(pod *corev1.Pod) {
	c.events <- watch.Event{Type: watch.Modified, Object: pod}
}

// watching is a watch whose Stop does nothing. Its channel is garbage once it has no more readers.
type watching chan watch.Event

func (w watching) ResultChan() <-chan watch.Event { return w }
func (w watching) Stop()                          {}

func clientGoGoroutines(ctx context.Context, url string, n, handlers int) error {
	cfg := &rest.Config{Host: url}
	cfg.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	for range n {
		inf := informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
		for range handlers {
			if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{}); err != nil {
				return err
			}
		}
		go func() { inf.RunWithContext(ctx) }()
		if !cache.WaitForCacheSync(ctx.Done(), inf.HasSynced) {
			return errNotSynced
		}
	}
	return nil
}
