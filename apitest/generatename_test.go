package apitest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// constantSource is a random source that always returns the same number.
type constantSource struct{ asked int }

func (s *constantSource) Uint64() uint64 {
	s.asked++
	return 1 << 63
}

func TestGeneratedNameCollisionsAreRetried(t *testing.T) {
	t.Parallel()
	srv := New(Options{})
	t.Cleanup(srv.Close)
	source := &constantSource{}
	srv.ids.random = rand.New(source)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", GenerateName: "p-"}}
	_, err := srv.Create(pod)
	require.NoError(t, err)
	once := source.asked
	_, err = srv.Create(pod)
	require.True(t, apierrors.IsAlreadyExists(err), "%v", err)
	require.ErrorContains(t, err, "was not able to generate a unique name")
	require.Equal(t, once+generateAttempts*once, source.asked)
}
