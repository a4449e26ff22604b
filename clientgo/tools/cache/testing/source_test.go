package framework_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	framework "k8s.io/client-go/tools/cache/testing"
)

// Programs test with this error how reflectors and RetryWatchers continue, so its reason must be
// client-go's.
func TestAWatchFromADroppedVersionIsExpired(t *testing.T) {
	source := framework.NewFakeControllerSource()
	defer source.Shutdown()
	source.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "1"}})
	_, err := source.Watch(metav1.ListOptions{ResourceVersion: "0"})
	require.True(t, apierrors.IsResourceExpired(err), err)
	require.EqualError(t, err, "too old resource version: 0 (1)")

	source.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "2"}})
	w, err := source.Watch(metav1.ListOptions{ResourceVersion: "1"})
	require.NoError(t, err)
	require.Equal(t, "2", (<-w.ResultChan()).Object.(*corev1.Pod).Name)
	w.Stop()

	source.ResetWatch()
	_, err = source.Watch(metav1.ListOptions{ResourceVersion: "1"})
	require.True(t, apierrors.IsResourceExpired(err), err)
	w, err = source.Watch(metav1.ListOptions{ResourceVersion: "2"})
	require.NoError(t, err)
	w.Stop()
}
