// Package internalinterfaces has the types that the factory and the informer packages of all groups
// share.
package internalinterfaces

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// NewInformerFunc returns a new informer with the given resync period.
type NewInformerFunc func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer

// SharedInformerFactory has one informer for each type of objects.
type SharedInformerFactory interface {
	// Start runs the informers that are not running yet, until the channel is closed. It does not
	// wait for them.
	Start(stopCh <-chan struct{})

	// InformerFor returns the informer of the type of obj. The first call makes the informer with
	// newFunc.
	InformerFor(obj runtime.Object, newFunc NewInformerFunc) cache.SharedIndexInformer

	// InformerName returns the name of the factory in metrics, or nil if it has no metrics.
	InformerName() *cache.InformerName
}

// TweakListOptionsFunc changes the options of list and watch requests, for example to add
// selectors.
type TweakListOptionsFunc func(*metav1.ListOptions)

// InformerOptions are the optional settings of a new informer.
type InformerOptions struct {
	// ResyncPeriod is the time between two resyncs. Defaults to 0, which means no resyncs.
	ResyncPeriod time.Duration

	// Indexers are the indexes of the informer's store.
	Indexers cache.Indexers

	// InformerName is the name in metrics. Defaults to nil, which means no metrics.
	InformerName *cache.InformerName

	// TweakListOptions changes the options of list and watch requests. May be nil.
	TweakListOptions TweakListOptionsFunc
}
