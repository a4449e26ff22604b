package testing

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	restclient "k8s.io/client-go/rest"
)

// Reactor answers actions.
type Reactor interface {
	// Handles tells whether React is to be asked about an action.
	Handles(action Action) bool
	// React answers an action. Where handled is false, the next reactor is asked.
	React(action Action) (handled bool, ret runtime.Object, err error)
}

// WatchReactor answers watches.
type WatchReactor interface {
	Handles(action Action) bool
	React(action Action) (handled bool, ret watch.Interface, err error)
}

// ProxyReactor answers what is passed on to pods and services.
type ProxyReactor interface {
	Handles(action Action) bool
	React(action Action) (handled bool, ret restclient.ResponseWrapper, err error)
}

// ReactionFunc answers an action. Where handled is false, the next reactor is asked.
type ReactionFunc func(action Action) (handled bool, ret runtime.Object, err error)

// WatchReactionFunc answers a watch. Where handled is false, the next reactor is asked.
type WatchReactionFunc func(action Action) (handled bool, ret watch.Interface, err error)

// ProxyReactionFunc answers what is passed on to a pod or a service. Where handled is false, the next reactor is asked.
type ProxyReactionFunc func(action Action) (handled bool, ret restclient.ResponseWrapper, err error)

// SimpleReactor is a function for a verb and a resource ("pods", or "pods/status" for a subresource); "*" is each of them.
type SimpleReactor struct {
	Verb     string
	Resource string

	Reaction ReactionFunc
}

func (r *SimpleReactor) Handles(action Action) bool {
	return (r.Verb == "*" || r.Verb == action.GetVerb()) && covers(r.Resource, action)
}

func (r *SimpleReactor) React(action Action) (bool, runtime.Object, error) { return r.Reaction(action) }

// SimpleWatchReactor is a function for a resource; "*" is each of them.
type SimpleWatchReactor struct {
	Resource string

	Reaction WatchReactionFunc
}

func (r *SimpleWatchReactor) Handles(action Action) bool { return covers(r.Resource, action) }

func (r *SimpleWatchReactor) React(action Action) (bool, watch.Interface, error) {
	return r.Reaction(action)
}

// SimpleProxyReactor is a function for a resource; "*" is each of them.
type SimpleProxyReactor struct {
	Resource string

	Reaction ProxyReactionFunc
}

func (r *SimpleProxyReactor) Handles(action Action) bool { return covers(r.Resource, action) }

func (r *SimpleProxyReactor) React(action Action) (bool, restclient.ResponseWrapper, error) {
	return r.Reaction(action)
}

// covers tells whether an action is on a resource. A resource without a slash covers its subresources too.
func covers(resource string, action Action) bool {
	name, subresource, found := strings.Cut(resource, "/")
	if !found {
		return resource == "*" || resource == action.GetResource().Resource
	}
	return name == action.GetResource().Resource && subresource == action.GetSubresource()
}

// DefaultWatchReactor returns a function that answers each watch with the same.
func DefaultWatchReactor(watchInterface watch.Interface, err error) WatchReactionFunc {
	return func(Action) (bool, watch.Interface, error) { return true, watchInterface, err }
}
