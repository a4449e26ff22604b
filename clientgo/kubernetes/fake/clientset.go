// Package fake has the clientset of all built-in types for tests. Its objects are in memory, and it
// records the actions of its clients.
//
// It is not an API server. It does not validate objects, set defaults or count resource versions,
// and it does not treat status as a separate subresource. github.com/kinform/kinform/apitest is an
// API server inside the process.
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

// types returns the scheme of the fakes. It differs from the scheme of the clients, to which
// programs may have added types. It is made on first use, and not at the start of every program
// that links this package.
var types = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	utilruntime.Must(AddToScheme(scheme))
	return scheme
})

// Clientset is a kubernetes.Interface for tests. The zero value has no objects, no Discovery and no
// Tracker, and returns only the results of reactors. It is safe for concurrent use. For adding
// reactors, see testing.Fake.
type Clientset struct {
	testing.Fake
	discovery *fakediscovery.FakeDiscovery
	tracker   testing.ObjectTracker
}

// NewSimpleClientset returns a clientset with these objects. It does not record managed fields, and
// so does not support server-side apply. If an object is a list, the items of the list are added.
// It panics if it cannot add an object, for example if the object's type is not built in.
//
// Use NewClientset for server-side apply.
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

// Discovery returns a *fakediscovery.FakeDiscovery, whose results come from the Resources of the
// clientset.
func (c *Clientset) Discovery() discovery.DiscoveryInterfaces { return c.discovery }

// Tracker returns the store of the objects. Calls of its methods are not recorded as actions.
func (c *Clientset) Tracker() testing.ObjectTracker { return c.tracker }

// IsWatchListSemanticsUnSupported makes reflectors list, because the watches do not begin with the
// existing objects.
func (c *Clientset) IsWatchListSemanticsUnSupported() bool { return true }
