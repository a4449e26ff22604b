package cache

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func testPod(namespace, name, version string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: version,
		Labels: map[string]string{"name": name}}}
}

var errIndex = errors.New("no value")

func byName(obj interface{}) ([]string, error) {
	pod := obj.(*v1.Pod)
	if pod.Name == "bad" {
		return nil, errIndex
	}
	return []string{pod.Name, pod.Name, "all"}, nil
}

// IX-1, IX-2, IX-16
func TestStoreKeepsObjects(t *testing.T) {
	store := NewStore(MetaNamespaceKeyFunc)
	a, b := testPod("x", "a", "7"), testPod("", "b", "5")
	require.NoError(t, store.Add(a))
	require.Equal(t, "7", store.LastStoreSyncResourceVersion())
	require.NoError(t, store.Update(b))
	require.Equal(t, "5", store.LastStoreSyncResourceVersion())
	got, exists, err := store.Get(testPod("x", "a", ""))
	require.NoError(t, err)
	require.True(t, exists)
	require.Same(t, a, got)
	require.ElementsMatch(t, []string{"x/a", "b"}, store.ListKeys())
	require.ElementsMatch(t, []interface{}{a, b}, store.List())
	require.NoError(t, store.Delete(testPod("x", "gone", "")))
	require.NoError(t, store.Delete(ExplicitKey("x/a")))
	_, exists, err = store.GetByKey("x/a")
	require.NoError(t, err)
	require.False(t, exists)
	require.NoError(t, store.Resync())
}

// Keys may be any strings, and different strings are different keys.
func TestKeysAreAnyStrings(t *testing.T) {
	store := NewThreadSafeStore(nil, nil)
	keys := []string{"", "/", "a", "/a", "a/", "a/b", "a/b/c", "//", "/a/b", "a//b"}
	for _, key := range keys {
		store.Add(key, key)
	}
	require.ElementsMatch(t, keys, store.ListKeys())
	for _, key := range keys {
		got, exists := store.Get(key)
		require.True(t, exists, key)
		require.Equal(t, key, got)
	}
}

// IX-5, IX-7 to IX-12
func TestIndexer(t *testing.T) {
	indexers := Indexers{"name": byName}
	store := NewIndexer(MetaNamespaceKeyFunc, indexers)
	a, b := testPod("x", "a", "1"), testPod("y", "a", "2")
	require.NoError(t, store.Add(a))
	require.NoError(t, store.Add(b))

	objs, err := store.ByIndex("name", "a")
	require.NoError(t, err)
	require.ElementsMatch(t, []interface{}{a, b}, objs)
	objs, err = store.ByIndex("name", "nobody")
	require.NoError(t, err)
	require.NotNil(t, objs)
	require.Empty(t, objs)
	objs, err = store.Index("name", a) // of "a", "a" and "all", each object once
	require.NoError(t, err)
	require.Len(t, objs, 2)
	keys, err := store.IndexKeys("name", "all")
	require.NoError(t, err)
	require.Equal(t, []string{"x/a", "y/a"}, keys)
	require.ElementsMatch(t, []string{"a", "all"}, store.ListIndexFuncValues("name"))
	require.NotNil(t, store.ListIndexFuncValues("none"))

	_, err = store.ByIndex("none", "a")
	require.EqualError(t, err, "Index with name none does not exist")
	_, err = store.IndexKeys("none", "a")
	require.Error(t, err)
	_, err = store.Index("none", a)
	require.Error(t, err)
	_, err = store.Index("name", testPod("x", "bad", "1"))
	require.ErrorIs(t, err, errIndex)

	require.Error(t, store.AddIndexers(Indexers{"name": byName, NamespaceIndex: MetaNamespaceIndexFunc}))
	require.Len(t, store.GetIndexers(), 1)
	require.NoError(t, store.AddIndexers(Indexers{NamespaceIndex: MetaNamespaceIndexFunc}))
	require.Len(t, indexers, 2, "GetIndexers returns the store's own map")
	objs, err = store.Index(NamespaceIndex, &metav1.ObjectMeta{Namespace: "y"})
	require.NoError(t, err)
	require.Equal(t, []interface{}{b}, objs)
}

// IX-6: the object is stored. It is missing only in the index whose function has failed.
func TestIndexFunctionFails(t *testing.T) {
	store := NewIndexer(MetaNamespaceKeyFunc, Indexers{"name": byName, NamespaceIndex: MetaNamespaceIndexFunc})
	bad, good := testPod("x", "bad", "1"), testPod("x", "good", "1")
	require.Panics(t, func() { _ = store.Add(bad) })
	require.Equal(t, []interface{}{bad}, store.List())
	require.Empty(t, store.ListIndexFuncValues("name"))
	require.Equal(t, []string{"x"}, store.ListIndexFuncValues(NamespaceIndex))
	require.Panics(t, func() { _ = store.Replace([]interface{}{good, bad}, "1") })
	require.ElementsMatch(t, []interface{}{good, bad}, store.List())
	require.ElementsMatch(t, []string{"good", "all"}, store.ListIndexFuncValues("name"))
	require.NoError(t, store.Add(good), "a failure of an index function causes one panic")

	plain := NewIndexer(MetaNamespaceKeyFunc, Indexers{})
	require.NoError(t, plain.Replace([]interface{}{good, bad}, "1"))
	require.Panics(t, func() { _ = plain.AddIndexers(Indexers{"name": byName}) })
	require.ElementsMatch(t, []string{"good", "all"}, plain.ListIndexFuncValues("name"))
}

// The write panics with the value of the index function's panic.
func TestIndexFunctionPanics(t *testing.T) {
	own := errors.New("own")
	store := NewIndexer(MetaNamespaceKeyFunc, Indexers{"name": func(interface{}) ([]string, error) { panic(own) }})
	require.PanicsWithValue(t, own, func() { _ = store.Add(testPod("x", "a", "1")) })
	require.Len(t, store.List(), 1)
}

// IX-13, IX-14, IX-17
func TestStoreKeyErrors(t *testing.T) {
	errKey := errors.New("no key")
	store := NewStore(func(obj interface{}) (string, error) {
		if key, ok := obj.(string); ok {
			return key, nil
		}
		return "", errKey
	})
	require.NoError(t, store.Add("a"))
	var keyError KeyError
	for _, err := range []error{store.Add(1), store.Update(1), store.Delete(1), store.Replace([]interface{}{"b", 1}, "9")} {
		require.ErrorIs(t, err, errKey)
		require.ErrorAs(t, err, &keyError)
	}
	require.Equal(t, []string{"a"}, store.ListKeys())

	failed := store.(TransactionStore).Transaction(
		Transaction{Object: "b", Type: TransactionTypeAdd}, Transaction{Object: 1, Type: TransactionTypeUpdate},
		Transaction{Object: "a", Type: TransactionTypeDelete})
	require.NotNil(t, failed)
	require.Equal(t, []int{0, 2}, failed.SuccessfulIndices)
	require.Equal(t, 3, failed.TotalTransactions)
	require.ErrorIs(t, failed.Errors[0], errKey)
	require.Equal(t, []string{"b"}, store.ListKeys())
	require.Nil(t, store.(TransactionStore).Transaction(Transaction{Object: "c", Type: TransactionTypeAdd}))
	require.NoError(t, store.Replace([]interface{}{"d"}, "9"))
	require.Equal(t, []interface{}{"d"}, store.List())
	require.Equal(t, "9", store.LastStoreSyncResourceVersion())
}

func TestListIsOneAllocation(t *testing.T) {
	store := NewStore(MetaNamespaceKeyFunc)
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, store.Add(testPod("x", name, "1")))
	}
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { store.List() }), 1.0)
}

func TestListers(t *testing.T) {
	for _, indexers := range []Indexers{{}, {NamespaceIndex: MetaNamespaceIndexFunc}} {
		store := NewIndexer(MetaNamespaceKeyFunc, indexers)
		a, b := testPod("x", "a", "1"), testPod("y", "b", "2")
		require.NoError(t, store.Add(a))
		require.NoError(t, store.Add(b))
		lister := NewGenericLister(store, schema.GroupResource{Resource: "pods"})
		all, err := lister.List(labels.Everything())
		require.NoError(t, err)
		require.Len(t, all, 2)
		none, err := lister.List(labels.Nothing())
		require.NoError(t, err)
		require.Nil(t, none)
		some, err := lister.ByNamespace("x").List(labels.Set{"name": "a"}.AsSelector())
		require.NoError(t, err)
		require.Len(t, some, 1)
		some, err = lister.ByNamespace("x").List(labels.Set{"name": "b"}.AsSelector())
		require.NoError(t, err)
		require.Empty(t, some)
		got, err := lister.ByNamespace("y").Get("b")
		require.NoError(t, err)
		require.Same(t, b, got)
		_, err = lister.ByNamespace("x").Get("b")
		require.EqualError(t, err, `pods "b" not found`)
	}
}

func TestKeys(t *testing.T) {
	key, err := DeletionHandlingMetaNamespaceKeyFunc(DeletedFinalStateUnknown{Key: "x/a"})
	require.NoError(t, err)
	require.Equal(t, "x/a", key)
	namespace, name, err := SplitMetaNamespaceKey("x/a")
	require.NoError(t, err)
	require.Equal(t, []string{"x", "a"}, []string{namespace, name})
	_, _, err = SplitMetaNamespaceKey("x/a/b")
	require.EqualError(t, err, `unexpected key format: "x/a/b"`)
	_, err = MetaNamespaceKeyFunc(1)
	require.Error(t, err)
}
