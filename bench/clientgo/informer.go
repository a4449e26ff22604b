// Package clientgo adapts client-go's types for package conformance.
package clientgo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kinform/kinform/internal/testing/conformance"
)

// NewInformer implements conformance.NewInformer with a shared informer, with client-go's default
// feature gates.
func NewInformer(name string, setup conformance.Setup) (conformance.Informer, error) {
	transport := &http.Transport{DialContext: setup.Server.DialContext}
	client, err := newClient(name, setup.Server.URL(), transport)
	if err != nil {
		return nil, err
	}
	source := listWatch{cache.NewListWatchFromClient(client, "pods", "", fields.Everything()), !setup.WatchList}
	inf := cache.NewSharedIndexInformerWithOptions(source, &corev1.Pod{}, cache.SharedIndexInformerOptions{
		ResyncPeriod: setup.Resync,
		Indexers:     indexers(setup.Indexes),
	})
	if setup.Transform != nil {
		err = inf.SetTransform(func(object any) (any, error) {
			if pod, ok := object.(*corev1.Pod); ok {
				return setup.Transform(pod)
			}
			return object, nil
		})
	}
	if setup.OnError != nil {
		err = errors.Join(err, inf.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { setup.OnError(err) }))
	}
	return &subject{inf, transport}, err
}

func newClient(name, host string, transport http.RoundTripper) (*rest.RESTClient, error) {
	config := &rest.Config{
		Host:      host,
		APIPath:   "/api",
		UserAgent: name,
		QPS:       -1,
		ContentConfig: rest.ContentConfig{
			ContentType:          runtime.ContentTypeProtobuf,
			GroupVersion:         &corev1.SchemeGroupVersion,
			NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
		},
	}
	return rest.RESTClientForConfigAndClient(config, &http.Client{Transport: userAgent{name, transport}})
}

// userAgent sets the User-Agent. client-go would set it only on a transport that it makes itself.
type userAgent struct {
	name string
	next http.RoundTripper
}

func (u userAgent) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", u.name)
	return u.next.RoundTrip(r)
}

// listWatch is a ListWatch that reports whether it supports streaming lists.
type listWatch struct {
	*cache.ListWatch
	onlyLists bool
}

// IsWatchListSemanticsUnSupported reports that the source only lists. client-go looks for a method
// of this name.
func (l listWatch) IsWatchListSemanticsUnSupported() bool { return l.onlyLists }

type subject struct {
	informer  cache.SharedIndexInformer
	transport *http.Transport
}

func (s *subject) Run(ctx context.Context) error {
	defer s.transport.CloseIdleConnections()
	s.informer.RunWithContext(ctx)
	return nil
}

func (s *subject) AddHandler(handle func(conformance.Event), resync time.Duration) (conformance.Registration, error) {
	r, err := s.informer.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			pod := object.(*corev1.Pod)
			handle(conformance.Event{Type: conformance.Added, Initial: initial, Key: keyOf(pod), New: pod})
		},
		UpdateFunc: func(before, object any) {
			pod := object.(*corev1.Pod)
			handle(conformance.Event{Type: conformance.Updated, Key: keyOf(pod), Old: before.(*corev1.Pod), New: pod})
		},
		DeleteFunc: func(object any) {
			tombstone, unknown := object.(cache.DeletedFinalStateUnknown)
			if unknown {
				object = tombstone.Obj
			}
			pod := object.(*corev1.Pod)
			handle(conformance.Event{Type: conformance.Deleted, Key: keyOf(pod), Old: pod, New: pod, FinalStateUnknown: unknown})
		},
	}, resync)
	if err != nil {
		return nil, err
	}
	return registration{s.informer, r}, nil
}

func (s *subject) Synced() bool { return s.informer.HasSynced() }

func (s *subject) Get(key types.NamespacedName) *corev1.Pod {
	object, exists, err := s.informer.GetStore().GetByKey(key.String())
	if err != nil || !exists {
		return nil
	}
	return object.(*corev1.Pod)
}

func (s *subject) Pods() map[types.NamespacedName]*corev1.Pod {
	all := map[types.NamespacedName]*corev1.Pod{}
	for _, object := range s.informer.GetStore().List() {
		pod := object.(*corev1.Pod)
		all[keyOf(pod)] = pod
	}
	return all
}

func (s *subject) ByIndex(index, value string) (keys []types.NamespacedName, err error) {
	objects, err := s.informer.GetIndexer().ByIndex(index, value)
	for _, object := range objects {
		keys = append(keys, keyOf(object.(*corev1.Pod)))
	}
	return keys, err
}

func (s *subject) ResourceVersion() string {
	return s.informer.GetStore().LastStoreSyncResourceVersion()
}

type registration struct {
	informer cache.SharedIndexInformer
	handle   cache.ResourceEventHandlerRegistration
}

func (r registration) Synced() bool { return r.handle.HasSynced() }

func (r registration) Remove() {
	if err := r.informer.RemoveEventHandler(r.handle); err != nil {
		panic(fmt.Sprintf("removing a handler of this informer: %v", err))
	}
}

func keyOf(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

func indexers(indexes map[string]func(*corev1.Pod) ([]string, error)) cache.Indexers {
	all := cache.Indexers{}
	for name, fn := range indexes {
		all[name] = func(object any) ([]string, error) { return fn(object.(*corev1.Pod)) }
	}
	return all
}
