package fake_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest/fake"
)

func TestARequestWithoutBodyHasNone(t *testing.T) {
	client := &fake.RESTClient{
		NegotiatedSerializer: scheme.Codecs.WithoutConversion(), GroupVersion: corev1.SchemeGroupVersion, VersionedAPIPath: "/api/v1",
		Resp: &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))},
	}
	_, err := client.Get().Resource("nodes").DoRaw(t.Context())
	require.NoError(t, err)
	require.Equal(t, "https://localhost/api/v1/nodes", client.Req.URL.String())
	require.Nil(t, client.Req.Body)
}
