package apitest

import (
	"cmp"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// Limits and default for the lifetime of a token, in seconds.
const (
	minTokenSeconds     = 10 * 60
	maxTokenSeconds     = 1 << 32
	defaultTokenSeconds = 60 * 60
)

var tokenRequestKind = authenticationv1.SchemeGroupVersion.WithKind("TokenRequest").GroupKind()

// requestToken makes a token of a service account. [Server] accepts the token as a bearer token.
func (s *Server) requestToken(req *Request, obj Object) (Object, error) {
	r := obj.(*authenticationv1.TokenRequest)
	if r.Name != "" && r.Name != req.Name {
		return nil, apierrors.NewInvalid(tokenRequestKind, req.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "name"), r.Name, "must match the service account name if specified")})
	}
	rev := s.store.Get(req.res, req.key())
	if rev == nil {
		return nil, apierrors.NewNotFound(req.res.GroupResource(), req.Name)
	}
	account := rev.Object().(*corev1.ServiceAccount)
	if r.UID != "" && r.UID != account.UID {
		return nil, apierrors.NewConflict(schema.GroupResource{Group: tokenRequestKind.Group, Resource: tokenRequestKind.Kind}, req.Name,
			fmt.Errorf("the UID in the token request (%s) does not match the UID of the service account (%s)", r.UID, account.UID))
	}
	at := time.Now()
	r.ObjectMeta = metav1.ObjectMeta{Namespace: account.Namespace, Name: account.Name, UID: account.UID, CreationTimestamp: metav1.NewTime(at)}
	if len(r.Spec.Audiences) == 0 {
		r.Spec.Audiences = []string{tokenIssuer}
	}
	seconds := apiobject.Deref(r.Spec.ExpirationSeconds, defaultTokenSeconds)
	r.Spec.ExpirationSeconds = &seconds
	if err := validateLifetime(seconds); err != nil {
		return nil, apierrors.NewInvalid(tokenRequestKind, "", field.ErrorList{err})
	}
	claims := newClaims(account, r.Spec.Audiences, at, time.Duration(seconds)*time.Second, s.ids.uid())
	if r.Spec.BoundObjectRef != nil {
		if err := s.bindToken(&claims, account, *r.Spec.BoundObjectRef); err != nil {
			return nil, err
		}
	}
	r.Status = authenticationv1.TokenRequestStatus{
		Token: s.auth.sign(claims), ExpirationTimestamp: metav1.NewTime(time.Unix(claims.Expires, 0)),
	}
	return r, nil
}

func validateLifetime(seconds int64) *field.Error {
	at := field.NewPath("spec", "expirationSeconds")
	switch {
	case seconds < minTokenSeconds:
		return field.Invalid(at, seconds, "may not specify a duration less than 10 minutes")
	case seconds > maxTokenSeconds:
		return field.Invalid(at, seconds, "may not specify a duration larger than 2^32 seconds")
	}
	return nil
}

// bindToken binds a token to an object, so that the token ends with the object. The object is a pod
// of the account, a secret in its namespace, or a node.
func (s *Server) bindToken(claims *claims, account *corev1.ServiceAccount, ref authenticationv1.BoundObjectReference) error {
	gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	res := s.store.ResourceOfKind(corev1.SchemeGroupVersion.WithKind(ref.Kind))
	if gvk.Group != "" || ref.Kind != "Pod" && ref.Kind != "Secret" && ref.Kind != "Node" {
		return apierrors.NewBadRequest("cannot bind token to object of type " + gvk.String())
	}
	key := types.NamespacedName{Name: ref.Name}
	if !res.ClusterScoped {
		key.Namespace = account.Namespace
	}
	rev := s.store.Get(res, key)
	if rev == nil {
		return apierrors.NewNotFound(res.GroupResource(), ref.Name)
	}
	obj := rev.Object()
	if pod, ok := obj.(*corev1.Pod); ok && cmp.Or(pod.Spec.ServiceAccountName, "default") != account.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", account.Name))
	}
	if ref.UID != "" && ref.UID != obj.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, ref.Name, fmt.Errorf(
			"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID))
	}
	claims.bind(ref.Kind, obj)
	return nil
}
