//lint:file-ignore ST1003 these are the names of generated conversions

package appsv1beta2

import (
	v1beta2 "k8s.io/api/apps/v1beta2"
	"k8s.io/apimachinery/pkg/conversion"

	"k8s.io/client-go/scale/scheme"
	"k8s.io/client-go/scale/scheme/internal/selectors"
)

// The conversions leave kind and version of the target unchanged, because schemes set them.

// Convert_v1beta2_Scale_To_scheme_Scale converts *in to *out. Afterwards
// they may share parts.
func Convert_v1beta2_Scale_To_scheme_Scale(in *v1beta2.Scale, out *scheme.Scale, s conversion.Scope) error {
	out.ObjectMeta = in.ObjectMeta
	if err := Convert_v1beta2_ScaleSpec_To_scheme_ScaleSpec(&in.Spec, &out.Spec, s); err != nil {
		return err
	}
	return Convert_v1beta2_ScaleStatus_To_scheme_ScaleStatus(&in.Status, &out.Status, s)
}

// Convert_scheme_Scale_To_v1beta2_Scale converts *in to *out. Afterwards
// they may share parts.
func Convert_scheme_Scale_To_v1beta2_Scale(in *scheme.Scale, out *v1beta2.Scale, s conversion.Scope) error {
	out.ObjectMeta = in.ObjectMeta
	if err := Convert_scheme_ScaleSpec_To_v1beta2_ScaleSpec(&in.Spec, &out.Spec, s); err != nil {
		return err
	}
	return Convert_scheme_ScaleStatus_To_v1beta2_ScaleStatus(&in.Status, &out.Status, s)
}

// Convert_v1beta2_ScaleSpec_To_scheme_ScaleSpec converts *in to *out.
func Convert_v1beta2_ScaleSpec_To_scheme_ScaleSpec(in *v1beta2.ScaleSpec, out *scheme.ScaleSpec, _ conversion.Scope) error {
	out.Replicas = in.Replicas
	return nil
}

// Convert_scheme_ScaleSpec_To_v1beta2_ScaleSpec converts *in to *out.
func Convert_scheme_ScaleSpec_To_v1beta2_ScaleSpec(in *scheme.ScaleSpec, out *v1beta2.ScaleSpec, _ conversion.Scope) error {
	out.Replicas = in.Replicas
	return nil
}

// Convert_v1beta2_ScaleStatus_To_scheme_ScaleStatus converts *in to *out. An invalid
// selector is an error.
func Convert_v1beta2_ScaleStatus_To_scheme_ScaleStatus(in *v1beta2.ScaleStatus, out *scheme.ScaleStatus, _ conversion.Scope) error {
	selector, err := selectors.ParseOld(in.TargetSelector, in.Selector)
	if err != nil {
		return err
	}
	*out = scheme.ScaleStatus{Replicas: in.Replicas, Selector: selector}
	return nil
}

// Convert_scheme_ScaleStatus_To_v1beta2_ScaleStatus converts *in to *out. An invalid
// selector is an error.
func Convert_scheme_ScaleStatus_To_v1beta2_ScaleStatus(in *scheme.ScaleStatus, out *v1beta2.ScaleStatus, _ conversion.Scope) error {
	text, labels, err := selectors.Old(in.Selector)
	if err != nil {
		return err
	}
	*out = v1beta2.ScaleStatus{Replicas: in.Replicas, Selector: labels, TargetSelector: text}
	return nil
}
