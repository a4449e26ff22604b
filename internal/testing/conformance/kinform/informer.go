// Package kinform adapts kinform's informer to package conformance.
package kinform

import (
	"context"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/internal/testing/conformance"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// NewInformer implements conformance.NewInformer, with default options, which most users have.
func NewInformer(name string, setup conformance.Setup) (conformance.Informer, error) {
	client, err := rest.NewClient(rest.Config{Host: setup.Server.URL(), DialContext: setup.Server.DialContext, UserAgent: name}, rest.Options{})
	if err != nil {
		return nil, err
	}
	opts := informer.Options[*corev1.Pod]{}
	if setup.WatchList {
		opts.Reflector.ListMode = reflector.WatchList
	}
	if setup.OnError != nil {
		opts.Reflector.OnError = func(e reflector.Error) { setup.OnError(e) }
	}
	if setup.Indexes != nil {
		opts.Store.Indexes = map[string]indexer.IndexFunc[*corev1.Pod]{}
		for index, fn := range setup.Indexes {
			opts.Store.Indexes[index] = fn
		}
	}
	var source listwatch.Source[*corev1.Pod] = rest.Must(rest.For[*corev1.Pod](client, rest.ResourceOptions{Resource: pods}))
	if setup.Transform != nil {
		source = sources.Transform(source, setup.Transform)
	}
	inf, err := informer.New(source, opts)
	if err != nil {
		return nil, err
	}
	return &subject{inf, client}, nil
}

type subject struct {
	informer *informer.Informer[*corev1.Pod]
	client   *rest.Client
}

func (s *subject) Run(ctx context.Context) error {
	defer s.client.Close()
	return s.informer.Run(ctx)
}

func (s *subject) AddHandler(handle func(conformance.Event), resync time.Duration) (conformance.Registration, error) {
	r, err := s.informer.AddHandler(func(e informer.Event[*corev1.Pod]) { handle(translate(e)) }, informer.HandlerOptions{Resync: resync})
	if err != nil {
		return nil, err
	}
	return registration{r}, nil
}

func translate(e informer.Event[*corev1.Pod]) conformance.Event {
	translated := conformance.Event{
		Initial: e.Cause == informer.Initial, Key: e.Key, Old: e.Old, New: e.New, FinalStateUnknown: e.FinalStateUnknown,
	}
	switch e.Type {
	case informer.Added:
		translated.Type = conformance.Added
	case informer.Updated:
		translated.Type = conformance.Updated
	case informer.Deleted:
		translated.Type = conformance.Deleted
	}
	return translated
}

func (s *subject) Synced() bool { return s.informer.Status().Synced }

func (s *subject) Get(key types.NamespacedName) *corev1.Pod {
	pod, _ := s.informer.Store().Get(key)
	return pod
}

func (s *subject) Pods() map[types.NamespacedName]*corev1.Pod {
	return maps.Collect(s.informer.Store().All())
}

func (s *subject) ByIndex(index, value string) (keys []types.NamespacedName, err error) {
	all, err := s.informer.Store().ByIndex(index, value)
	if err != nil {
		return nil, err
	}
	for key := range all {
		keys = append(keys, key)
	}
	return keys, nil
}

func (s *subject) ResourceVersion() string { return s.informer.Store().ResourceVersion() }

type registration struct {
	*informer.Registration[*corev1.Pod]
}

func (r registration) Synced() bool {
	select {
	case <-r.Registration.Synced():
		return true
	default:
		return false
	}
}
