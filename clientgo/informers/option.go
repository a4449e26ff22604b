// Package informers has a factory of shared informers for all built-in types.
package informers

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/tools/cache"
)

// SharedInformerOption configures a new factory.
type SharedInformerOption func(*sharedInformerFactory) *sharedInformerFactory

// WithCustomResyncConfig sets the resync periods of single types. Each key is an example object of
// the type.
func WithCustomResyncConfig(resyncConfig map[metav1.Object]time.Duration) SharedInformerOption {
	return func(f *sharedInformerFactory) *sharedInformerFactory {
		for example, resync := range resyncConfig {
			f.resyncs[reflect.TypeOf(example)] = resync
		}
		return f
	}
}

// WithTweakListOptions sets a function that changes the options of all list and watch requests.
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
