package contracts

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

func mutations() (cache.MutationCache, cache.Indexer) {
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"node": func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }})
	return cache.NewIntegerResourceVersionMutationCache(klog.Background(), store, store, time.Hour, true), store
}

// IX-19
func TestAWrittenObjectIsReturned(t *testing.T) {
	m, store := mutations()
	require.NoError(t, store.Add(pod("a", "1")))
	m.Mutation(pod("a", "2"))
	obj, exists, err := m.GetByKey("ns/a")
	require.NoError(t, err)
	require.True(t, exists)
	require.Equal(t, "a2", name(obj))
}

// An object without a version counts as older than every version. Objects of fakes have no version.
func TestAWrittenObjectReplacesOneWithoutAVersion(t *testing.T) {
	m, store := mutations()
	require.NoError(t, store.Add(pod("a", "")))
	shown := func() string {
		obj, _, err := m.GetByKey("ns/a")
		require.NoError(t, err)
		return name(obj)
	}
	m.Mutation(pod("a", "2"))
	require.Equal(t, "a2", shown())
	m.Mutation(pod("a", ""))
	require.Equal(t, "a2", shown(), "an object without a version is older than the earlier mutation")
	m.OnAddOrUpdate(pod("a", ""))
	require.Equal(t, "a2", shown())
	m.OnAddOrUpdate(pod("a", "2"))
	require.Equal(t, "a", shown())
	m.Mutation(pod("a", ""))
	require.Equal(t, "a", shown(), "if neither object has a version, the store's object is returned")
}

// IX-19: an object that the store does not have is returned more than once.
func TestAnAddedObjectIsReturnedMoreThanOnce(t *testing.T) {
	m, _ := mutations()
	m.Mutation(pod("a", "2"))
	for range 2 {
		_, exists, err := m.GetByKey("ns/a")
		require.NoError(t, err)
		require.True(t, exists)
	}
}

// IX-19: an object whose newer state has left the index is not returned.
func TestByIndexReturnsNothingOlderThanTheStore(t *testing.T) {
	m, store := mutations()
	old, now := pod("a", "2"), pod("a", "3")
	old.Spec.NodeName, now.Spec.NodeName = "x", "y"
	require.NoError(t, store.Add(now))
	m.Mutation(old)
	indexed, err := m.ByIndex("node", "x")
	require.NoError(t, err)
	require.Empty(t, indexed)
}

// IX-18
func TestObjectsExpire(t *testing.T) {
	store := cache.NewTTLStore(cache.MetaNamespaceKeyFunc, time.Nanosecond)
	require.NoError(t, store.Add(pod("a", "1")))
	time.Sleep(time.Millisecond)
	require.Empty(t, store.List())
}
