// Command clientgo is client-go's side of the measurement of package sync: the shared informer of a
// factory, which most users have.
package main

import (
	"context"
	"io"
	"os"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kinform/kinform/bench/internal/subject"
)

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard) // the driver drops its watch on purpose
	subject.Main(open)
}

func open(task subject.Task) (subject.Informer, error) {
	// client-go chooses the kind of list only by an environment variable, which it reads once.
	if err := os.Setenv("KUBE_FEATURE_WatchListClient", strconv.FormatBool(task.Mode == subject.WatchList)); err != nil {
		return nil, err
	}
	inf, err := newInformer(task)
	if err != nil {
		return nil, err
	}
	handler, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(any, any) { task.Updated() },
	})
	if err != nil {
		return nil, err
	}
	return &measured{inf, handler}, nil
}

// newInformer returns the informer that users of client-go would choose for the shape.
func newInformer(task subject.Task) (cache.SharedIndexInformer, error) {
	cfg := &rest.Config{Host: task.URL, UserAgent: task.Name}
	cfg.ContentType = runtime.ContentTypeProtobuf
	if task.Encoding == subject.JSON {
		cfg.ContentType = runtime.ContentTypeJSON
	}
	cfg.AcceptContentTypes = cfg.ContentType

	if task.Shape == subject.Metadata {
		client, err := metadata.NewForConfig(cfg)
		if err != nil {
			return nil, err
		}
		factory := metadatainformer.NewSharedInformerFactory(client, 0)
		return factory.ForResource(corev1.SchemeGroupVersion.WithResource("pods")).Informer(), nil
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	inf := informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
	if task.Shape == subject.Stripped || task.Shape == subject.Transformed {
		err = inf.SetTransform(func(obj any) (any, error) {
			obj.(*corev1.Pod).ManagedFields = nil
			return obj, nil
		})
	}
	return inf, err
}

// measured is an informer and its handler.
type measured struct {
	informer cache.SharedIndexInformer
	handler  cache.ResourceEventHandlerRegistration
}

// Run implements subject.Informer.
func (m *measured) Run(ctx context.Context) error {
	m.informer.RunWithContext(ctx)
	return nil
}

// Synced implements subject.Informer.
func (m *measured) Synced() <-chan struct{} { return m.handler.HasSyncedChecker().Done() }

// Len implements subject.Informer.
func (m *measured) Len() int { return len(m.informer.GetStore().ListKeys()) }

// ResourceVersion implements subject.Informer.
func (m *measured) ResourceVersion() string { return m.informer.LastSyncResourceVersion() }
