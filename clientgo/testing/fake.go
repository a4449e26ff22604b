package testing

import (
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	restclient "k8s.io/client-go/rest"
)

// Fake records actions and asks reactors for answers, in the order of the chains. Fake clients embed it.
//
// Reactors run one at a time, with the Fake locked: one that calls the same client, or asks for its Actions, waits
// forever. Tests rely on the first, so the second is the price. A reaction may add reactors; beside calls in other
// goroutines only those of watches can be added.
type Fake struct {
	sync.RWMutex
	actions []Action // guarded by RWMutex

	// ReactionChain answers all actions but watches and proxied ones.
	ReactionChain []Reactor
	// WatchReactionChain answers watches.
	WatchReactionChain []WatchReactor
	// ProxyReactionChain answers what is passed on to pods and services.
	ProxyReactionChain []ProxyReactor

	// Resources is what the fake discovery client answers.
	Resources []*metav1.APIResourceList
}

// AddReactor appends a function to the ReactionChain.
func (c *Fake) AddReactor(verb, resource string, reaction ReactionFunc) {
	c.ReactionChain = append(c.ReactionChain, &SimpleReactor{verb, resource, reaction})
}

// PrependReactor puts a function before the ReactionChain.
func (c *Fake) PrependReactor(verb, resource string, reaction ReactionFunc) {
	c.ReactionChain = append([]Reactor{&SimpleReactor{verb, resource, reaction}}, c.ReactionChain...)
}

// AddWatchReactor appends a function to the WatchReactionChain.
func (c *Fake) AddWatchReactor(resource string, reaction WatchReactionFunc) {
	c.Lock()
	defer c.Unlock()
	c.WatchReactionChain = append(c.WatchReactionChain, &SimpleWatchReactor{resource, reaction})
}

// PrependWatchReactor puts a function before the WatchReactionChain.
func (c *Fake) PrependWatchReactor(resource string, reaction WatchReactionFunc) {
	c.Lock()
	defer c.Unlock()
	c.WatchReactionChain = append([]WatchReactor{&SimpleWatchReactor{resource, reaction}}, c.WatchReactionChain...)
}

// AddProxyReactor appends a function to the ProxyReactionChain.
func (c *Fake) AddProxyReactor(resource string, reaction ProxyReactionFunc) {
	c.ProxyReactionChain = append(c.ProxyReactionChain, &SimpleProxyReactor{resource, reaction})
}

// PrependProxyReactor puts a function before the ProxyReactionChain.
func (c *Fake) PrependProxyReactor(resource string, reaction ProxyReactionFunc) {
	c.ProxyReactionChain = append([]ProxyReactor{&SimpleProxyReactor{resource, reaction}}, c.ProxyReactionChain...)
}

// Invokes records an action and returns the first answer of the ReactionChain, or defaultReturnObj, which has the type that
// the call returns.
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

// InvokesWatch records an action and returns the first answer of the WatchReactionChain, or an error.
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

// InvokesProxy records an action and returns the first answer of the ProxyReactionChain that is no error, or nil.
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

// recordLocked records one copy of an action, and returns another one for the reactors: what they modify is seen by the
// reactors after them alone.
func (c *Fake) recordLocked(action Action) Action {
	c.actions = append(c.actions, action.DeepCopy())
	return action.DeepCopy()
}

// ClearActions forgets what was recorded.
func (c *Fake) ClearActions() {
	c.Lock()
	defer c.Unlock()
	c.actions = make([]Action, 0)
}

// Actions returns what was recorded, in the order of the calls.
func (c *Fake) Actions() []Action {
	c.RLock()
	defer c.RUnlock()
	return append(make([]Action, 0, len(c.actions)), c.actions...)
}

// FakeClient is what all fake clients have.
type FakeClient interface {
	// Tracker returns the objects behind the client.
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
