package testing

import (
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	restclient "k8s.io/client-go/rest"
)

// Fake records actions, and calls the reactors of its chains in order to get their results. Fake
// clients embed it.
//
// Reactors run one at a time, because tests rely on that. The Fake is locked while a reactor runs.
// So a reactor that calls the same client, or calls Actions, blocks forever. A reactor may add
// reactors. While other goroutines call the client, only watch reactors may be added.
type Fake struct {
	sync.RWMutex
	actions []Action // guarded by RWMutex

	// ReactionChain handles all actions except watches and proxied requests.
	ReactionChain []Reactor
	// WatchReactionChain handles watches.
	WatchReactionChain []WatchReactor
	// ProxyReactionChain handles requests that are forwarded to pods and services.
	ProxyReactionChain []ProxyReactor

	// Resources are the results of the fake discovery client.
	Resources []*metav1.APIResourceList
}

// AddReactor appends a function to the ReactionChain.
func (c *Fake) AddReactor(verb, resource string, reaction ReactionFunc) {
	c.ReactionChain = append(c.ReactionChain, &SimpleReactor{verb, resource, reaction})
}

// PrependReactor inserts a function before the ReactionChain.
func (c *Fake) PrependReactor(verb, resource string, reaction ReactionFunc) {
	c.ReactionChain = append([]Reactor{&SimpleReactor{verb, resource, reaction}}, c.ReactionChain...)
}

// AddWatchReactor appends a function to the WatchReactionChain.
func (c *Fake) AddWatchReactor(resource string, reaction WatchReactionFunc) {
	c.Lock()
	defer c.Unlock()
	c.WatchReactionChain = append(c.WatchReactionChain, &SimpleWatchReactor{resource, reaction})
}

// PrependWatchReactor inserts a function before the WatchReactionChain.
func (c *Fake) PrependWatchReactor(resource string, reaction WatchReactionFunc) {
	c.Lock()
	defer c.Unlock()
	c.WatchReactionChain = append([]WatchReactor{&SimpleWatchReactor{resource, reaction}}, c.WatchReactionChain...)
}

// AddProxyReactor appends a function to the ProxyReactionChain.
func (c *Fake) AddProxyReactor(resource string, reaction ProxyReactionFunc) {
	c.ProxyReactionChain = append(c.ProxyReactionChain, &SimpleProxyReactor{resource, reaction})
}

// PrependProxyReactor inserts a function before the ProxyReactionChain.
func (c *Fake) PrependProxyReactor(resource string, reaction ProxyReactionFunc) {
	c.ProxyReactionChain = append([]ProxyReactor{&SimpleProxyReactor{resource, reaction}}, c.ProxyReactionChain...)
}

// Invokes records an action, and returns the result of the first reactor in the ReactionChain that
// handles it. If no reactor handles the action, it returns defaultReturnObj, which must have the
// result type of the call.
func (c *Fake) Invokes(action Action, defaultReturnObj runtime.Object) (runtime.Object, error) {
	c.Lock()
	defer c.Unlock()
	action = c.recordLocked(action)
	for _, reactor := range c.ReactionChain {
		if !reactor.Handles(action) {
			continue
		}
		if handled, ret, err := reactor.React(action); handled {
			return ret, err
		}
	}
	return defaultReturnObj, nil
}

// InvokesWatch records an action, and returns the result of the first reactor in the
// WatchReactionChain that handles it. If no reactor handles the action, it returns an error.
func (c *Fake) InvokesWatch(action Action) (watch.Interface, error) {
	c.Lock()
	defer c.Unlock()
	action = c.recordLocked(action)
	for _, reactor := range c.WatchReactionChain {
		if !reactor.Handles(action) {
			continue
		}
		if handled, ret, err := reactor.React(action); handled {
			return ret, err
		}
	}
	return nil, fmt.Errorf("unhandled watch: %#v", action)
}

// InvokesProxy records an action, and returns the first result of the ProxyReactionChain that comes
// without an error. If there is no such result, it returns nil.
func (c *Fake) InvokesProxy(action Action) restclient.ResponseWrapper {
	c.Lock()
	defer c.Unlock()
	action = c.recordLocked(action)
	for _, reactor := range c.ProxyReactionChain {
		if !reactor.Handles(action) {
			continue
		}
		if handled, ret, err := reactor.React(action); handled && err == nil {
			return ret
		}
	}
	return nil
}

// recordLocked records a copy of an action, and returns another copy for the reactors. If a reactor
// modifies its copy, only later reactors see the change.
func (c *Fake) recordLocked(action Action) Action {
	c.actions = append(c.actions, action.DeepCopy())
	return action.DeepCopy()
}

// ClearActions drops all recorded actions.
func (c *Fake) ClearActions() {
	c.Lock()
	defer c.Unlock()
	c.actions = make([]Action, 0)
}

// Actions returns the recorded actions in the order of the calls.
func (c *Fake) Actions() []Action {
	c.RLock()
	defer c.RUnlock()
	return append(make([]Action, 0, len(c.actions)), c.actions...)
}

// FakeClient is the interface of all fake clients.
type FakeClient interface {
	// Tracker returns the store of the objects.
	Tracker() ObjectTracker
	AddReactor(verb, resource string, reaction ReactionFunc)
	PrependReactor(verb, resource string, reaction ReactionFunc)
	AddWatchReactor(resource string, reaction WatchReactionFunc)
	PrependWatchReactor(resource string, reaction WatchReactionFunc)
	AddProxyReactor(resource string, reaction ProxyReactionFunc)
	PrependProxyReactor(resource string, reaction ProxyReactionFunc)
	Invokes(action Action, defaultReturnObj runtime.Object) (runtime.Object, error)
	InvokesWatch(action Action) (watch.Interface, error)
	InvokesProxy(action Action) restclient.ResponseWrapper
	ClearActions()
	Actions() []Action
}
