package apitest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
)

func TestSubresourcesWriteTheirPart(t *testing.T) {
	t.Parallel()
	const pods, namespaces = podsPath, "/api/v1/namespaces"
	_, c := start(t, apitest.Options{})
	c.do(t, http.StatusCreated, "POST", pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1","example.com/x":"1"}}}]}}`)
	c.do(t, http.StatusCreated, "POST", namespaces, `{"metadata":{"name":"n"},"spec":{"finalizers":["example.com/f"]}}`)
	for _, row := range []struct {
		path, patch string
		code        int
		message     string
	}{
		{"ephemeralcontainers", `{"metadata":{"labels":{"a":"b"}},"spec":{"nodeName":"n","ephemeralContainers":[{"name":"d"}]}}`, 200, ""},
		{"ephemeralcontainers", `{"spec":{"ephemeralContainers":null}}`, 422,
			"Pod \"p\" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers \"d\" may not be removed\n"},
		{"resize", `{"metadata":{"labels":{"a":"b"}},"spec":{"nodeName":"n","containers":[{"name":"c","resources":{"requests":{"cpu":"2","example.com/x":"1"}}}]}}`, 200, ""},
		{"resize", `{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"2","example.com/x":"2"}}}]}}`, 422,
			`Pod "p" is invalid: spec: Forbidden: only cpu and memory resources are mutable`},
		{"resize", `{"spec":{"containers":[]}}`, 422, ""},
	} {
		answer := c.do(t, row.code, "PATCH", pods+"/p/"+row.path, row.patch, "Content-Type", mergePatch)
		if row.message != "" {
			require.Equal(t, row.message, decode[struct{ Message string }](t, answer).Message)
		}
	}
	pod := get[corev1.Pod](t, c, pods+"/p")
	require.Empty(t, pod.Labels)
	require.Empty(t, pod.Spec.NodeName)
	require.Equal(t, "d", pod.Spec.EphemeralContainers[0].Name)
	require.Equal(t, "2", pod.Spec.Containers[0].Resources.Requests.Cpu().String())
	require.EqualValues(t, 3, pod.Generation)
	c.fails(t, http.StatusMethodNotAllowed, "DELETE", pods+"/p/resize", "")
	c.fails(t, http.StatusMethodNotAllowed, "GET", namespaces+"/n/finalize", "")

	c.do(t, http.StatusOK, "PUT", namespaces+"/n", `{"metadata":{"name":"n"}}`)
	held := decode[corev1.Namespace](t, c.do(t, http.StatusOK, "DELETE", namespaces+"/n", ""))
	require.Equal(t, corev1.NamespaceTerminating, held.Status.Phase)
	require.NotEmpty(t, held.Spec.Finalizers, "only the subresource finalize may remove finalizers")
	c.do(t, http.StatusOK, "PUT", namespaces+"/n/finalize", `{"metadata":{"name":"n"}}`)
	c.fails(t, http.StatusNotFound, "GET", namespaces+"/n", "")
}

func TestStringDataBecomesData(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	const secrets = "/api/v1/namespaces/a/secrets"
	c.do(t, http.StatusCreated, "POST", secrets, `{"metadata":{"name":"s"},"data":{"a":"YQ=="},"stringData":{"a":"A","b":"B"}}`)
	c.do(t, http.StatusOK, "PATCH", secrets+"/s", `{"stringData":{"c":"C"}}`, "Content-Type", mergePatch)
	secret := get[corev1.Secret](t, c, secrets+"/s")
	require.Equal(t, map[string][]byte{"a": []byte("A"), "b": []byte("B"), "c": []byte("C")}, secret.Data)
	require.Empty(t, secret.StringData)
	create(t, srv, &corev1.Secret{ObjectMeta: pod("a", "t").ObjectMeta, StringData: map[string]string{"x": "X"}})
	require.Equal(t, []byte("X"), get[corev1.Secret](t, c, secrets+"/t").Data["x"])
}
