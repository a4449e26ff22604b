package apitest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
)

// applier writes ConfigMaps as one field manager.
type applier struct {
	t    *testing.T
	maps *rest.Resource[*corev1.ConfigMap]
}

func (b applier) apply(manager string, data map[string]string, force bool) (*corev1.ConfigMap, error) {
	return b.maps.ServerSideApply(b.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "shop"}, Data: data},
		metav1.ApplyOptions{FieldManager: manager, Force: force})
}

func (b applier) applied(manager string, data map[string]string) *corev1.ConfigMap {
	b.t.Helper()
	stored, err := b.apply(manager, data, false)
	require.NoError(b.t, err)
	return stored
}

func configMapsOf(t *testing.T, opts apitest.Options) applier {
	t.Helper()
	server := apitest.Start(t, opts)
	client, err := rest.NewClient(rest.Config{Host: server.URL()}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return applier{t, rest.Must(rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{}))}
}

type data = map[string]string

func TestApplyMergesWhatManagersWant(t *testing.T) {
	t.Parallel()
	maps := configMapsOf(t, apitest.Options{})
	require.Equal(t, data{"x": "1", "y": "1"}, maps.applied("a", data{"x": "1", "y": "1"}).Data)
	require.Equal(t, data{"x": "1", "y": "1", "z": "1"}, maps.applied("b", data{"z": "1"}).Data)
	require.Equal(t, data{"x": "1", "z": "1"}, maps.applied("a", data{"x": "1"}).Data, "a field that a no longer applies must be removed")

	_, err := maps.apply("b", data{"x": "2", "z": "1"}, false)
	require.True(t, apierrors.IsConflict(err), err)
	require.ErrorContains(t, err, `conflict with "a": .data.x`)
	forced, err := maps.apply("b", data{"x": "2", "z": "1"}, true)
	require.NoError(t, err)
	require.Equal(t, data{"x": "2", "z": "1"}, forced.Data)
	require.Len(t, forced.ManagedFields, 1, "a must have no entry any more")

	before := forced.ResourceVersion
	require.Equal(t, before, maps.applied("b", data{"x": "2", "z": "1"}).ResourceVersion, "an apply without changes must not write")
}

func TestUpdatesAreTrackedFromTheFirstApplyOn(t *testing.T) {
	t.Parallel()
	for _, always := range []bool{false, true} {
		maps := configMapsOf(t, apitest.Options{ManagedFields: always})
		created, err := maps.maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "shop"}, Data: data{"x": "1"}}, metav1.CreateOptions{FieldManager: "user"})
		require.NoError(t, err)
		owner := "before-first-apply"
		if always {
			require.Len(t, created.ManagedFields, 1)
			owner = "user"
		} else {
			require.Empty(t, created.ManagedFields)
		}
		_, err = maps.apply("a", data{"x": "2"}, false)
		require.ErrorContains(t, err, `conflict with "`+owner+`" using v1: .data.x`)
		maps.applied("a", data{"y": "1"})
		patched, err := maps.maps.Patch(t.Context(), types.NamespacedName{Namespace: "web", Name: "shop"}, types.MergePatchType, []byte(`{"data":{"y":"2"}}`), metav1.PatchOptions{FieldManager: "user"})
		require.NoError(t, err)
		require.Equal(t, data{"x": "1", "y": "2"}, patched.Data)
		_, err = maps.apply("a", data{"y": "1"}, false)
		require.ErrorContains(t, err, `conflict with "user" using v1: .data.y`, "the manager that wrote a field must own it")
	}
}

func TestFieldsNoLongerAppliedHaveNoOwner(t *testing.T) {
	t.Parallel()
	maps := configMapsOf(t, apitest.Options{})
	maps.applied("a", data{"x": "1"})
	require.Empty(t, maps.applied("a", nil).ManagedFields)
	require.Equal(t, data{"x": "2"}, maps.applied("b", data{"x": "2"}).Data)
}

func TestManagedFieldsOfClients(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sent []metav1.ManagedFieldsEntry
		left int
	}{
		"without a list, nothing changes": {nil, 1},
		"an empty entry is a reset":       {[]metav1.ManagedFieldsEntry{{}}, 0},
		"an undecodable entry is ignored": {[]metav1.ManagedFieldsEntry{{Manager: "a", Operation: "Apply", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"x":1}`)}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			maps := configMapsOf(t, apitest.Options{})
			maps.applied("a", data{"x": "1"})
			body, err := json.Marshal(map[string]any{"metadata": map[string]any{"managedFields": test.sent}})
			require.NoError(t, err)
			if test.sent == nil {
				body = []byte(`{"metadata":{"labels":{"l":"1"}}}`)
			}
			patched, err := maps.maps.Patch(t.Context(), types.NamespacedName{Namespace: "web", Name: "shop"}, types.MergePatchType, body, metav1.PatchOptions{FieldManager: "user"})
			require.NoError(t, err)
			applied := 0
			for _, e := range patched.ManagedFields {
				if e.Manager == "a" {
					applied++
				}
			}
			require.Equal(t, test.left, applied, patched.ManagedFields)
		})
	}
}

func TestApplyOfAnInvalidConfiguration(t *testing.T) {
	t.Parallel()
	server := apitest.Start(t, apitest.Options{})
	for body, want := range map[string]string{
		"a: [":    "error decoding YAML",
		"- a":     "error decoding YAML",
		"":        "invalid object type",
		"{}":      "invalid object type",
		"kind: 1": "invalid object type",
		"{apiVersion: v1, kind: ConfigMap, metadata: []}":                           "",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}":                "does not match",
		"{apiVersion: v1, kind: ConfigMap, metadata: {managedFields: [{}]}}":        "managedFields must be nil",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: shop}, data: {a: [1]}}": "typed patch object",
		"{apiVersion: v1, kind: ConfigMap}":                                         "name must be provided",
		"{apiVersion: v1, kind: ConfigMap, data: {a: b}, data: {a: c}}":             "already set in map",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, server.URL()+"/api/v1/namespaces/web/configmaps/shop?fieldManager=a", strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", string(types.ApplyYAMLPatchType))
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		text := new(strings.Builder)
		require.NoError(t, answer.Write(text))
		require.NoError(t, answer.Body.Close())
		require.GreaterOrEqual(t, answer.StatusCode, 400, body)
		require.Less(t, answer.StatusCode, 600, body)
		require.Contains(t, text.String(), want, body)
	}
}

func TestObjectWithoutFieldsIsCreated(t *testing.T) {
	t.Parallel()
	maps := configMapsOf(t, apitest.Options{ManagedFields: true})
	empty := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "shop"}}
	created, err := maps.maps.Create(t.Context(), empty, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Empty(t, created.ManagedFields)
	created.Data = data{"x": "1"}
	updated, err := maps.maps.Update(t.Context(), created, metav1.UpdateOptions{FieldManager: "user"})
	require.NoError(t, err)
	require.Empty(t, updated.ManagedFields, "fields without a known owner must get no entry, as on the real server")
	applied := maps.applied("a", data{"y": "1"})
	require.Equal(t, []string{`a Apply  {"f:data":{"f:y":{}}}`, `before-first-apply Update  {"f:data":{".":{},"f:x":{}}}`}, ownersOf(applied))
}
