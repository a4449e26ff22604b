//go:build !kinform_no_openapi

package openapitest_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi/openapitest"
	"k8s.io/client-go/openapi3"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const json = "application/json"

func TestFakes(t *testing.T) {
	client := openapitest.NewFakeClient()
	client.PathsMap["api/v1"] = openapitest.FakeGroupVersion{GVSpec: []byte("x")}
	paths, err := client.Paths()
	require.NoError(t, err)
	body, err := paths["api/v1"].Schema(json)
	require.NoError(t, err)
	require.Equal(t, "x", string(body))
	_, err = paths["api/v1"].Schema(openapi.ContentTypeOpenAPIV3PB)
	require.Error(t, err)
	require.Empty(t, paths["api/v1"].ServerRelativeURL())
	_, err = openapitest.FakeGroupVersion{ForcedErr: errors.New("forced")}.Schema(json)
	require.EqualError(t, err, "forced")
	client.ForcedErr = errors.New("all")
	_, err = client.Paths()
	require.EqualError(t, err, "all")
}

func TestDocumentsInFiles(t *testing.T) {
	directory := t.TempDir()
	for _, name := range []string{"api__v1_openapi.json", "apis__apps__v1_openapi.json", "version_openapi.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(`{"openapi":"3.0.0"}`), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(directory, "more"), 0o700))
	client := openapitest.NewFileClient(directory)
	paths, err := client.Paths()
	require.NoError(t, err)
	require.Len(t, paths, 3)
	require.Equal(t, "apis__apps__v1_openapi.json", paths["apis/apps/v1"].ServerRelativeURL())
	_, err = paths["api/v1"].Schema("application/x")
	require.Error(t, err)
	document, err := openapi3.NewRoot(client).GVSpec(schema.GroupVersion{Group: "apps", Version: "v1"})
	require.NoError(t, err)
	require.Equal(t, "3.0.0", document.Version)
	_, err = openapitest.NewFileClient(filepath.Join(directory, "none")).Paths()
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestDocumentsOfKubernetesTypes(t *testing.T) {
	client := openapitest.NewEmbeddedFileClient()
	paths, err := client.Paths()
	require.NoError(t, err)
	for _, path := range []string{"api/v1", "apis/apps/v1", "apis/batch/v1", "apis/discovery.k8s.io/v1"} {
		require.Contains(t, paths, path)
		require.NotEmpty(t, paths[path].ServerRelativeURL())
	}
	_, err = paths["api/v1"].Schema("application/x")
	require.Error(t, err)

	converter, err := openapi.NewTypeConverter(client, false)
	require.NoError(t, err)
	typed, err := converter.ObjectToTyped(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "x"}, "spec": map[string]any{"replicas": int64(1)},
	}})
	require.NoError(t, err)
	back, err := converter.TypedToObject(typed)
	require.NoError(t, err)
	require.Equal(t, "x", back.(metav1.Object).GetName())
	_, err = converter.ObjectToTyped(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "x"}, "spec": map[string]any{"replicas": "one"},
	}})
	require.Error(t, err)
}
