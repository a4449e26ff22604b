package builtin

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestClientsDecodeTypesOfOtherGroups(t *testing.T) {
	own := types{own: schemeOf(corev1.AddToScheme)}
	deployment := appsv1.SchemeGroupVersion.WithKind("Deployment")
	_, _, err := own.ObjectKinds(&appsv1.Deployment{})
	require.True(t, runtime.IsNotRegisteredError(err))
	_, err = own.New(deployment)
	require.True(t, runtime.IsNotRegisteredError(err))
	require.False(t, own.Recognizes(deployment))
	kinds, _, err := own.ObjectKinds(&metav1.Status{})
	require.NoError(t, err)
	require.Equal(t, []schema.GroupVersionKind{{Version: "v1", Kind: "Status"}}, kinds)

	whole := types{own: schemeOf(corev1.AddToScheme), fallback: schemeOf(appsv1.AddToScheme)}
	kinds, _, err = whole.ObjectKinds(&appsv1.Deployment{})
	require.NoError(t, err)
	require.Equal(t, []schema.GroupVersionKind{deployment}, kinds)
	made, err := whole.New(deployment)
	require.NoError(t, err)
	require.IsType(t, &appsv1.Deployment{}, made)
	require.True(t, whole.Recognizes(deployment))
}

func TestSchemesAreMadeOnFirstUse(t *testing.T) {
	codecs := Codecs(schema.GroupVersion{Group: "none", Version: "v1"}, func(*runtime.Scheme) error {
		t.Error("Codecs must not make the scheme")
		return nil
	})
	require.Len(t, codecs.SupportedMediaTypes(), 3)
	require.Same(t, codecs, Codecs(schema.GroupVersion{Group: "none", Version: "v1"}), "all clients of a version have the same codecs")
}

func TestPackageSchemeTakesPrecedence(t *testing.T) {
	t.Cleanup(func() { Use(nil) })
	var used runtime.NegotiatedSerializer = &struct{ runtime.NegotiatedSerializer }{}
	Use(func() runtime.NegotiatedSerializer { return used })
	require.Equal(t, used, Codecs(corev1.SchemeGroupVersion, corev1.AddToScheme))
}
