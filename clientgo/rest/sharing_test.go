package rest

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/klog/v2"

	"k8s.io/client-go/internal/sink"

	"github.com/kinform/kinform/rest/sharing"
)

func TestSharingIsReadFromTheEnvironment(t *testing.T) {
	for want, env := range map[Sharing]map[string]string{
		"immutable":  {},
		"everything": {sharingVariable: "everything", detectorVariable: "true"},
		"constants":  {detectorVariable: "true"},
		"nothing":    {sharingVariable: " nothing", detectorVariable: "false"},
	} {
		require.Equal(t, want, sharingOf(func(name string) string { return env[name] }))
	}
}

func TestAnUnknownSharingIsAnError(t *testing.T) {
	_, err := RESTClientFor(&Config{Sharing: "evrything", ContentConfig: ContentConfig{GroupVersion: &schema.GroupVersion{Version: "v1"}, NegotiatedSerializer: serializer.NewCodecFactory(runtime.NewScheme())}})
	require.EqualError(t, err, `Config.Sharing: there is no sharing "evrything": it is one of [nothing constants immutable everything], or empty`)

	var log bytes.Buffer
	klog.LogToStderr(false)
	klog.SetOutput(&log)
	defer klog.LogToStderr(true)
	require.Equal(t, ShareConstants, sharingOf(func(name string) string { return map[string]string{sharingVariable: "all"}[name] }))
	klog.Flush()
	require.Contains(t, log.String(), `variable="KINFORM_SHARING"`)
	require.Contains(t, log.String(), `there is no sharing \"all\"`)
}

// Objects that the receiver owns, or that a transform changes, share strings only.
func TestOnlyCachedObjectsShareMoreThanStrings(t *testing.T) {
	byDefault := newDecoders("immutable")
	pod, other := reflect.TypeFor[*corev1.Pod](), reflect.TypeFor[*ownCopy]()
	require.NotSame(t, byDefault.cached, byDefault.owned)
	for _, d := range []*decoders{byDefault, newDecoders("everything")} {
		for _, of := range []struct {
			use    sink.Use
			object reflect.Type
			want   *sharing.Decoder
			copied bool
		}{
			{sink.Cached, pod, d.cached, false},
			{sink.Cached, other, d.cached, false},
			{sink.Owned, pod, d.owned, false},
			{sink.Owned, other, d.owned, false},
			{sink.Transformed, pod, d.cached, true},
			{sink.Transformed, other, d.owned, false}, // the type's DeepCopy may be incomplete
		} {
			decoder, copied := d.decoderFor(of.use, of.object)
			require.Same(t, of.want, decoder, of)
			require.Equal(t, of.copied, copied, of)
		}
	}
	for _, one := range []Sharing{ShareConstants, ShareNothing} {
		d := newDecoders(one)
		require.Same(t, d.cached, d.owned, one)
		_, copied := d.decoderFor(sink.Transformed, pod)
		require.False(t, copied, "a transform may change objects without shared parts")
	}
}

// ownCopy is a program's own type. Its DeepCopyObject may be incomplete.
type ownCopy struct{ corev1.Pod }

func TestTheMutationErrorNamesTheFieldWithoutContent(t *testing.T) {
	var log bytes.Buffer
	klog.LogToStderr(false)
	klog.SetOutput(&log)
	defer klog.LogToStderr(true)
	logMutation(sharing.Mutation{Field: "v1.Container.Env", Before: "hunter2", After: "hunter3"})
	klog.Flush()
	require.Contains(t, log.String(), `field="v1.Container.Env"`)
	require.Contains(t, log.String(), "KINFORM_SHARING=constants")
	require.NotContains(t, log.String(), "hunter")
}
