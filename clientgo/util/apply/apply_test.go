package apply_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/apply"
)

func TestNewRequest(t *testing.T) {
	var method, kind, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read, _ := io.ReadAll(r.Body)
		method, kind, body = r.Method, r.Header.Get("Content-Type"), string(read)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Namespace","apiVersion":"v1"}`))
	}))
	defer server.Close()
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	client, err := rest.RESTClientFor(&rest.Config{Host: server.URL, APIPath: "/api", ContentConfig: rest.ContentConfig{
		GroupVersion: &corev1.SchemeGroupVersion, NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion(),
	}})
	require.NoError(t, err)
	request, err := apply.NewRequest(client, corev1ac.Namespace("a").WithLabels(map[string]string{"x": "y"}))
	require.NoError(t, err)
	require.NoError(t, request.Resource("namespaces").Name("a").Do(t.Context()).Error())
	require.Equal(t, http.MethodPatch, method)
	require.Equal(t, "application/apply-patch+yaml", kind)
	require.JSONEq(t, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a","labels":{"x":"y"}}}`, body)

	_, err = apply.NewRequest(client, func() {})
	require.ErrorContains(t, err, "func()")
}
