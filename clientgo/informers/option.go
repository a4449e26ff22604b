// Package informers has a factory of shared informers for all built-in types.
package informers

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/tools/cache"
)

// SharedInformerOption changes a factory before it is used.
type SharedInformerOption func(*sharedInformerFactory) *sharedInformerFactory

// WithCustomResyncConfig sets the times between resyncs of single types, which the keys are examples of.
func WithCustomResyncConfig(resyncConfig map[metav1.Object]time.Duration) SharedInformerOption {
	return func(f *sharedInformerFactory) *sharedInformerFactory {
		for example, resync := range resyncConfig {
			f.resyncs[reflect.TypeOf(example)] = resync
		}
		return f
	}
}

// WithTweakListOptions sets a function that changes the options of all lists and watches.
func WithTweakListOptions(tweakListOptions internalinterfaces.TweakListOptionsFunc) SharedInformerOption {
	return func(f *sharedInformerFactory) *sharedInformerFactory {
		f.tweakListOptions = tweakListOptions
		return f
	}
}

// WithNamespace limits the factory to a namespace.
func WithNamespace(namespace string) SharedInformerOption {
	return func(f *sharedInformerFactory) *sharedInformerFactory {
		f.namespace = namespace
		return f
	}
}

// WithTransform sets the transform of all informers.
func WithTransform(transform cache.TransformFunc) SharedInformerOption {
	return func(f *sharedInformerFactory) *sharedInformerFactory {
		f.transform = transform
		return f
	}
}

// WithInformerName sets the name of the factory in metrics.
func WithInformerName(informerName *cache.InformerName) SharedInformerOption {
	return func(f *sharedInformerFactory) *sharedInformerFactory {
		f.informerName = informerName
		return f
	}
}
