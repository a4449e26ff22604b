package rest

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/klog/v2"

	"k8s.io/client-go/internal/sink"

	"github.com/kinform/kinform/rest/sharing"
)

func TestTheEnvironmentSaysWhatIsShared(t *testing.T) {
	for want, env := range map[Sharing]map[string]string{
		"immutable":  {},
		"everything": {sharingVariable: "everything", detectorVariable: "true"},
		"constants":  {detectorVariable: "true"},
		"nothing":    {sharingVariable: " nothing", detectorVariable: "false"},
	} {
		require.Equal(t, want, sharingOf(func(name string) string { return env[name] }))
	}
}

func TestASharingWithoutAMeaning(t *testing.T) {
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

// Objects that belong to their receiver, or that a transform changes, share no more than constants.
func TestDecodersByUse(t *testing.T) {
	byDefault := newDecoding("immutable")
	require.NotSame(t, byDefault.owned, byDefault.decoderFor(sink.Cached))
	require.Same(t, byDefault.owned, byDefault.decoderFor(sink.Kept))
	require.Same(t, byDefault.owned, byDefault.decoderFor(sink.Transformed))
	everything := newDecoding("everything")
	require.Same(t, everything.cached, everything.decoderFor(sink.Kept), "the program has said that it keeps the rule")
	require.Same(t, everything.owned, everything.decoderFor(sink.Transformed), "which transforms may not keep")
	for _, one := range []Sharing{ShareConstants, ShareNothing} {
		d := newDecoding(one)
		require.Same(t, d.cached, d.owned, one)
	}
}

func TestTheComplaintNamesTheFieldAndNoContent(t *testing.T) {
	var log bytes.Buffer
	klog.LogToStderr(false)
	klog.SetOutput(&log)
	defer klog.LogToStderr(true)
	complain(sharing.Change{Field: "v1.Container.Env", Before: "hunter2", After: "hunter3"})
	klog.Flush()
	require.Contains(t, log.String(), `field="v1.Container.Env"`)
	require.Contains(t, log.String(), "KINFORM_SHARING=constants")
	require.NotContains(t, log.String(), "hunter")
}
