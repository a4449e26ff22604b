package rest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// partialObject is a user's struct with metadata.
type partialObject struct {
	metav1.ObjectMeta `json:"metadata"`
	Status            struct{ Phase string }
}

// custom is a custom resource as code generators write it.
type custom struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

// panickingObject has metadata behind a pointer that is never set, so that the methods of its
// metadata panic.
type panickingObject struct {
	*metav1.ObjectMeta `json:"-"`
}

// upperCaseText decodes its JSON into text in upper case.
type upperCaseText struct{ text string }

func (s *upperCaseText) UnmarshalJSON(data []byte) error {
	s.text = string(bytes.ToUpper(data))
	return nil
}

func TestJSONResourceDecodesAnyGoType(t *testing.T) {
	t.Parallel()
	const item = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":"5"},"Status":{"Phase":"Running"},"status":{"phase":"Pending"}}`
	body := []byte(`{"kind":"PodList","items":[` + item + `]}`)
	require.Equal(t, "Running", listOne[*partialObject](t, body).Object.Status.Phase, "keys must be case-sensitive, as in apimachinery")
	require.Equal(t, "Pod", listOne[*custom](t, body).Object.Kind, "custom resources must keep their kind, so that they can be written")
	require.Equal(t, "a", listOne[custom](t, body).Object.Name)
	require.Equal(t, map[string]any{"phase": "Pending"}, listOne[map[string]any](t, body).Object["status"])
	require.Equal(t, map[string]any{"phase": "Pending"}, listOne[any](t, body).Object.(map[string]any)["status"])
	require.JSONEq(t, item, string(listOne[json.RawMessage](t, body).Object))
	require.Contains(t, listOne[*upperCaseText](t, body).Object.text, "RUNNING")
	require.Equal(t, "Pod", listOne[*corev1.Pod](t, body).Object.Kind)
	builtin := Must(NewResource[*corev1.Pod](&Client{}, podsGVR, ResourceOptions{}))
	require.Equal(t, metav1.TypeMeta{}, listOneOf(t, builtin, body).Object.TypeMeta, "built-in types must lack kind and apiVersion, in any encoding")
}

func listOne[T any](t *testing.T, body []byte) listwatch.Item[T] {
	t.Helper()
	return listOneOf(t, Must(NewJSONResource[T](&Client{}, podsGVR, ResourceOptions{})), body)
}

func listOneOf[T any](t *testing.T, r *Resource[T], body []byte) listwatch.Item[T] {
	t.Helper()
	stream := r.readList(offline(t.Context(), bytes.NewReader(body)), JSON, nil)
	items, skipped, err := drainList(stream)
	require.NoError(t, stream.Close())
	require.Equal(t, io.EOF, err)
	require.Empty(t, skipped)
	require.Len(t, items, 1)
	require.Equal(t, types.NamespacedName{Namespace: "n", Name: "a"}, items[0].Key)
	require.Equal(t, "5", items[0].ResourceVersion)
	return items[0]
}

func TestPanickingMethodIsAnObjectError(t *testing.T) { // G11
	t.Parallel()
	r := Must(NewJSONResource[*panickingObject](&Client{}, podsGVR, ResourceOptions{}))
	body := `{"kind":"PodList","items":[{"metadata":{"name":"a"}}]}`
	stream := r.readList(offline(t.Context(), bytes.NewReader([]byte(body))), JSON, nil)
	_, skipped, err := drainList(stream)
	require.NoError(t, stream.Close())
	require.Equal(t, io.EOF, err)
	require.Len(t, skipped, 1)
	require.Equal(t, "a", skipped[0].Key.Name)
}

func TestResourceStringIsItsAddress(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"https://host/c1", "https://host/c1/"} {
		client, err := NewClient(Config{Host: host}, Options{})
		require.NoError(t, err)
		require.Equal(t, "https://host/c1/api/v1/namespaces/n/pods", Must(NewJSONResource[*partialObject](client, podsGVR, ResourceOptions{Namespace: "n"})).String())
		client.Close()
	}
}

func TestEncodingOfResponse(t *testing.T) { // RS-20, RS-24
	t.Parallel()
	header := func(h http.Header) (Encoding, error) {
		return encodingOf(&http.Response{Header: h, Body: io.NopCloser(bytes.NewReader(nil))})
	}
	for value, want := range map[string]Encoding{
		"": JSON, "application/json": JSON, "Application/JSON; charset=utf-8": JSON,
		"application/vnd.kubernetes.protobuf": Protobuf, "application/vnd.kubernetes.protobuf;stream=watch": Protobuf,
	} {
		got, err := header(http.Header{"Content-Type": {value}})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := header(http.Header{"Content-Encoding": {"gzip"}})
	require.ErrorContains(t, err, `"gzip", which was not requested`)
	_, err = header(http.Header{"Content-Type": {"text/plain"}})
	require.ErrorIs(t, err, ErrMalformed)

	client := serveBytes(t, Protobuf, nil)
	err = listErr(t.Context(), Must(NewJSONResource[*partialObject](client, podsGVR, ResourceOptions{})))
	require.ErrorContains(t, err, "protobuf, which was not requested")
}
