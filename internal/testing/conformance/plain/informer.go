// Package plain adapts the informer of the textbook to package conformance.
package plain

import (
	"context"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/testing/conformance"
	"github.com/kinform/kinform/plain"
)

// NewInformer implements conformance.NewInformer. The textbook has no streaming lists, so a setup
// that requests one gets a list. All handlers have the same resync: the shortest of their periods.
func NewInformer(name string, setup conformance.Setup) (conformance.Informer, error) {
	transport := &http.Transport{DialContext: setup.Server.DialContext}
	client := &plain.Client[*corev1.Pod]{
		HTTP: &http.Client{Transport: transport}, URL: setup.Server.URL() + "/api/v1/pods", UserAgent: name,
	}
	opts := plain.Options[*corev1.Pod]{Resync: setup.Resync, OnError: setup.OnError, Indexes: map[string]plain.IndexFunc[*corev1.Pod]{}}
	if opts.OnError == nil {
		opts.OnError = func(error) {}
	}
	for index, fn := range setup.Indexes {
		opts.Indexes[index] = fn
	}
	return &subject{plain.NewInformer(client, opts), transport}, nil
}

type subject struct {
	*plain.Informer[*corev1.Pod]
	transport *http.Transport
}

func (s *subject) Run(ctx context.Context) error {
	defer s.transport.CloseIdleConnections()
	return s.Informer.Run(ctx)
}

func (s *subject) AddHandler(handle func(conformance.Event), _ time.Duration) (conformance.Registration, error) {
	h, err := s.Informer.AddHandler(func(e plain.Event[*corev1.Pod]) {
		handle(conformance.Event{
			Type: map[plain.DeltaType]conformance.EventType{
				plain.Added: conformance.Added, plain.Updated: conformance.Updated, plain.Deleted: conformance.Deleted,
			}[e.Type],
			Initial: e.Initial, Key: plain.KeyOf(e.New), Old: e.Old, New: e.New, FinalStateUnknown: e.FinalStateUnknown,
		})
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

func (s *subject) Get(key types.NamespacedName) *corev1.Pod {
	pod, _ := s.Store.Get(key)
	return pod
}

// Pods clears kind and apiVersion. A watch sends them and a list does not. Typed clients drop them,
// and package plain keeps them.
func (s *subject) Pods() map[types.NamespacedName]*corev1.Pod {
	pods := map[types.NamespacedName]*corev1.Pod{}
	for _, pod := range s.Store.List() {
		untyped := *pod
		untyped.TypeMeta = metav1.TypeMeta{}
		pods[plain.KeyOf(pod)] = &untyped
	}
	return pods
}

func (s *subject) ByIndex(index, value string) ([]types.NamespacedName, error) {
	found, err := s.Store.ByIndex(index, value)
	return keys(found), err
}

func (s *subject) ResourceVersion() string { return s.Applied() }

func keys[T metav1.Object](objects []T) (keys []types.NamespacedName) {
	for _, object := range objects {
		keys = append(keys, plain.KeyOf(object))
	}
	return keys
}
