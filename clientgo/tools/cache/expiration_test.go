package cache_test

import (
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/sets"
	clocktesting "k8s.io/utils/clock/testing"
)

// IX-18
func TestExpiredObjectsAreRemovedOnRead(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	expired := make(chan string, 10)
	store := cache.NewFakeExpirationStore(cache.MetaNamespaceKeyFunc, expired, &cache.TTLPolicy{TTL: time.Second, Clock: clock}, clock)
	require.NoError(t, store.Replace([]any{pod("a"), pod("b")}, "7"))
	clock.Step(time.Second)
	_, exists, err := store.GetByKey("ns/a")
	require.NoError(t, err)
	require.True(t, exists, "an object whose age is exactly the TTL has not expired")
	require.NoError(t, store.Update(pod("b")))
	clock.Step(1)
	require.Len(t, store.ListKeys(), 2, "only reads of objects remove expired objects")
	require.Equal(t, []any{pod("b")}, store.List())
	require.Equal(t, []string{"ns/b"}, store.ListKeys())
	require.Equal(t, "ns/a", <-expired)
	_, exists, err = store.Get(pod("a"))
	require.NoError(t, err)
	require.False(t, exists)

	require.NoError(t, store.Add(pod("a")))
	_, exists, err = store.Get(pod("a"))
	require.NoError(t, err)
	require.True(t, exists)
	require.NoError(t, store.Delete(pod("a")))
	require.NoError(t, store.Delete(pod("a")))
	require.Empty(t, expired, "Delete sends no key to the channel")
	require.Equal(t, []string{"ns/b"}, store.ListKeys())
	clock.Step(time.Hour)
	_, exists, err = store.GetByKey("ns/b")
	require.NoError(t, err)
	require.False(t, exists)
	require.NoError(t, store.Resync())
}

func TestVersionOfAnExpirationStore(t *testing.T) {
	store := cache.NewTTLStore(cache.MetaNamespaceKeyFunc, 0)
	p := pod("a")
	p.ResourceVersion = "3"
	require.NoError(t, store.Add(p))
	require.Empty(t, store.LastStoreSyncResourceVersion(), "an entry has no version")
	require.NoError(t, store.Replace(nil, "4"))
	require.Equal(t, "4", store.LastStoreSyncResourceVersion())
	require.NoError(t, store.Delete(p))
	require.Equal(t, "3", store.LastStoreSyncResourceVersion())
	store.Bookmark("5")
	require.Equal(t, "5", store.LastStoreSyncResourceVersion())
}

// IX-14
func TestExpirationStoreWrapsErrorsOfKeys(t *testing.T) {
	store := cache.NewTTLStore(cache.MetaNamespaceKeyFunc, 0)
	_, _, err := store.Get(1)
	for _, err := range []error{err, store.Add(1), store.Update(1), store.Delete(1), store.Replace([]any{pod("a"), 1}, "9")} {
		require.ErrorAs(t, err, &cache.KeyError{})
	}
	require.Empty(t, store.ListKeys())
}

func TestFakePolicyNeverExpiresSomeObjects(t *testing.T) {
	store := cache.NewExpirationStore(cache.MetaNamespaceKeyFunc, &cache.FakeExpirationPolicy{
		NeverExpire:     sets.New("ns/a"),
		RetrieveKeyFunc: func(obj any) (string, error) { return cache.MetaNamespaceKeyFunc(obj.(*cache.TimestampedEntry).Obj) },
	})
	require.NoError(t, store.Replace([]any{pod("a"), pod("b")}, ""))
	require.Equal(t, []any{pod("a")}, store.List())
}

func TestACustomStoreCallsItsFunctions(t *testing.T) {
	var store cache.FakeCustomStore
	var _ cache.Store = &store
	require.NoError(t, store.Add(1))
	require.NoError(t, store.Update(1))
	require.NoError(t, store.Delete(1))
	require.NoError(t, store.Replace(nil, ""))
	require.NoError(t, store.Resync())
	require.Nil(t, store.List())
	require.Nil(t, store.ListKeys())
	require.Empty(t, store.LastStoreSyncResourceVersion())
	store.Bookmark("1")
	_, exists, err := store.GetByKey("a")
	require.NoError(t, err)
	require.False(t, exists)

	var calls []string
	note := func(name string) func(any) error {
		return func(any) error { calls = append(calls, name); return nil }
	}
	store = cache.FakeCustomStore{
		AddFunc: note("add"), UpdateFunc: note("update"), DeleteFunc: note("delete"),
		ListFunc:                         func() []any { return []any{1} },
		ListKeysFunc:                     func() []string { return []string{"k"} },
		GetFunc:                          func(any) (any, bool, error) { return 2, true, nil },
		GetByKeyFunc:                     func(string) (any, bool, error) { return 3, true, nil },
		ReplaceFunc:                      func([]any, string) error { return note("replace")(nil) },
		ResyncFunc:                       func() error { return note("resync")(nil) },
		BookmarkFunc:                     func(rv string) { calls = append(calls, "bookmark "+rv) },
		LastStoreSyncResourceVersionFunc: func() string { return "9" },
	}
	require.NoError(t, store.Add(1))
	require.NoError(t, store.Update(1))
	require.NoError(t, store.Delete(1))
	require.NoError(t, store.Replace(nil, ""))
	require.NoError(t, store.Resync())
	store.Bookmark("4")
	require.Equal(t, []string{"add", "update", "delete", "replace", "resync", "bookmark 4"}, calls)
	require.Equal(t, []any{1}, store.List())
	require.Equal(t, []string{"k"}, store.ListKeys())
	two, _, _ := store.Get(1)
	three, _, _ := store.GetByKey("")
	require.Equal(t, []any{2, 3, "9"}, []any{two, three, store.LastStoreSyncResourceVersion()})
}
