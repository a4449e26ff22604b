// Package fake has the clientset of all built-in types for tests: it answers from objects in memory, and records what it was
// asked for.
//
// It is no API server: it validates nothing, sets no defaults, counts no versions of objects and keeps no status apart.
// github.com/kinform/kinform/apitest is an API server inside the process.
package fake

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes"
	clientsetscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/testing"
)

var (
	_ kubernetes.Interface = &Clientset{}
	_ testing.FakeClient   = &Clientset{}
)

// AddToScheme adds all built-in types to a scheme.
var AddToScheme = clientsetscheme.AddToScheme

// types returns the scheme of the fakes. It is not that of the clients, which programs may have added types to: those are
// unknown here. It is made at the first use, not at the start of every program that links this package.
var types = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	utilruntime.Must(AddToScheme(scheme))
	return scheme
})

// Clientset is a kubernetes.Interface for tests. Its zero value has no objects, no Discovery and no Tracker, and answers what
// reactors answer. It is safe for concurrent use, but for what testing.Fake says of reactors.
type Clientset struct {
	testing.Fake
	discovery *fakediscovery.FakeDiscovery
	tracker   testing.ObjectTracker
}

// NewSimpleClientset returns a clientset that has these objects, and keeps no managed fields: it cannot apply. It panics for
// an object that it cannot take, such as one of a type that is not built in. Lists are taken apart.
//
// NewClientset can do more.
func NewSimpleClientset(objects ...runtime.Object) *Clientset {
	scheme := types()
	return newClientset(testing.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder()), objects)
}

func newClientset(tracker testing.ObjectTracker, objects []runtime.Object) *Clientset {
	for _, object := range objects {
		if err := tracker.Add(object); err != nil {
			panic(err)
		}
	}
	c := &Clientset{tracker: tracker}
	c.discovery = &fakediscovery.FakeDiscovery{Fake: &c.Fake}
	c.AddReactor("*", "*", testing.ObjectReaction(tracker))
	c.AddWatchReactor("*", func(action testing.Action) (bool, watch.Interface, error) {
		var options metav1.ListOptions
		if a, ok := action.(testing.WatchActionImpl); ok {
			options = a.ListOptions
		}
		changes, err := tracker.Watch(action.GetResource(), action.GetNamespace(), options)
		return err == nil, changes, err
	})
	return c
}

// Discovery returns a *fakediscovery.FakeDiscovery, which answers from the Resources of the clientset.
func (c *Clientset) Discovery() discovery.DiscoveryInterfaces { return c.discovery }

// Tracker returns what holds the objects. What a test does with it is not recorded as an action.
func (c *Clientset) Tracker() testing.ObjectTracker { return c.tracker }

// IsWatchListSemanticsUnSupported says that a watch does not send a list first, so that reflectors list.
func (c *Clientset) IsWatchListSemanticsUnSupported() bool { return true }
