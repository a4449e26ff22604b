package apitest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
)

func TestListIsTheSameInJSONAndProtobuf(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("b", "y", "app", "web"), pod("a", "z"), pod("b", "x"))

	fromJSON := get[corev1.PodList](t, c, "/api/v1/pods")
	require.Equal(t, "PodList", fromJSON.Kind)
	require.Equal(t, []string{"a/z", "b/x", "b/y"}, names(fromJSON.Items))
	require.Equal(t, srv.ResourceVersion(), fromJSON.ResourceVersion)

	apiVersion, kind, raw := envelope(t, c.do(t, http.StatusOK, "GET", "/api/v1/pods", "", "Accept", protoType))
	require.Equal(t, "v1", apiVersion)
	require.Equal(t, "PodList", kind)
	var fromProto corev1.PodList
	require.NoError(t, fromProto.Unmarshal(raw))
	fromProto.TypeMeta = fromJSON.TypeMeta
	require.Equal(t, fromJSON, fromProto)
}
