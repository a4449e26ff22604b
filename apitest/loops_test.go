package apitest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/workloads"
)

func configMap(name string, owners ...Object) *corev1.ConfigMap {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}}
	for _, o := range owners {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: o.GetName(), UID: o.GetUID()})
	}
	return m
}

// TestLoopProcessesAllChangesBeforeItActs: objects are written while a loop reads one resource
// after another. So the loop may have read one of two related objects and not the other, until it
// has processed later changes.
func TestLoopProcessesAllChangesBeforeItActs(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log []string
	workloads.RunLoop(ctx, s.store, workloads.ChangeLoop{
		Start: func() {
			_, err := s.Create(configMap("meanwhile"))
			require.NoError(t, err)
			log = append(log, "start")
		},
		Change: func(c *storage.Change) { log = append(log, c.Cur.Key.Name) },
		OnIdle: func() { log = append(log, "act"); cancel() },
	})
	require.Equal(t, []string{"start", "meanwhile", "act"}, log)
}

// TestObjectWithANewOwnerIsNotCollected: the collector decides by an old state, while a client has
// already written a new owner.
func TestObjectWithANewOwnerIsNotCollected(t *testing.T) {
	t.Parallel()
	s := New(Options{GarbageCollection: true})
	defer s.Close()
	made := func(m *corev1.ConfigMap) Object {
		obj, err := s.Create(m)
		require.NoError(t, err)
		return obj
	}
	gone, owner := configMap("gone"), made(configMap("owner"))
	gone.UID = "gone"
	adopted := made(configMap("adopted", gone))
	made(configMap("lost", gone))

	g := workloads.NewGarbageCollector(s.cluster())
	g.Start()
	adopted.SetOwnerReferences(configMap("", owner).OwnerReferences)
	_, err := s.Update(adopted)
	require.NoError(t, err)
	g.CheckDue()
	left, _, err := s.List(corev1.SchemeGroupVersion.WithResource("configmaps"), "a")
	require.NoError(t, err)
	var names []string
	for _, obj := range left {
		names = append(names, obj.GetName())
	}
	require.Equal(t, []string{"adopted", "owner"}, names)
}
