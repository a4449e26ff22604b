package finalizer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest/finalizer"
)

// TestObjectWithoutAUIDIsRefused: without a UID, a patch could change another object of the same
// name. So the functions refuse such an object.
func TestObjectWithoutAUIDIsRefused(t *testing.T) {
	t.Parallel()
	r := start(t, apitest.Options{}, ours)
	pod := r.get().DeepCopy()
	pod.UID = ""
	_, err := finalizer.Remove(t.Context(), r.pods, pod, ours)
	require.ErrorContains(t, err, "has no UID")
	require.Contains(t, r.get().Finalizers, ours)
	_, err = finalizer.Ensure(t.Context(), r.pods, pod, ours)
	require.NoError(t, err, "Ensure must accept an object that has the finalizer already")
	pod.Finalizers = nil
	_, err = finalizer.Ensure(t.Context(), r.pods, pod, "example.com/another")
	require.ErrorContains(t, err, "has no UID")
	require.Equal(t, []string{ours}, r.get().Finalizers)
}
