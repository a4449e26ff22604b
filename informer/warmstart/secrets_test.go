package warmstart

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/kinform/kinform/indexer"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Objects with their own kind are recognised as Secrets, whichever source they come from.
func TestUnstructuredSecretsAreSavedOnlyIfPermitted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "all")
	source := map[string]string{"cluster": "4f1c"}
	file := func(opts Options) *File[*unstructured.Unstructured] {
		f, err := New(path, JSON[*unstructured.Unstructured](), opts)
		require.NoError(t, err)
		return f
	}
	stored := func(apiVersion, kind string) *indexer.Store[*unstructured.Unstructured] {
		store, err := indexer.New(indexer.Options[*unstructured.Unstructured]{})
		require.NoError(t, err)
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "data": map[string]any{"key": "hunter2"}}}
		_, err = store.Apply([]indexer.Op[*unstructured.Unstructured]{{Key: types.NamespacedName{Namespace: "shop", Name: "key"}, Object: object, ResourceVersion: "5"}}, "9")
		require.NoError(t, err)
		return store
	}
	require.NoError(t, put(t, file(Options{}), source, stored("example.com/v1", "Secret")), "a kind Secret of another group is saved")
	require.NoError(t, os.Remove(path))

	secret := stored("v1", "Secret")
	err := put(t, file(Options{}), source, secret)
	require.ErrorIs(t, err, ErrSecrets)
	require.ErrorContains(t, err, "shop/key is a Secret")
	require.NotContains(t, err.Error(), "hunter2")
	names, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, names)

	require.NoError(t, put(t, file(Options{Secrets: true}), source, secret))
	_, _, err = file(Options{Secrets: true}).load(source)
	require.NoError(t, err)
	_, _, err = file(Options{}).load(source)
	require.ErrorIs(t, err, ErrSecrets)

	// The file contains a Secret although the saved object had another kind.
	lying := file(Options{})
	lying.codec.Encode = func(*unstructured.Unstructured) ([]byte, error) {
		return []byte(`{"apiVersion":"v1","kind":"Secret"}`), nil
	}
	require.NoError(t, put(t, lying, source, stored("v1", "Pod")))
	_, _, err = file(Options{}).load(source)
	require.ErrorIs(t, err, ErrSecrets)
}

func TestSourcesOfSecretsAreRecognized(t *testing.T) {
	t.Parallel()
	require.True(t, isSecretType(reflect.TypeFor[*corev1.Secret]()))
	require.True(t, isSecretType(reflect.TypeFor[corev1.Secret]()))
	require.False(t, isSecretType(reflect.TypeFor[*corev1.ConfigMap]()))
	for _, source := range []map[string]string{
		{"resource": "/v1/secrets"},
		{"part 1 of 2": `cluster="x" resource="/v1/configmaps"`, "part 2 of 2": `cluster="x" resource="/v1/secrets"`},
		{"part 1 of 1": `part 1 of 1="cluster=\"x\" resource=\"/v1/secrets\""`},
	} {
		require.True(t, isSecretSource(source))
	}
	for _, source := range []map[string]string{nil, {"resource": "example.com/v1/secrets"}, {"resource": "/v1/pods"}, {"part 1 of 1": `resource="example.com/v1/secrets"`}} {
		require.False(t, isSecretSource(source))
	}
}
