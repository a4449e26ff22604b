// Package extensionsv1beta1 converts Scale of extensions/v1beta1.
package extensionsv1beta1

import (
	v1beta1 "k8s.io/api/extensions/v1beta1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/scale/scheme"
)

// GroupName is the group of Scale.
const GroupName = v1beta1.GroupName

// SchemeGroupVersion is the version of Scale.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1beta1"}

// Resource returns a resource of the group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

// A separate builder, so that the builder of the API's package is not changed.
var localSchemeBuilder = runtime.NewSchemeBuilder(v1beta1.AddToScheme, RegisterConversions)

// AddToScheme adds the types of the group version, and the conversions of Scale.
var AddToScheme = localSchemeBuilder.AddToScheme

// RegisterConversions adds the conversions of Scale and its parts.
func RegisterConversions(s *runtime.Scheme) error {
	for _, c := range []struct {
		from, to any
		convert  conversion.ConversionFunc
	}{
		{(*v1beta1.Scale)(nil), (*scheme.Scale)(nil), converter(Convert_v1beta1_Scale_To_scheme_Scale)},
		{(*scheme.Scale)(nil), (*v1beta1.Scale)(nil), converter(Convert_scheme_Scale_To_v1beta1_Scale)},
		{(*v1beta1.ScaleSpec)(nil), (*scheme.ScaleSpec)(nil), converter(Convert_v1beta1_ScaleSpec_To_scheme_ScaleSpec)},
		{(*scheme.ScaleSpec)(nil), (*v1beta1.ScaleSpec)(nil), converter(Convert_scheme_ScaleSpec_To_v1beta1_ScaleSpec)},
		{(*v1beta1.ScaleStatus)(nil), (*scheme.ScaleStatus)(nil), converter(Convert_v1beta1_ScaleStatus_To_scheme_ScaleStatus)},
		{(*scheme.ScaleStatus)(nil), (*v1beta1.ScaleStatus)(nil), converter(Convert_scheme_ScaleStatus_To_v1beta1_ScaleStatus)},
	} {
		if err := s.AddConversionFunc(c.from, c.to, c.convert); err != nil {
			return err
		}
	}
	return nil
}

// converter adapts a typed conversion to the signature that a scheme requires.
func converter[In, Out any](convert func(*In, *Out, conversion.Scope) error) conversion.ConversionFunc {
	return func(in, out any, s conversion.Scope) error { return convert(in.(*In), out.(*Out), s) }
}
