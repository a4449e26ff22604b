package reference_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/reference"
)

func TestReferences(t *testing.T) { // each result is client-go's
	scheme := runtime.NewScheme()
	require.NoError(t, v1.AddToScheme(scheme))
	meta := metav1.ObjectMeta{Name: "a", Namespace: "b", UID: "u", ResourceVersion: "3"}
	for want, obj := range map[v1.ObjectReference]runtime.Object{
		{Kind: "Pod", APIVersion: "v1", Name: "a", Namespace: "b", UID: "u", ResourceVersion: "3"}: &v1.Pod{ObjectMeta: meta},
		{Kind: "X"}:                     &v1.Pod{TypeMeta: metav1.TypeMeta{Kind: "X"}},
		{Kind: "X", APIVersion: "g/v9"}: &v1.Pod{TypeMeta: metav1.TypeMeta{Kind: "X", APIVersion: "g/v9"}},
		{Kind: "PodList", APIVersion: "v1", ResourceVersion: "7"}: &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}},
	} {
		ref, err := reference.GetReference(scheme, obj)
		require.NoError(t, err)
		require.Equal(t, want, *ref)
	}
	_, err := reference.GetReference(scheme, nil)
	require.Equal(t, reference.ErrNilObject, err)
	_, err = reference.GetReference(runtime.NewScheme(), &v1.Pod{})
	require.True(t, runtime.IsNotRegisteredError(err))
	_, err = reference.GetReference(scheme, &runtime.Unknown{TypeMeta: runtime.TypeMeta{Kind: "Y", APIVersion: "v1"}})
	require.Error(t, err)

	given := &v1.ObjectReference{Name: "a"}
	ref, err := reference.GetPartialReference(scheme, given, "spec.containers{c}")
	require.NoError(t, err)
	require.Same(t, given, ref)
	require.Equal(t, "spec.containers{c}", ref.FieldPath)
}
