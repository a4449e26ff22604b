package scale

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"k8s.io/client-go/scale/scheme"
	"k8s.io/client-go/scale/scheme/appsint"
	scaleappsv1beta1 "k8s.io/client-go/scale/scheme/appsv1beta1"
	scaleappsv1beta2 "k8s.io/client-go/scale/scheme/appsv1beta2"
	scaleautoscalingv1 "k8s.io/client-go/scale/scheme/autoscalingv1"
	"k8s.io/client-go/scale/scheme/extensionsint"
	scaleextensionsv1beta1 "k8s.io/client-go/scale/scheme/extensionsv1beta1"
)

// ScaleConverter converts Scale between its versions: autoscaling/v1, apps/v1beta1, apps/v1beta2
// and extensions/v1beta1.
type ScaleConverter struct {
	scheme    *runtime.Scheme
	codecs    serializer.CodecFactory
	versioner runtime.GroupVersioner // selects the internal version
}

// NewScaleConverter returns a converter with its own scheme.
func NewScaleConverter() *ScaleConverter {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scaleautoscalingv1.AddToScheme, scaleextensionsv1beta1.AddToScheme, scaleappsv1beta1.AddToScheme, scaleappsv1beta2.AddToScheme,
		scheme.AddToScheme, extensionsint.AddToScheme, appsint.AddToScheme,
	} {
		utilruntime.Must(add(s))
	}
	return &ScaleConverter{
		scheme: s, codecs: serializer.NewCodecFactory(s),
		versioner: runtime.NewMultiGroupVersioner(scheme.SchemeGroupVersion,
			schema.GroupKind{Group: scheme.GroupName, Kind: "Scale"}, schema.GroupKind{Group: extensionsint.GroupName, Kind: "Scale"}, schema.GroupKind{Group: appsint.GroupName, Kind: "Scale"}),
	}
}

// Scheme returns the scheme, which the converter owns.
func (c *ScaleConverter) Scheme() *runtime.Scheme { return c.scheme }

// Codecs returns the codecs of the scheme.
func (c *ScaleConverter) Codecs() serializer.CodecFactory { return c.codecs }

// ScaleVersions returns the versions of Scale that the converter supports.
func (c *ScaleConverter) ScaleVersions() []schema.GroupVersion {
	return []schema.GroupVersion{
		scaleautoscalingv1.SchemeGroupVersion, scheme.SchemeGroupVersion, scaleextensionsv1beta1.SchemeGroupVersion, extensionsint.SchemeGroupVersion,
		appsint.SchemeGroupVersion, scaleappsv1beta1.SchemeGroupVersion, scaleappsv1beta2.SchemeGroupVersion,
	}
}

// ConvertToVersion converts a Scale of any version to outVersion. The result may share parts with
// the argument in. A Status is not converted.
func (c *ScaleConverter) ConvertToVersion(in runtime.Object, outVersion schema.GroupVersion) (runtime.Object, error) {
	middle, err := c.scheme.UnsafeConvertToVersion(in, c.versioner)
	if err != nil {
		return nil, err
	}
	return c.scheme.UnsafeConvertToVersion(middle, outVersion)
}

// read decodes a Scale of any version.
func (c *ScaleConverter) read(body []byte) (*autoscalingv1.Scale, error) {
	obj, err := runtime.Decode(c.codecs.UniversalDecoder(c.ScaleVersions()...), body)
	if err != nil {
		return nil, err
	}
	if obj, err = c.ConvertToVersion(obj, autoscalingv1.SchemeGroupVersion); err != nil {
		return nil, fmt.Errorf("received an object from a /scale endpoint which was not convertible to autoscaling Scale: %w", err)
	}
	scale, ok := obj.(*autoscalingv1.Scale)
	if !ok {
		return nil, fmt.Errorf("received a %T from a /scale endpoint, not a Scale", obj)
	}
	return scale, nil
}
