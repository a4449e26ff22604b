package apiserver

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/rest"
)

// TestRequestsOfWebPagesAreRefused: a request that a web page can cause is refused before it has
// any effect.
func TestRequestsOfWebPagesAreRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config")
	url, _ := start(t, "--pods", "1", "--kubeconfig-out", path)
	configMaps := rest.Must(rest.NewResource[*corev1.ConfigMap](reach(t, path), corev1.SchemeGroupVersion.WithResource("configmaps"), rest.ResourceOptions{Namespace: "default"}))
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"evil","namespace":"default"}}`
	port := url[strings.LastIndex(url, ":"):]
	for _, test := range []struct {
		method, host, contentType string
		header                    http.Header
		want                      int
	}{
		{"POST", "evil.example" + port, "application/json", nil, 403},
		{"GET", "evil.example" + port, "", nil, 403},
		{"GET", "127.0.0.1.evil.example", "", nil, 403},
		{"GET", "localhost.evil.example" + port, "", nil, 403},
		{"POST", "", "application/json", http.Header{"Origin": {"http://evil.example"}}, 403},
		{"POST", "", "application/json", http.Header{"Origin": {"null"}}, 403},
		{"GET", "", "", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{"POST", "", "text/plain", nil, 403},
		{"POST", "", "text/plain; charset=utf-8", nil, 403},
		{"POST", "", "Application/X-WWW-form-urlencoded", nil, 403},
		{"POST", "", "multipart/form-data; boundary=a", nil, 403},
		{"POST", "", "", nil, 403},
		{"PUT", "", "text/plain", nil, 403},
		{"DELETE", "", "text/plain", nil, 403},
		{"GET", "", "", nil, 200},
		{"GET", "localhost" + port, "", nil, 200},
		{"GET", "LOCALHOST." + port, "", nil, 200},
		{"GET", "[::1]" + port, "", nil, 200},
		{"GET", "127.0.0.2", "", nil, 200},
		{"GET", "", "", http.Header{"Sec-Fetch-Site": {"none"}}, 200},
	} {
		r, err := http.NewRequestWithContext(t.Context(), test.method, url+"/api/v1/namespaces/default/configmaps", strings.NewReader(body))
		require.NoError(t, err)
		if test.method == "GET" {
			r.Body, r.ContentLength = nil, 0
		}
		r.Host = test.host
		for name, values := range test.header {
			r.Header[name] = values
		}
		if test.contentType != "" {
			r.Header.Set("Content-Type", test.contentType)
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, test.want, answer.StatusCode, "%+v", test)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	_, err := configMaps.Get(t.Context(), types.NamespacedName{Name: "evil"}, metav1.GetOptions{})
	require.ErrorContains(t, err, "not found")

	// A Kubernetes client is not affected.
	created, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "good"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = configMaps.Update(t.Context(), created, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = configMaps.Patch(t.Context(), types.NamespacedName{Name: "good"}, types.MergePatchType, []byte(`{"data":{"a":"b"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.NoError(t, configMaps.Delete(t.Context(), types.NamespacedName{Name: "good"}, metav1.DeleteOptions{}))
}

func TestOwnHostNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		host, own string
		want      bool
	}{
		{"127.0.0.1:8001", "127.0.0.1", true}, {"[::1]", "127.0.0.1", true}, {"10.0.0.1:1", "127.0.0.1", false},
		{"10.0.0.1:1", "10.0.0.1", true}, {"10.0.0.1:1", "0.0.0.0", true}, {"10.0.0.1:1", "", true}, {"evil.example:1", "", false},
		{"evil.example:1", "0.0.0.0", false}, {"Box.local:1", "box.local", true}, {"10.0.0.1", "box.local", true}, {"", "", false},
		{"", "127.0.0.1", false}, {"localhost", "10.0.0.1", true},
	} {
		require.Equal(t, test.want, isOwnHost(test.host, test.own), "%+v", test)
	}
}
