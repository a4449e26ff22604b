package apitest

import (
	"net/http"
	"reflect"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// postHandler handles a posted object, such as a binding or a review. It returns the object for the
// response. If it returns nil, the response is a Status of success.
type postHandler func(*Server, *Request, Object) (Object, error)

// postSubresource returns a subresource whose objects are never stored. The subresource accepts the
// version gv, and also the versions of the argument also.
func postSubresource(name string, of flags, gv schema.GroupVersion, object Object, do postHandler, also ...schema.GroupVersion) subresource {
	res := postOnlyResource(name, gv, object, namespaced, do)
	res.otherVersions = also
	return subresource{name, res.gvk, metav1.Verbs{"create"}, of, res.handlePost}
}

// postOnlyResources returns the resources whose objects are never stored.
func postOnlyResources() []*resource {
	core, authn, authz := corev1.SchemeGroupVersion, authenticationv1.SchemeGroupVersion, authorizationv1.SchemeGroupVersion
	return []*resource{
		postOnlyResource("bindings", core, &corev1.Binding{}, namespaced, (*Server).bind),
		postOnlyResource("selfsubjectreviews", authn, &authenticationv1.SelfSubjectReview{}, 0, (*Server).reviewSelf),
		postOnlyResource("tokenreviews", authn, &authenticationv1.TokenReview{}, 0, (*Server).reviewToken),
		postOnlyResource("localsubjectaccessreviews", authz, &authorizationv1.LocalSubjectAccessReview{}, namespaced, (*Server).reviewLocalAccess),
		postOnlyResource("selfsubjectaccessreviews", authz, &authorizationv1.SelfSubjectAccessReview{}, 0, (*Server).reviewOwnAccess),
		postOnlyResource("selfsubjectrulesreviews", authz, &authorizationv1.SelfSubjectRulesReview{}, 0, (*Server).reviewOwnRules),
		postOnlyResource("subjectaccessreviews", authz, &authorizationv1.SubjectAccessReview{}, 0, (*Server).reviewAccess),
	}
}

// postOnlyResource returns a resource whose objects are never stored.
func postOnlyResource(plural string, gv schema.GroupVersion, object Object, flags flags, do postHandler) *resource {
	res := builtinType{plural, object, flags, ""}.resource(gv)
	res.handlePost = func(s *Server, w http.ResponseWriter, req *Request) error { return s.servePost(w, req, res, do) }
	return res
}

// servePost handles a POST of an object of res.
func (s *Server) servePost(w http.ResponseWriter, req *Request, res *resource, do postHandler) error {
	if req.Verb != "create" {
		return errMethodNotAllowed()
	}
	f, ok := negotiate(req.HTTP.Header.Get("Accept"), true)
	if !ok {
		return errNotAcceptable(res)
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
		writeStatus(w, req.HTTP, withType(metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated}))
		return nil
	}
	rev, err := newRevision(res, result, 0)
	if err != nil {
		return err
	}
	f.writeObject(w, http.StatusCreated, rev)
	return nil
}

// builtinOf returns the resource of a built-in type.
func (s *Server) builtinOf(object Object) *resource {
	return s.store.resourceOfGoType(reflect.TypeOf(object).Elem())
}

// checkPostPath returns an error unless the path is valid for a resource without stored objects.
func checkPostPath(req *Request) error {
	if req.Name != "" || req.Subresource != "" || req.res.ClusterScoped != (req.Namespace == "") {
		return errNoResource()
	}
	return nil
}
