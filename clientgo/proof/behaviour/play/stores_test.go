package play

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
)

func byLabel(label string) cache.IndexFunc {
	return func(obj any) ([]string, error) {
		value := obj.(*corev1.Pod).Labels[label]
		if value == "none" {
			return nil, nil
		}
		return []string{value, value}, nil
	}
}

// playIndexer covers IX-1 to IX-17.
func playIndexer(_ *testing.T, p *player) {
	var opts []cache.StoreOption
	if p.chance(3) {
		opts = append(opts, cache.WithTransformer(transformed))
	}
	key := cache.KeyFunc(cache.MetaNamespaceKeyFunc)
	if p.chance(2) {
		key = cache.DeletionHandlingMetaNamespaceKeyFunc
	}
	var store cache.Store = cache.NewIndexer(key, cache.Indexers{"color": byLabel("color")}, opts...)
	indexer := store.(cache.Indexer)
	if p.chance(4) {
		store = &cache.UndeltaStore{Store: indexer, PushFunc: func(objs []any) { p.trace("pushed %v", sorted(showAll(objs))) }}
	}
	// Without tombstones: some key functions support them, but the index functions of the store do
	// not.
	object := func() any {
		if p.chance(20) {
			return "no object"
		}
		return p.pod()
	}
	for range 40 {
		switch p.IntN(9) {
		case 0, 1:
			o := object()
			p.trace("add %s: %s", show(o), kind(store.Add(o)))
		case 2, 3:
			o := object()
			p.trace("update %s: %s", show(o), kind(store.Update(o)))
		case 4:
			o := p.anyObject()
			p.trace("delete %s: %s", show(o), kind(store.Delete(o)))
		case 5:
			list := p.pods(5)
			if p.chance(5) {
				list = append(list, "no object")
			}
			p.trace("replace %v: %s", showAll(list), kind(store.Replace(list, "r")))
		case 6:
			var txns []cache.Transaction
			for range 1 + p.IntN(4) {
				txns = append(txns, cache.Transaction{Object: object(), Type: []cache.TransactionType{
					cache.TransactionTypeAdd, cache.TransactionTypeUpdate, cache.TransactionTypeDelete}[p.IntN(3)]})
			}
			var err error
			if e := indexer.(cache.TransactionStore).Transaction(txns...); e != nil {
				err = e
			}
			p.trace("transaction %v: %s", showTransactions(txns), kind(err))
		case 7:
			p.trace("add index even: %s", kind(indexer.AddIndexers(cache.Indexers{"even": byLabel("even")})))
		case 8:
			store.Bookmark("b")
			p.trace("resync: %s", kind(store.Resync()))
		}
		p.showStore(store)
		for _, index := range []string{"color", "even"} {
			p.trace("  %s: values %v", index, sorted(indexer.ListIndexFuncValues(index)))
			for _, value := range []string{"red", "blue", "true"} {
				objs, err := indexer.ByIndex(index, value)
				keys, err2 := indexer.IndexKeys(index, value)
				p.trace("    %s: %v %s, %v %s, nil %v", value, sorted(showAll(objs)), kind(err), keys, kind(err2), objs == nil)
			}
			like := p.pod()
			objs, err := indexer.Index(index, like)
			p.trace("    as %s: %v %s", show(like), sorted(showAll(objs)), kind(err))
		}
	}
}

func showTransactions(txns []cache.Transaction) (all []string) {
	for _, t := range txns {
		all = append(all, string(t.Type)+":"+show(t.Object))
	}
	return all
}

func (p *player) showStore(store cache.Store) {
	p.trace("  has %v, keys %v, at %s", sorted(showAll(store.List())), sorted(store.ListKeys()), store.LastStoreSyncResourceVersion())
	o := p.anyObject()
	obj, exists, err := store.Get(o)
	p.trace("  get %s: %s %v %s", show(o), show(obj), exists, kind(err))
	obj, exists, err = store.GetByKey("ns/p1")
	p.trace("  get ns/p1: %s %v %s", show(obj), exists, kind(err))
}

// playThreadSafe covers the same contracts for a ThreadSafeStore, whose keys need not be names of
// objects.
func playThreadSafe(_ *testing.T, p *player) {
	store := cache.NewThreadSafeStore(cache.Indexers{"color": byLabel("color")}, cache.Indices{})
	keys := []string{"", "a", "a/", "/a", "a/b", "a/b/c", "//"}
	for range 40 {
		key, o := keys[p.IntN(len(keys))], p.pod()
		p.trace("%q %s", key, show(o))
		switch p.IntN(6) {
		case 0:
			store.Add(key, o)
		case 1:
			store.Update(key, o)
		case 2:
			store.Delete(key)
		case 3:
			store.DeleteWithObject(key, o)
		case 4:
			store.Replace(map[string]any{key: o, keys[p.IntN(len(keys))]: o}, "r")
		case 5:
			store.(cache.ThreadSafeStoreWithTransaction).Transaction(cache.ThreadSafeStoreTransaction{
				Transaction: cache.Transaction{Object: o, Type: cache.TransactionTypeDelete}, Key: key})
		}
		obj, exists := store.Get(key)
		all, err := store.IndexKeys("color", "red")
		p.trace("  %s %v, %q %v, %q %s, at %s", show(obj), exists, sorted(store.ListKeys()), sorted(showAll(store.List())), all, kind(err), store.LastStoreSyncResourceVersion())
	}
}

// playExpiration covers IX-18.
func playExpiration(_ *testing.T, p *player) {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	gone := make(chan string, 1000)
	store := cache.NewFakeExpirationStore(cache.MetaNamespaceKeyFunc, gone, &cache.TTLPolicy{TTL: time.Duration(p.IntN(4)) * time.Second, Clock: clock}, clock)
	for range 40 {
		o := p.anyObject()
		switch p.IntN(5) {
		case 0:
			p.trace("add %s: %s", show(o), kind(store.Add(o)))
		case 1:
			p.trace("update %s: %s", show(o), kind(store.Update(o)))
		case 2:
			p.trace("delete %s: %s", show(o), kind(store.Delete(o)))
		case 3:
			p.trace("replace: %s", kind(store.Replace(p.pods(4), "r")))
		case 4:
			clock.Step(time.Duration(p.IntN(4)) * 500 * time.Millisecond)
		}
		p.trace("  keys %v", sorted(store.ListKeys()))
		if p.chance(2) {
			p.showStore(store)
		}
		var expired []string
		for len(gone) > 0 {
			expired = append(expired, <-gone)
		}
		p.trace("  expired %v", sorted(expired))
	}
}

// playMutation covers IX-19. It calls GetByKey only for keys in the store, because for other keys
// client-go drops the mutation. It drops deleted objects from the results, because client-go still
// returns them.
func playMutation(_ *testing.T, p *player) {
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"namespace": cache.MetaNamespaceIndexFunc})
	mutations := cache.NewIntegerResourceVersionMutationCache(klog.Background(), store, store, time.Hour, p.chance(2))
	var known []*corev1.Pod
	pod := func() *corev1.Pod { // sometimes an older version
		if o := p.pod(); len(known) == 0 || p.chance(2) {
			known = append(known, o)
		}
		o := known[p.IntN(len(known))].DeepCopy()
		if p.chance(4) {
			o.UID = "other"
		}
		return o
	}
	for range 40 {
		o := pod()
		op := p.IntN(7)
		p.trace("%d %s %s", op, show(o), o.UID)
		switch op {
		case 0, 1:
			_ = store.Add(o)
		case 2:
			_ = store.Delete(o)
		case 3, 4:
			mutations.Mutation(o)
		case 5:
			mutations.OnAddOrUpdate(o)
		case 6:
			mutations.OnDelete(o)
		}
		for _, key := range store.ListKeys() {
			if key != "ns/p0" {
				continue
			}
			obj, exists, err := mutations.GetByKey(key)
			if _, ok := obj.(*corev1.Pod); !ok { // client-go's record of a deletion
				obj, exists = nil, false
			}
			p.trace("  %s: %s %v %s", key, show(obj), exists, kind(err))
		}
		objs, err := mutations.ByIndex("namespace", "ns")
		var shown []string
		for _, obj := range objs {
			// client-go also returns its records of deleted objects
			if pod, ok := obj.(*corev1.Pod); ok {
				shown = append(shown, show(pod))
			}
		}
		p.trace("  %v %s", sorted(shown), kind(err))
	}
}
