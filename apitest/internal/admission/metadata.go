package admission

import (
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/crd"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// nameRules are the functions that check the names and the name prefixes of some types. Names of
// all other types must be RFC 1123 subdomains.
var nameRules = map[reflect.Type]validation.ValidateNameFunc{
	reflect.TypeFor[corev1.Namespace](): validation.NameIsDNSLabel,
	// RFC 1035 until version 1.33
	reflect.TypeFor[corev1.Service]():                           validation.NameIsDNSLabel,
	reflect.TypeFor[appsv1.StatefulSet]():                       validation.NameIsDNSLabel,
	reflect.TypeFor[batchv1.CronJob]():                          cronJobName,
	reflect.TypeFor[certificatesv1.CertificateSigningRequest](): pathSegment,
	reflect.TypeFor[certificatesv1.ClusterTrustBundle]():        trustBundleName,
	reflect.TypeFor[coordinationv1beta1.LeaseCandidate]():       func(name string, _ bool) []string { return utilvalidation.IsConfigMapKey(name) },
	reflect.TypeFor[corev1.Event]():                             pathSegment,
	reflect.TypeFor[networkingv1.IPAddress]():                   ipName,
	reflect.TypeFor[policyv1.PodDisruptionBudget]():             pathSegment,
	reflect.TypeFor[rbacv1.ClusterRole]():                       pathSegment,
	reflect.TypeFor[rbacv1.ClusterRoleBinding]():                pathSegment,
	reflect.TypeFor[rbacv1.Role]():                              pathSegment,
	reflect.TypeFor[rbacv1.RoleBinding]():                       pathSegment,
}

// pathSegment is the rule for every name.
func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// cronJobName is the rule for cron jobs. It leaves room for the suffixes of job names.
func cronJobName(name string, prefix bool) []string {
	faults := validation.NameIsDNSSubdomain(name, prefix)
	if !prefix && len(name) > 52 {
		faults = append(faults, "must be no more than 52 characters")
	}
	return faults
}

// trustBundleName is the rule for trust bundles. A name may begin with the name of a signer and a
// colon.
func trustBundleName(name string, prefix bool) []string {
	return validation.NameIsDNSSubdomain(name[strings.LastIndexByte(name, ':')+1:], prefix)
}

func ipName(name string, _ bool) []string {
	ip, err := netip.ParseAddr(name)
	switch {
	case err != nil || ip.Zone() != "":
		return []string{"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"}
	case ip.String() != name:
		return []string{fmt.Sprintf("must be in canonical form (%q)", ip)}
	}
	return nil
}

var metadataPath = field.NewPath("metadata")

// nameRule returns the name rule of the resource.
func nameRule(r *storage.Resource) validation.ValidateNameFunc {
	if r.GVK == crd.Kind {
		return pathSegment // A later check compares the name of a CRD exactly.
	}
	if rule := nameRules[r.GoType]; rule != nil {
		return rule
	}
	return validation.NameIsDNSSubdomain
}

// ValidateName returns an error if the name of a new object is invalid.
func ValidateName(r *storage.Resource, obj apiobject.Object) error {
	if name := obj.GetName(); name != "" && len(nameRule(r)(name, false)) == 0 {
		return nil
	}
	named := metav1.ObjectMeta{Namespace: obj.GetNamespace(), Name: obj.GetName(), GenerateName: obj.GetGenerateName()}
	return invalid(r, obj, validation.ValidateObjectMetaAccessor(&named, !r.ClusterScoped, nameRule(r), metadataPath))
}

// ValidateNew returns an error if the name or the metadata of a new object is invalid.
func ValidateNew(r *storage.Resource, obj apiobject.Object) error {
	errs := validation.ValidateObjectMetaAccessor(obj, !r.ClusterScoped, nameRule(r), metadataPath)
	return invalid(r, obj, append(errs, unqualifiedFinalizers(r, obj)...))
}

// ValidateChanged returns an error if the metadata of a changed object is invalid.
func ValidateChanged(r *storage.Resource, cur, obj apiobject.Object) error {
	if maps.Equal(cur.GetLabels(), obj.GetLabels()) && maps.Equal(cur.GetAnnotations(), obj.GetAnnotations()) &&
		slices.Equal(cur.GetFinalizers(), obj.GetFinalizers()) && apiobject.Equal(cur.GetOwnerReferences(), obj.GetOwnerReferences()) {
		return nil
	}
	errs := metav1validation.ValidateLabels(obj.GetLabels(), metadataPath.Child("labels"))
	errs = append(errs, validation.ValidateAnnotations(obj.GetAnnotations(), metadataPath.Child("annotations"))...)
	errs = append(errs, validation.ValidateOwnerReferences(obj.GetOwnerReferences(), metadataPath.Child("ownerReferences"))...)
	for _, f := range obj.GetFinalizers() {
		errs = append(errs, validation.ValidateFinalizerName(f, metadataPath.Child("finalizers"))...)
	}
	return invalid(r, obj, append(errs, unqualifiedFinalizers(r, obj)...))
}

// unqualifiedFinalizers returns errors for finalizers of a built-in type that have no domain and
// are not standard.
func unqualifiedFinalizers(r *storage.Resource, obj apiobject.Object) (errs field.ErrorList) {
	known := []string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}
	for i, f := range obj.GetFinalizers() {
		if r.GoType != nil && !strings.Contains(f, "/") && !slices.Contains(known, f) {
			errs = append(errs, field.Invalid(metadataPath.Child("finalizers").Index(i), f, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

func invalid(r *storage.Resource, obj apiobject.Object, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	kind := r.GVK.GroupKind()
	if r.GoType == reflect.TypeFor[eventsv1.Event]() {
		// the group and kind under which events are stored
		kind = corev1.SchemeGroupVersion.WithKind("Event").GroupKind()
	}
	return apierrors.NewInvalid(kind, obj.GetName(), errs)
}
