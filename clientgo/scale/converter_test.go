package scale_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	appsv1beta2 "k8s.io/api/apps/v1beta2"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/scale"
	"k8s.io/client-go/scale/scheme"
)

func TestSelectorsOfAllVersions(t *testing.T) {
	converter := scale.NewScaleConverter()
	simple, odd := map[string]string{"a": "b"}, "a=b,c in (d,e)"
	for _, test := range []struct {
		in   runtime.Object
		text string
		old  map[string]string
	}{
		{&autoscalingv1.Scale{Status: autoscalingv1.ScaleStatus{Selector: "a=b"}}, "a=b", simple},
		{&autoscalingv1.Scale{Status: autoscalingv1.ScaleStatus{Selector: odd}}, odd, nil},
		{&autoscalingv1.Scale{}, "", nil},
		{&extensionsv1beta1.Scale{Status: extensionsv1beta1.ScaleStatus{Selector: simple}}, "a=b", simple},
		{&extensionsv1beta1.Scale{Status: extensionsv1beta1.ScaleStatus{Selector: simple, TargetSelector: odd}}, odd, nil},
		{&appsv1beta1.Scale{Status: appsv1beta1.ScaleStatus{TargetSelector: "a=b"}}, "a=b", simple},
		{&appsv1beta2.Scale{Status: appsv1beta2.ScaleStatus{TargetSelector: odd}}, odd, nil},
		{&scheme.Scale{Status: scheme.ScaleStatus{Selector: &metav1.LabelSelector{MatchLabels: simple}}}, "a=b", simple},
		{&scheme.Scale{Status: scheme.ScaleStatus{Selector: &metav1.LabelSelector{}}}, "", nil},
	} {
		for _, v := range converter.ScaleVersions() {
			out, err := converter.ConvertToVersion(test.in.DeepCopyObject(), v)
			require.NoError(t, err)
			switch is := out.(type) {
			case *autoscalingv1.Scale:
				require.Equal(t, test.text, is.Status.Selector)
			case *extensionsv1beta1.Scale:
				require.Equal(t, test.text, is.Status.TargetSelector)
				require.Equal(t, test.old, is.Status.Selector)
			case *appsv1beta1.Scale:
				require.Equal(t, test.text, is.Status.TargetSelector)
				require.Equal(t, test.old, is.Status.Selector)
			case *appsv1beta2.Scale:
				require.Equal(t, test.text, is.Status.TargetSelector)
				require.Equal(t, test.old, is.Status.Selector)
			case *scheme.Scale:
				require.Equal(t, test.text != "" || is.Status.Selector != nil, is.Status.Selector != nil)
			default:
				require.Fail(t, "unknown type", "%T", out)
			}
		}
	}
}

func TestInvalidConversionsAreErrors(t *testing.T) {
	converter := scale.NewScaleConverter()
	v1 := schema.GroupVersion{Group: "autoscaling", Version: "v1"}
	for _, in := range []runtime.Object{
		&autoscalingv1.Scale{Status: autoscalingv1.ScaleStatus{Selector: "("}}, &appsv1beta1.Scale{Status: appsv1beta1.ScaleStatus{TargetSelector: "a!=b"}},
		&scheme.Scale{Status: scheme.ScaleStatus{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Bad"}}}}},
		&appsv1beta1.Deployment{},
	} {
		_, err := converter.ConvertToVersion(in, v1)
		require.Error(t, err)
	}
	_, err := converter.ConvertToVersion(&autoscalingv1.Scale{}, schema.GroupVersion{Group: "apps", Version: "v1"})
	require.Error(t, err)
	require.NotNil(t, converter.Codecs())
}

func TestCopiesAreDeep(t *testing.T) {
	in := &scheme.Scale{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Status: scheme.ScaleStatus{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}}
	out := in.DeepCopyObject().(*scheme.Scale)
	require.Equal(t, in, out)
	out.Labels["a"], out.Status.Selector.MatchLabels["a"] = "c", "c"
	require.Equal(t, "b", in.Labels["a"])
	require.Equal(t, "b", in.Status.Selector.MatchLabels["a"])
	require.Equal(t, &in.Status, in.Status.DeepCopy())
	require.Equal(t, &in.Spec, in.Spec.DeepCopy())
	require.Nil(t, (*scheme.Scale)(nil).DeepCopyObject())
	require.Nil(t, (*scheme.Scale)(nil).DeepCopy())
	require.Nil(t, (*scheme.ScaleSpec)(nil).DeepCopy())
	require.Nil(t, (*scheme.ScaleStatus)(nil).DeepCopy())
}
