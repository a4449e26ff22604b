// Command manager is a manager of controller-runtime with a cache, in the measurement of package
// sync. It has whole typed pods, or unstructured ones.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clientgo "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kinform/kinform/bench/internal/subject"
)

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard) // the driver drops its watch on purpose
	ctrl.SetLogger(logr.Discard())
	subject.Main(open)
}

func open(task subject.Task) (subject.Informer, error) {
	// client-go chooses the kind of list only by an environment variable, which it reads once.
	if err := os.Setenv("KUBE_FEATURE_WatchListClient", "false"); err != nil {
		return nil, err
	}
	cfg := &rest.Config{Host: task.URL, UserAgent: task.Name}
	cfg.ContentType = runtime.ContentTypeProtobuf
	if task.Encoding == subject.JSON {
		cfg.ContentType = runtime.ContentTypeJSON
	}
	cfg.AcceptContentTypes = cfg.ContentType
	opts := manager.Options{Metrics: server.Options{BindAddress: "0"}}
	if task.Shape == subject.Transformed || task.Shape == subject.UnstructuredTransformed {
		opts.Cache.DefaultTransform = cache.TransformStripManagedFields()
	}
	m, err := manager.New(cfg, opts)
	if err != nil {
		return nil, err
	}
	var pod client.Object = &corev1.Pod{}
	if task.Shape == subject.Unstructured || task.Shape == subject.UnstructuredTransformed {
		untyped := &unstructured.Unstructured{}
		untyped.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		pod = untyped
	}
	return &measured{manager: m, pod: pod, task: task, synced: make(chan struct{})}, nil
}

// measured is a manager, its informer and the handler.
type measured struct {
	manager  manager.Manager
	pod      client.Object
	task     subject.Task
	informer clientgo.SharedIndexInformer // set before synced is closed
	synced   chan struct{}
}

// Run implements subject.Informer.
func (m *measured) Run(ctx context.Context) error {
	err := m.manager.Add(manager.RunnableFunc(m.watch))
	if err != nil {
		return err
	}
	return m.manager.Start(ctx)
}

// watch gets the informer from the manager's cache, like a controller.
func (m *measured) watch(ctx context.Context) error {
	found, err := m.manager.GetCache().GetInformer(ctx, m.pod)
	if err != nil {
		return err
	}
	informer, ok := found.(clientgo.SharedIndexInformer)
	if !ok {
		return errors.New("the manager's informer is not a shared index informer")
	}
	handler, err := informer.AddEventHandler(clientgo.ResourceEventHandlerFuncs{
		UpdateFunc: func(any, any) { m.task.Updated() },
	})
	if err != nil {
		return err
	}
	for !handler.HasSynced() {
		time.Sleep(time.Millisecond)
	}
	m.informer = informer
	close(m.synced)
	return nil
}

// Synced implements subject.Informer.
func (m *measured) Synced() <-chan struct{} { return m.synced }

// Len implements subject.Informer.
func (m *measured) Len() int { return len(m.informer.GetStore().ListKeys()) }

// ResourceVersion implements subject.Informer.
func (m *measured) ResourceVersion() string { return m.informer.LastSyncResourceVersion() }
