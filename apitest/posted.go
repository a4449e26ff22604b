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

// posting handles a posted object, such as a binding or a review. It returns the object for the
// response. If it returns nil, the response is a Status of success.
type posting func(*Server, *Request, Object) (Object, error)

// posted returns a subresource whose objects are never stored. The subresource accepts gv, and also
// the versions in the last argument.
func posted(name string, of flags, gv schema.GroupVersion, object Object, do posting, also ...schema.GroupVersion) subresource {
	res := postedResource(name, gv, object, namespaced, do)
	res.also = also
	return subresource{name, res.gvk, metav1.Verbs{"create"}, of, res.call}
}

// postedResources returns the resources whose objects are never stored.
func postedResources() []*resource {
	core, authn, authz := corev1.SchemeGroupVersion, authenticationv1.SchemeGroupVersion, authorizationv1.SchemeGroupVersion
	return []*resource{
		postedResource("bindings", core, &corev1.Binding{}, namespaced, (*Server).bind),
		postedResource("selfsubjectreviews", authn, &authenticationv1.SelfSubjectReview{}, 0, (*Server).reviewSelf),
		postedResource("tokenreviews", authn, &authenticationv1.TokenReview{}, 0, (*Server).reviewToken),
		postedResource("localsubjectaccessreviews", authz, &authorizationv1.LocalSubjectAccessReview{}, namespaced, (*Server).reviewLocalAccess),
		postedResource("selfsubjectaccessreviews", authz, &authorizationv1.SelfSubjectAccessReview{}, 0, (*Server).reviewOwnAccess),
		postedResource("selfsubjectrulesreviews", authz, &authorizationv1.SelfSubjectRulesReview{}, 0, (*Server).reviewOwnRules),
		postedResource("subjectaccessreviews", authz, &authorizationv1.SubjectAccessReview{}, 0, (*Server).reviewAccess),
	}
}

// postedResource returns a resource whose objects are never stored.
func postedResource(plural string, gv schema.GroupVersion, object Object, flags flags, do posting) *resource {
	res := builtin{plural, object, flags, ""}.resource(gv)
	res.call = func(s *Server, w http.ResponseWriter, req *Request) error { return s.call(w, req, res, do) }
	return res
}

// call handles a request that posts an object of res.
func (s *Server) call(w http.ResponseWriter, req *Request, res *resource, do posting) error {
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
	answer, err := do(s, req, obj)
	if err != nil {
		return err
	}
	if answer == nil {
		writeStatus(w, req.HTTP, withType(metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated}))
		return nil
	}
	rev, err := newRevision(res, answer, 0)
	if err != nil {
		return err
	}
	f.writeObject(w, http.StatusCreated, rev)
	return nil
}

// builtinOf returns the resource of a built-in type.
func (s *Server) builtinOf(object Object) *resource {
	return s.store.goType(reflect.TypeOf(object).Elem())
}

// errUnserved returns an error if the path has other parts than a resource without stored objects
// allows.
func errUnserved(req *Request) error {
	if req.Name != "" || req.Subresource != "" || req.res.ClusterScoped != (req.Namespace == "") {
		return errNoResource()
	}
	return nil
}
