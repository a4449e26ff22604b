// Command lister lists all pods once, in one response, and keeps them, in the measurement of
// package sync. It uses a clientset or the dynamic client. Like kubectl, it owns the objects, so
// that it may change them.
package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kinform/kinform/bench/internal/subject"
)

func main() { subject.Main(open) }

func open(task subject.Task) (subject.Informer, error) {
	cfg := &rest.Config{Host: task.URL, UserAgent: task.Name}
	cfg.ContentType = runtime.ContentTypeProtobuf
	if task.Encoding == subject.JSON {
		cfg.ContentType = runtime.ContentTypeJSON
	}
	cfg.AcceptContentTypes = cfg.ContentType
	l := &lister{synced: make(chan struct{})}
	if task.Shape == subject.Unstructured {
		client, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return nil, err
		}
		pods := client.Resource(corev1.SchemeGroupVersion.WithResource("pods"))
		l.list = func(ctx context.Context) (list, error) { return pods.List(ctx, metav1.ListOptions{}) }
		return l, nil
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	l.list = func(ctx context.Context) (list, error) {
		return client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	}
	return l, nil
}

// list is a list of any type.
type list interface {
	runtime.Object
	metav1.ListInterface
}

// lister keeps a list. It counts as synced when it has the list.
type lister struct {
	list   func(context.Context) (list, error)
	synced chan struct{}
	pods   list // valid after synced is closed
}

// Run implements subject.Informer.
func (l *lister) Run(ctx context.Context) (err error) {
	if l.pods, err = l.list(ctx); err != nil {
		return err
	}
	close(l.synced)
	<-ctx.Done()
	return nil
}

// Synced implements subject.Informer.
func (l *lister) Synced() <-chan struct{} { return l.synced }

// Len implements subject.Informer.
func (l *lister) Len() int { return meta.LenList(l.pods) }

// ResourceVersion implements subject.Informer.
func (l *lister) ResourceVersion() string { return l.pods.GetResourceVersion() }
