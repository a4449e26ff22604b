package apitest

import (
	"net/http"
	"reflect"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest/internal/builtin"
	"github.com/kinform/kinform/apitest/internal/discovery"
	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
)

// postHandler handles a posted object, such as a binding or a review. It returns the object for the
// response. If it returns nil, the response is a Status of success.
type postHandler func(*Server, *Request, Object) (Object, error)

// postSubresource returns a subresource whose objects are never stored. The subresource accepts the
// version gv, and also the versions of the argument also.
func postSubresource(name string, of storage.Flags, gv schema.GroupVersion, object Object, do postHandler, also ...schema.GroupVersion) subresource {
	res := postOnlyResource(name, gv, object, storage.Namespaced)
	res.OtherVersions = also
	return subresource{discovery.Subresource{Name: name, Kind: res.GVK, Verbs: metav1.Verbs{"create"}}, of, func(s *Server, w http.ResponseWriter, req *Request) error {
		return s.servePost(w, req, res, do)
	}}
}

// postOnly is the table of the resources whose objects are never stored.
var postOnly = []struct {
	version schema.GroupVersion
	plural  string
	object  Object
	flags   storage.Flags
	do      postHandler
}{
	{corev1.SchemeGroupVersion, "bindings", &corev1.Binding{}, storage.Namespaced, (*Server).bind},
	{authenticationv1.SchemeGroupVersion, "selfsubjectreviews", &authenticationv1.SelfSubjectReview{}, 0, (*Server).reviewSelf},
	{authenticationv1.SchemeGroupVersion, "tokenreviews", &authenticationv1.TokenReview{}, 0, (*Server).reviewToken},
	{authorizationv1.SchemeGroupVersion, "localsubjectaccessreviews", &authorizationv1.LocalSubjectAccessReview{}, storage.Namespaced, (*Server).reviewLocalAccess},
	{authorizationv1.SchemeGroupVersion, "selfsubjectaccessreviews", &authorizationv1.SelfSubjectAccessReview{}, 0, (*Server).reviewOwnAccess},
	{authorizationv1.SchemeGroupVersion, "selfsubjectrulesreviews", &authorizationv1.SelfSubjectRulesReview{}, 0, (*Server).reviewOwnRules},
	{authorizationv1.SchemeGroupVersion, "subjectaccessreviews", &authorizationv1.SubjectAccessReview{}, 0, (*Server).reviewAccess},
}

// postOnlyResources returns the resources whose objects are never stored.
func postOnlyResources() (all []*storage.Resource) {
	for _, row := range postOnly {
		all = append(all, postOnlyResource(row.plural, row.version, row.object, row.flags))
	}
	return all
}

// postHandlerOf returns the function that handles the objects of a resource of the table.
func postHandlerOf(res *storage.Resource) postHandler {
	for _, row := range postOnly {
		if reflect.TypeOf(row.object).Elem() == res.GoType {
			return row.do
		}
	}
	return nil
}

// postOnlyResource returns a resource whose objects are never stored.
func postOnlyResource(plural string, gv schema.GroupVersion, object Object, flags storage.Flags) *storage.Resource {
	res := builtin.NewResource(plural, gv, object, flags)
	res.PostOnly = true
	return res
}

// servePost handles a POST of an object of res.
func (s *Server) servePost(w http.ResponseWriter, req *Request, res *storage.Resource, do postHandler) error {
	if req.Verb != "create" {
		return wire.NewMethodNotAllowed()
	}
	f, ok := wire.Negotiate(req.HTTP.Header.Get("Accept"), true)
	if !ok {
		return wire.NewNotAcceptable(res)
	}
	obj, err := req.read(res)
	if err != nil {
		return err
	}
	result, err := do(s, req, obj)
	if err != nil {
		return err
	}
	if result == nil {
		wire.WriteStatus(w, req.HTTP, wire.WithType(metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated}))
		return nil
	}
	rev, err := storage.NewRevision(res, result, 0)
	if err != nil {
		return err
	}
	f.WriteObject(w, http.StatusCreated, rev)
	return nil
}

// builtinOf returns the resource of a built-in type.
func (s *Server) builtinOf(object Object) *storage.Resource {
	return s.store.ResourceOfGoType(reflect.TypeOf(object).Elem())
}

// checkPostPath returns an error unless the path is valid for a resource without stored objects.
func checkPostPath(req *Request) error {
	if req.Name != "" || req.Subresource != "" || req.res.ClusterScoped != (req.Namespace == "") {
		return wire.NewNoResource()
	}
	return nil
}
