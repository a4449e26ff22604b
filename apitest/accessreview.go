package apitest

import (
	"fmt"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// reviewAccess reports whether the user and the groups that the review names have the requested
// access.
func (s *Server) reviewAccess(_ *Request, obj Object) (Object, error) {
	r := obj.(*authorizationv1.SubjectAccessReview)
	errs := append(validateSubject(r.Spec), validateEmpty(r.ObjectMeta)...)
	r.Status = s.accessOf(r.Spec)
	return r, invalidReview(errs)
}

// reviewLocalAccess is like reviewAccess, for access within the review's namespace.
func (s *Server) reviewLocalAccess(_ *Request, obj Object) (Object, error) {
	r := obj.(*authorizationv1.LocalSubjectAccessReview)
	errs := validateSubject(r.Spec)
	if a := r.Spec.ResourceAttributes; a != nil && a.Namespace != r.Namespace {
		errs = append(errs, field.Invalid(field.NewPath("spec.resourceAttributes.namespace"), a.Namespace, "must match metadata.namespace"))
	}
	if a := r.Spec.NonResourceAttributes; a != nil {
		errs = append(errs, field.Invalid(field.NewPath("spec.nonResourceAttributes"), internalPath(a), "disallowed on this kind of request"))
	}
	r.Status = s.accessOf(r.Spec)
	return r, invalidReview(errs)
}

// reviewOwnAccess reports whether the client itself has the requested access.
func (s *Server) reviewOwnAccess(req *Request, obj Object) (Object, error) {
	r := obj.(*authorizationv1.SelfSubjectAccessReview)
	errs := append(validateAttributes(r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes), validateEmpty(r.ObjectMeta)...)
	r.Status = s.access(req.user, r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes)
	return r, invalidReview(errs)
}

// reviewOwnRules lists what the client itself may do in a namespace.
func (s *Server) reviewOwnRules(req *Request, obj Object) (Object, error) {
	namespace := obj.(*authorizationv1.SelfSubjectRulesReview).Spec.Namespace
	if namespace == "" {
		return nil, apierrors.NewBadRequest("no namespace on request")
	}
	all := rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}
	paths := rbacv1.PolicyRule{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}
	rules := []Rule{{PolicyRule: all}, {PolicyRule: paths}}
	if s.opts.Rules != nil && !slices.Contains(req.user.Groups, groupMasters) {
		rules = slices.DeleteFunc(slices.Concat(bootstrapRules, s.opts.Rules), func(r Rule) bool {
			return !r.appliesTo(req.user) || len(r.Namespaces) > 0 && !hasOrAny(r.Namespaces, namespace)
		})
	}
	r := &authorizationv1.SelfSubjectRulesReview{Status: authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{},
	}}
	for _, rule := range rules {
		if len(rule.Resources) > 0 {
			r.Status.ResourceRules = append(r.Status.ResourceRules, authorizationv1.ResourceRule{
				Verbs: rule.Verbs, APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames})
		} else {
			r.Status.NonResourceRules = append(r.Status.NonResourceRules, authorizationv1.NonResourceRule{
				Verbs: rule.Verbs, NonResourceURLs: rule.NonResourceURLs})
		}
	}
	return r, nil
}

func (s *Server) accessOf(spec authorizationv1.SubjectAccessReviewSpec) authorizationv1.SubjectAccessReviewStatus {
	return s.access(User{Name: spec.User, Groups: spec.Groups}, spec.ResourceAttributes, spec.NonResourceAttributes)
}

func (s *Server) access(user User, res *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) (status authorizationv1.SubjectAccessReviewStatus) {
	switch {
	case res != nil:
		status.Allowed = s.allows(user, attributes{
			verb: res.Verb, group: res.Group, version: res.Version, resource: res.Resource, subresource: res.Subresource,
			namespace: res.Namespace, name: res.Name,
		})
	case path != nil:
		status.Allowed = s.allows(user, attributes{verb: path.Verb, path: path.Path})
	}
	return status
}

func validateSubject(spec authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	errs := validateAttributes(spec.ResourceAttributes, spec.NonResourceAttributes)
	if spec.User == "" && len(spec.Groups) == 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "user"), spec.User, "at least one of user or group must be specified"))
	}
	return errs
}

func validateAttributes(res *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) (errs field.ErrorList) {
	spec := field.NewPath("spec")
	switch {
	case res != nil && path != nil:
		errs = append(errs, field.Invalid(spec.Child("nonResourceAttributes"), internalPath(path), "cannot be specified in combination with resourceAttributes"))
	case res == nil && path == nil:
		errs = append(errs, field.Invalid(spec.Child("resourceAttributes"), internalPath(nil),
			"exactly one of nonResourceAttributes or resourceAttributes must be specified"))
	}
	return errs
}

// internalPath returns a value for validation errors. It prints like the real server's internal
// type.
func internalPath(path *authorizationv1.NonResourceAttributes) any {
	if path == nil {
		return (*authorizationv1.NonResourceAttributes)(nil)
	}
	return struct{ Path, Verb string }{path.Path, path.Verb}
}

// validateEmpty refuses a review with any metadata, such as a name.
func validateEmpty(meta metav1.ObjectMeta) field.ErrorList {
	meta.ManagedFields = nil
	if apiobject.Equal(meta, metav1.ObjectMeta{}) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata"), fmt.Sprint(meta.Name), "must be empty")}
}

func invalidReview(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: authorizationv1.GroupName}, "", errs)
}
