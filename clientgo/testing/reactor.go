package testing

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	restclient "k8s.io/client-go/rest"
)

// Reactor computes the results of actions.
type Reactor interface {
	// Handles reports whether React should be called with an action.
	Handles(action Action) bool
	// React returns the result of an action. If handled is false, the next reactor is called.
	React(action Action) (handled bool, ret runtime.Object, err error)
}

// WatchReactor computes the results of watches.
type WatchReactor interface {
	Handles(action Action) bool
	React(action Action) (handled bool, ret watch.Interface, err error)
}

// ProxyReactor computes the results of requests that are forwarded to pods and services.
type ProxyReactor interface {
	Handles(action Action) bool
	React(action Action) (handled bool, ret restclient.ResponseWrapper, err error)
}

// ReactionFunc returns the result of an action. If handled is false, the next reactor is called.
type ReactionFunc func(action Action) (handled bool, ret runtime.Object, err error)

// WatchReactionFunc returns the result of a watch. If handled is false, the next reactor is called.
type WatchReactionFunc func(action Action) (handled bool, ret watch.Interface, err error)

// ProxyReactionFunc returns the result of a request to a pod or a service. If handled is false, the
// next reactor is called.
type ProxyReactionFunc func(action Action) (handled bool, ret restclient.ResponseWrapper, err error)

// SimpleReactor is a function for a verb and a resource. The resource is "pods", for example, or
// "pods/status" for a subresource. "*" matches all verbs or resources.
type SimpleReactor struct {
	Verb     string
	Resource string

	Reaction ReactionFunc
}

func (r *SimpleReactor) Handles(action Action) bool {
	return (r.Verb == "*" || r.Verb == action.GetVerb()) && matchesResource(r.Resource, action)
}

func (r *SimpleReactor) React(action Action) (bool, runtime.Object, error) { return r.Reaction(action) }

// SimpleWatchReactor is a function for a resource. "*" matches all resources.
type SimpleWatchReactor struct {
	Resource string

	Reaction WatchReactionFunc
}

func (r *SimpleWatchReactor) Handles(action Action) bool { return matchesResource(r.Resource, action) }

func (r *SimpleWatchReactor) React(action Action) (bool, watch.Interface, error) {
	return r.Reaction(action)
}

// SimpleProxyReactor is a function for a resource. "*" matches all resources.
type SimpleProxyReactor struct {
	Resource string

	Reaction ProxyReactionFunc
}

func (r *SimpleProxyReactor) Handles(action Action) bool { return matchesResource(r.Resource, action) }

func (r *SimpleProxyReactor) React(action Action) (bool, restclient.ResponseWrapper, error) {
	return r.Reaction(action)
}

// matchesResource reports whether an action is on a resource. A resource without a slash also
// covers its subresources.
func matchesResource(resource string, action Action) bool {
	name, subresource, found := strings.Cut(resource, "/")
	if !found {
		return resource == "*" || resource == action.GetResource().Resource
	}
	return name == action.GetResource().Resource && subresource == action.GetSubresource()
}

// DefaultWatchReactor returns a function that returns the same watch and error for each watch.
func DefaultWatchReactor(watchInterface watch.Interface, err error) WatchReactionFunc {
	return func(Action) (bool, watch.Interface, error) { return true, watchInterface, err }
}
