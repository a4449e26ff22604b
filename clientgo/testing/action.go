package testing

import (
	"maps"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Action is one call of a fake client.
type Action interface {
	GetNamespace() string
	GetVerb() string
	GetResource() schema.GroupVersionResource
	GetSubresource() string
	// Matches reports whether the action has this verb and resource. The resource may include a
	// subresource ("pods/status"). It ignores case.
	Matches(verb, resource string) bool
	// DeepCopy returns a copy that shares nothing mutable with the action.
	DeepCopy() Action
}

// ActionImpl has the fields that all actions have.
type ActionImpl struct {
	Namespace   string
	Verb        string
	Resource    schema.GroupVersionResource
	Subresource string
}

// newAction returns the common part of an action. It joins subresources with slashes.
func newAction(verb string, resource schema.GroupVersionResource, namespace string, subresources ...string) ActionImpl {
	return ActionImpl{Namespace: namespace, Verb: verb, Resource: resource, Subresource: path.Join(subresources...)}
}

func (a ActionImpl) GetNamespace() string                     { return a.Namespace }
func (a ActionImpl) GetVerb() string                          { return a.Verb }
func (a ActionImpl) GetResource() schema.GroupVersionResource { return a.Resource }
func (a ActionImpl) GetSubresource() string                   { return a.Subresource }
func (a ActionImpl) DeepCopy() Action                         { return a }

// Matches implements Action. A resource with a slash matches only actions on that subresource.
func (a ActionImpl) Matches(verb, resource string) bool {
	if !strings.EqualFold(verb, a.Verb) {
		return false
	}
	name, subresource, found := strings.Cut(resource, "/")
	return strings.EqualFold(name, a.Resource.Resource) && (!found || strings.EqualFold(subresource, a.Subresource))
}

// GenericAction is an action with a value of any type.
type GenericAction interface {
	Action
	GetValue() interface{}
}

// GenericActionImpl is a GenericAction, for calls that no other type of action fits.
type GenericActionImpl struct {
	ActionImpl
	Value interface{}
}

func (a GenericActionImpl) GetValue() interface{} { return a.Value }

// DeepCopy implements Action. The copy shares the value, whose type is unknown.
func (a GenericActionImpl) DeepCopy() Action { return a }

// ProxyGetAction is a GET that the server forwards to a pod or a service.
type ProxyGetAction interface {
	Action
	GetScheme() string
	GetName() string
	GetPort() string
	GetPath() string
	GetParams() map[string]string
}

// ProxyGetActionImpl is a ProxyGetAction.
type ProxyGetActionImpl struct {
	ActionImpl
	Scheme string
	Name   string
	Port   string
	Path   string
	Params map[string]string
}

// NewProxyGetAction returns the action of a GET that is forwarded to a pod or a service.
func NewProxyGetAction(resource schema.GroupVersionResource, namespace, scheme, name, port, path string, params map[string]string) ProxyGetActionImpl {
	return ProxyGetActionImpl{newAction("get", resource, namespace), scheme, name, port, path, params}
}

func (a ProxyGetActionImpl) GetScheme() string            { return a.Scheme }
func (a ProxyGetActionImpl) GetName() string              { return a.Name }
func (a ProxyGetActionImpl) GetPort() string              { return a.Port }
func (a ProxyGetActionImpl) GetPath() string              { return a.Path }
func (a ProxyGetActionImpl) GetParams() map[string]string { return a.Params }

// DeepCopy implements Action. The map of the copy is never nil.
func (a ProxyGetActionImpl) DeepCopy() Action {
	params := make(map[string]string, len(a.Params))
	maps.Copy(params, a.Params)
	a.Params = params
	return a
}
