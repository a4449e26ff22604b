// Command kinform is kinform's side of the measurement of package sync, with its defaults and
// without sharing.
package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/bench/internal/subject"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

func main() { subject.Main(open) }

func open(task subject.Task) (subject.Informer, error) {
	client, err := rest.NewClient(rest.Config{Host: task.URL, UserAgent: task.Name}, rest.Options{})
	if err != nil {
		return nil, err
	}
	switch task.Shape {
	case subject.Metadata:
		return start[*metav1.PartialObjectMetadata](client, task, rest.ResourceOptions{})
	case subject.Stripped:
		return start[*corev1.Pod](client, task, rest.ResourceOptions{Project: rest.Omit{ManagedFields: true}})
	}
	return start[*corev1.Pod](client, task, rest.ResourceOptions{})
}

// strip is the transform that removes managedFields.
func strip[T any](object T) (T, error) {
	any(object).(metav1.Object).SetManagedFields(nil)
	return object, nil
}

// measured is an informer and its handler.
type measured[T any] struct {
	client   *rest.Client
	informer *informer.Informer[T]
	handler  *informer.Registration[T]
}

func start[T any](client *rest.Client, task subject.Task, opts rest.ResourceOptions) (subject.Informer, error) {
	opts.Encoding, opts.Unshared = encoding(task), task.Unshared
	// the type for metadata does not imply a resource
	opts.Resource = corev1.SchemeGroupVersion.WithResource("pods")
	pods, err := rest.For[T](client, opts)
	if err != nil {
		return nil, err
	}
	var source listwatch.Source[T] = pods
	if task.Shape == subject.Transformed {
		source = sources.Transform(source, strip[T])
	}
	inf, err := informer.New(source, informer.Options[T]{
		Reflector: reflector.Options{ListMode: mode(task)},
	})
	if err != nil {
		return nil, err
	}
	// The handler is unbounded, like client-go's handlers, so that each update is delivered.
	handler, err := inf.AddHandler(func(e informer.Event[T]) {
		if e.Type == informer.Updated {
			task.Updated()
		}
	}, informer.HandlerOptions{Overflow: informer.Unbounded})
	if err != nil {
		return nil, err
	}
	return &measured[T]{client: client, informer: inf, handler: handler}, nil
}

func encoding(task subject.Task) rest.Encoding {
	if task.Encoding == subject.JSON {
		return rest.JSON
	}
	return rest.Protobuf
}

func mode(task subject.Task) reflector.ListMode {
	if task.Mode == subject.WatchList {
		return reflector.WatchList
	}
	return reflector.List
}

// Run implements subject.Informer.
func (m *measured[T]) Run(ctx context.Context) error {
	defer m.client.Close()
	return m.informer.Run(ctx)
}

// Synced implements subject.Informer.
func (m *measured[T]) Synced() <-chan struct{} { return m.handler.Synced() }

// Len implements subject.Informer.
func (m *measured[T]) Len() int { return m.informer.Store().Len() }

// ResourceVersion implements subject.Informer.
func (m *measured[T]) ResourceVersion() string { return m.informer.Status().Reflector.ResourceVersion }
