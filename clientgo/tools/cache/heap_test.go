package cache_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
)

func newHeap() *cache.Heap {
	return cache.NewHeap(cache.MetaNamespaceKeyFunc, func(a, b any) bool { return a.(*v1.Pod).ResourceVersion < b.(*v1.Pod).ResourceVersion })
}

func TestAHeapPopsTheLeastFirst(t *testing.T) {
	h := newHeap()
	model := map[string]string{}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		p := podAt(strconv.Itoa(random.IntN(20)), strconv.Itoa(100+random.IntN(900)))
		key := "ns/" + p.Name
		_, known := model[key]
		switch random.IntN(5) {
		case 0:
			require.NoError(t, h.Add(p))
			model[key] = p.ResourceVersion
		case 1:
			require.NoError(t, h.Update(p))
			model[key] = p.ResourceVersion
		case 2:
			require.NoError(t, h.AddIfNotPresent(p))
			if !known {
				model[key] = p.ResourceVersion
			}
		case 3:
			require.Equal(t, known, h.Delete(p) == nil)
			delete(model, key)
		case 4:
			if len(model) > 0 {
				obj, err := h.Pop()
				require.NoError(t, err)
				least := obj.(*v1.Pod)
				require.Equal(t, model["ns/"+least.Name], least.ResourceVersion)
				for _, version := range model {
					require.LessOrEqual(t, least.ResourceVersion, version)
				}
				delete(model, "ns/"+least.Name)
			}
		}
		require.Len(t, h.List(), len(model))
		obj, exists, err := h.GetByKey(key)
		require.NoError(t, err)
		require.Equal(t, model[key] != "", exists)
		if exists {
			require.Equal(t, model[key], obj.(*v1.Pod).ResourceVersion)
		}
	}
	keys := h.ListKeys()
	slices.Sort(keys)
	require.Len(t, slices.Compact(keys), len(model))
}

func TestPopOfAHeapWaitsUntilAddOrClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeap()
		got := make(chan string)
		go func() {
			obj, err := h.Pop()
			require.NoError(t, err)
			got <- name(obj)
		}()
		synctest.Wait()
		require.NoError(t, h.BulkAdd([]any{podAt("a", "3"), podAt("b", "1"), podAt("c", "2")}))
		require.Equal(t, "b@1", <-got)
		h.Close()
		require.True(t, h.IsClosed())
		for _, err := range []error{h.Add(pod("x")), h.Update(pod("x")), h.BulkAdd(nil), h.AddIfNotPresent(pod("a"))} {
			require.EqualError(t, err, "heap is closed")
		}
		require.NoError(t, h.Delete(pod("a")))
		require.EqualError(t, h.Delete(pod("a")), "object not found")
		obj, err := h.Pop()
		require.NoError(t, err)
		require.Equal(t, "c@2", name(obj))
		_, err = h.Pop()
		require.EqualError(t, err, "heap is closed")
	})
}

func TestAHeapWrapsErrorsOfKeys(t *testing.T) {
	h := newHeap()
	_, _, err := h.Get(1)
	for _, err := range []error{err, h.Add(1), h.AddIfNotPresent(1), h.Delete(1), h.BulkAdd([]any{pod("a"), 1, pod("b")})} {
		require.ErrorAs(t, err, &cache.KeyError{})
	}
	require.Equal(t, []string{"ns/a"}, h.ListKeys(), "objects before the error stay queued")
}
