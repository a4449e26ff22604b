package cache_test

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

func labelled(name, version, label string) *v1.Pod {
	p := podAt(name, version)
	p.Labels = map[string]string{"l": label}
	return p
}

type mutationCacheFixture struct {
	cache.MutationCache
	t     *testing.T
	store cache.Indexer
}

func newMutationCacheFixture(t *testing.T, adds bool) mutationCacheFixture {
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"l": func(obj any) ([]string, error) { return []string{obj.(*v1.Pod).Labels["l"]}, nil }})
	return mutationCacheFixture{cache.NewIntegerResourceVersionMutationCache(klog.Background(), store, store, time.Minute, adds), t, store}
}

// shown returns name and version of the object ns/a from the cache, or "" if the cache does not
// return it.
func (o mutationCacheFixture) shown() string {
	obj, exists, err := o.GetByKey("ns/a")
	require.NoError(o.t, err)
	if !exists {
		require.Nil(o.t, obj)
		return ""
	}
	return name(obj)
}

func (o mutationCacheFixture) byIndex(value string) (names []string) {
	objs, err := o.ByIndex("l", value)
	require.NoError(o.t, err)
	for _, obj := range objs {
		names = append(names, name(obj))
	}
	return names
}

// IX-19, first part
func TestAWrittenObjectIsReturnedUntilTheStoreHasIt(t *testing.T) {
	o := newMutationCacheFixture(t, false)
	o.Mutation(podAt("a", "2"))
	require.Empty(t, o.shown(), "without IncludeAdds, objects that the store lacks are not returned")
	require.NoError(t, o.store.Add(podAt("a", "1")))
	require.Equal(t, "a@2", o.shown())
	o.Mutation(podAt("a", "10"))
	o.Mutation(podAt("a", "9"))
	require.Equal(t, "a@10", o.shown(), "versions are compared as numbers")
	require.NoError(t, o.store.Update(podAt("a", "11")))
	require.Equal(t, "a@11", o.shown())
	require.NoError(t, o.store.Update(podAt("a", "1")))
	require.Equal(t, "a@1", o.shown(), "an entry that is not newer than the store is dropped")
}

// IX-19: includeAdds
func TestAnAddedObjectIsReturnedBeforeTheStoreHasIt(t *testing.T) {
	o := newMutationCacheFixture(t, true)
	o.Mutation(labelled("a", "2", "x"))
	require.Equal(t, "a@2", o.shown())
	require.Equal(t, "a@2", o.shown(), "the object is returned again, unlike in client-go")
	require.Equal(t, []string{"a@2"}, o.byIndex("x"))
	require.Empty(t, o.byIndex("y"))
	require.NoError(t, o.store.Add(labelled("a", "3", "y")))
	require.Empty(t, o.byIndex("x"), "the store has a newer state")
	require.Equal(t, []string{"a@3"}, o.byIndex("y"))
	o.Mutation(labelled("a", "4", "z"))
	require.Equal(t, []string{"a@4"}, o.byIndex("y"), "the store's index still has the key under y")
	require.Equal(t, []string{"a@4"}, o.byIndex("z"))
	_, err := o.ByIndex("none", "x")
	require.EqualError(t, err, "Index with name none does not exist")
	_, err = cache.NewIntegerResourceVersionMutationCache(klog.Background(), o.store, nil, 0, false).ByIndex("l", "x")
	require.ErrorContains(t, err, "no indexer")
}

// IX-19: OnAddOrUpdate, OnDelete
func TestHandlersRemoveWrittenObjects(t *testing.T) {
	o := newMutationCacheFixture(t, true)
	o.Mutation(podAt("a", "2"))
	o.OnAddOrUpdate(podAt("a", "1"))
	require.Equal(t, "a@2", o.shown())
	o.OnAddOrUpdate(podAt("a", "2"))
	require.Empty(t, o.shown())

	o.Mutation(podAt("a", "5"))
	o.OnDelete(podAt("a", "3"))
	require.Empty(t, o.shown(), "the deletion drops the written state")
	o.Mutation(podAt("a", "6"))
	require.Empty(t, o.shown(), "a late response about a deleted object is ignored")
	successor := podAt("a", "7")
	successor.UID = types.UID("other")
	o.Mutation(successor)
	require.Equal(t, "a@7", o.shown())
	o.OnDelete(podAt("a", "4"))
	require.Equal(t, "a@7", o.shown(), "the deletion was about an earlier object with the same name")
	o.OnDelete(podAt("a", "8"))
	require.Empty(t, o.shown())
	require.Empty(t, o.byIndex(""))
}

func TestWrittenObjectsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newMutationCacheFixture(t, true)
		o.Mutation(podAt("a", "2"))
		time.Sleep(59 * time.Second)
		require.Equal(t, "a@2", o.shown())
		time.Sleep(2 * time.Second)
		require.Empty(t, o.shown())
	})
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	small := cache.NewIntegerResourceVersionMutationCacheWithOptions(klog.Background(), store, cache.MutationCacheOptions{IncludeAdds: true, MaxCacheSize: 1})
	small.Mutation(podAt("a", "1"))
	small.Mutation(podAt("b", "1"))
	_, exists, err := small.GetByKey("ns/a")
	require.NoError(t, err)
	require.False(t, exists)
}
