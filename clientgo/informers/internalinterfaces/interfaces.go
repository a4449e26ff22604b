// Package internalinterfaces has the types by which the packages of a group's informers and the factory know each other.
package internalinterfaces

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// NewInformerFunc returns a new informer that resyncs at the period.
type NewInformerFunc func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer

// SharedInformerFactory has one informer for each type of objects.
type SharedInformerFactory interface {
	// Start runs the informers that there are and that do not run, until the channel is closed. It does not wait.
	Start(stopCh <-chan struct{})

	// InformerFor returns the informer of the type of obj. At the first call newFunc makes it.
	InformerFor(obj runtime.Object, newFunc NewInformerFunc) cache.SharedIndexInformer

	// InformerName returns the name of the factory in metrics, or nil.
	InformerName() *cache.InformerName
}

// TweakListOptionsFunc changes the options of lists and watches: it may add selectors.
type TweakListOptionsFunc func(*metav1.ListOptions)

// InformerOptions are what an informer can be made with.
type InformerOptions struct {
	// ResyncPeriod is the time between two resyncs. Default 0: none.
	ResyncPeriod time.Duration

	// Indexers are the indexes of the informer's store.
	Indexers cache.Indexers

	// InformerName is the name in metrics. Default nil: there are none.
	InformerName *cache.InformerName

	// TweakListOptions changes the options of lists and watches, unless it is nil.
	TweakListOptions TweakListOptionsFunc
}
