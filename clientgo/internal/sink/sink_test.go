package sink

import (
	"context"
	"testing"

	"github.com/kinform/kinform/listwatch"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAListIsTakenOnce(t *testing.T) {
	var progress int
	s := &Sink{Progress: func() { progress++ }}
	require.Same(t, s, From(With(t.Context(), s)))
	require.Nil(t, From(context.Background()))

	failed, list := &metav1.PartialObjectMetadataList{}, &metav1.PartialObjectMetadataList{}
	require.True(t, s.Begin(failed))
	s.Add(listwatch.Item[any]{ResourceVersion: "1"})
	require.True(t, s.Begin(list), "Begin accepts another list after a failed request")
	s.Add(listwatch.Item[any]{ResourceVersion: "2"})
	s.End()
	require.False(t, s.Begin(&metav1.PartialObjectMetadataList{}), "after End, Begin returns false")

	_, _, ok := s.Take(failed)
	require.False(t, ok)
	items, _, ok := s.Take(list)
	require.True(t, ok)
	require.Len(t, items, 1)
	require.Equal(t, "2", items[0].ResourceVersion)
	require.Equal(t, 2, progress)
}

func TestAnIncompleteListIsNotTaken(t *testing.T) {
	s, list := &Sink{}, &metav1.PartialObjectMetadataList{}
	require.True(t, s.Begin(list))
	s.Add(listwatch.Item[any]{})
	_, _, ok := s.Take(list)
	require.False(t, ok)
	require.False(t, s.Begin(list), "after Take, Begin returns false")
}
