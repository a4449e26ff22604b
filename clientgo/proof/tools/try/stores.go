package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	testclock "k8s.io/utils/clock/testing"

	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/cache/synctrack"
)

func named(namespace, name, version string, more ...string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: version, UID: "u"}}
	if len(more) > 0 {
		p.Labels = map[string]string{"app": more[0]}
	}
	return p
}

// keysOf returns the sorted keys of objects.
func keysOf(objects []any) string {
	var all []string
	for _, object := range objects {
		if p, ok := object.(*v1.Pod); ok {
			all = append(all, p.Namespace+"/"+p.Name+"@"+p.ResourceVersion)
		} else {
			all = append(all, fmt.Sprintf("%T %v", object, object))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func got(object any, exists bool, err error) string {
	if object == nil {
		return fmt.Sprint("nothing ", exists, " ", kindOf(err))
	}
	return fmt.Sprint(keysOf([]any{object}), " ", exists, " ", kindOf(err))
}

func tryStores() {
	tryListers()
	tryExpiring()
	tryMutations()
	tryUndelta()
	tryHeaps()
	tryTrackers()
	tryRetriesWithDeadline()
	tryInformerNames()
	try("store: errors", func(o *outcome) {
		s := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "app": func(object any) ([]string, error) {
			if p, ok := object.(*v1.Pod); ok {
				return []string{p.Labels["app"]}, nil
			}
			return nil, errors.New("no pod")
		}})
		o.line(kindOf(s.Add(3)), kindOf(s.Update(3)), kindOf(s.Delete(3)), kindOf(s.Replace([]any{named("a", "b", "1"), 3}, "9")))
		o.line(keysOf(s.List()), got(s.Get(3)))
		o.line(kindOf(s.Add(named("a", "b", "1", "x"))), kindOf(s.Resync()))
		o.line(s.AddIndexers(cache.Indexers{"app": nil}) != nil, s.AddIndexers(cache.Indexers{"more": cache.MetaNamespaceIndexFunc}), len(s.GetIndexers()))
		for _, index := range []string{"app", "namespace", "more", "none"} {
			found, err := s.ByIndex(index, "x")
			o.line(index, keysOf(found), kindOf(err))
			found, err = s.Index(index, named("a", "c", "1", "x"))
			o.line(index, keysOf(found), kindOf(err))
			keys, err := s.IndexKeys(index, "a")
			o.line(index, keys, kindOf(err), s.ListIndexFuncValues(index))
		}
		o.panics("index of a failing function", func() {
			_, err := s.Index("app", 3)
			o.line(kindOf(err))
		})
		o.panics("an object that cannot be indexed", func() { o.line(kindOf(s.Add(node)), len(s.List())) })
	})
	try("store: typed indexers", func(o *outcome) {
		typed := cache.TypedIndexers[*v1.Pod]{"app": func(p *v1.Pod) ([]string, error) { return []string{p.Labels["app"]}, nil }}
		s := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.TypedIndexersToIndexers(typed))
		o.line(kindOf(s.Add(named("a", "b", "1", "x"))))
		found, err := s.ByIndex("app", "x")
		o.line(keysOf(found), kindOf(err))
		o.panics("another type", func() {
			values, err := cache.TypedIndexerFuncToIndexerFunc(typed["app"])(node)
			o.line(values, kindOf(err))
		})
	})
	try("store: transactions", func(o *outcome) {
		s := cache.NewStore(cache.MetaNamespaceKeyFunc)
		t, ok := s.(cache.TransactionStore)
		o.line(ok)
		if !ok {
			return
		}
		err := t.Transaction(cache.Transaction{Type: cache.TransactionTypeAdd, Object: named("a", "b", "1")}, cache.Transaction{Type: cache.TransactionTypeUpdate, Object: 3}, cache.Transaction{Type: cache.TransactionTypeDelete, Object: named("a", "c", "1")}, cache.Transaction{Type: cache.TransactionTypeAdd, Object: named("a", "d", "1")})
		if err != nil {
			o.line(err.SuccessfulIndices, err.TotalTransactions, len(err.Errors), err.Error())
		}
		o.line(keysOf(s.List()))
		o.line(t.Transaction() == nil)
	})
	try("store: transformer", func(o *outcome) {
		for _, name := range []string{"changes", "fails", "nil", "tombstone"} {
			transform := func(object any) (any, error) {
				o.line("transform", keysOf([]any{object}))
				switch p, ok := object.(*v1.Pod); {
				case !ok:
					return object, nil
				case name == "fails":
					return nil, errors.New("fails")
				case name == "nil":
					return nil, nil
				default:
					p = p.DeepCopy()
					p.Name += "x"
					return p, nil
				}
			}
			s := cache.NewStore(cache.MetaNamespaceKeyFunc, cache.WithTransformer(transform))
			o.panics(name, func() {
				o.line(name, kindOf(s.Add(named("a", "b", "1"))), kindOf(s.Update(named("a", "c", "2"))), keysOf(s.List()))
			})
			o.panics(name, func() { o.line(name, kindOf(s.Replace([]any{named("a", "d", "1")}, "3")), keysOf(s.List())) })
			o.panics(name, func() { o.line(name, kindOf(s.Delete(named("a", "dx", "1"))), keysOf(s.List())) })
		}
	})
	try("store: versions and bookmarks", func(o *outcome) {
		s := cache.NewStore(cache.MetaNamespaceKeyFunc)
		o.line(s.LastStoreSyncResourceVersion())
		_ = s.Add(named("a", "b", "5"))
		o.line(s.LastStoreSyncResourceVersion())
		_ = s.Replace([]any{named("a", "b", "6")}, "9")
		o.line(s.LastStoreSyncResourceVersion())
		s.Bookmark("12")
		o.line(s.LastStoreSyncResourceVersion())
		_ = s.Delete(named("a", "b", "13"))
		o.line(s.LastStoreSyncResourceVersion())
		s.Bookmark("")
		o.line(s.LastStoreSyncResourceVersion())
	})
	try("fake custom store", func(o *outcome) {
		s := &cache.FakeCustomStore{}
		o.line(s.Add(1), s.Update(1), s.Delete(1), s.List(), s.ListKeys(), s.Replace(nil, ""), s.Resync(), s.LastStoreSyncResourceVersion())
		o.line(s.Get(1))
		o.line(s.GetByKey(""))
		s.Bookmark("")
		s.AddFunc = func(any) error { return errors.New("x") }
		o.line(kindOf(s.Add(1)))
	})
}

func tryListers() {
	pods := []*v1.Pod{named("a", "b", "1", "x"), named("a", "c", "1"), named("d", "e", "1", "x"), named("", "f", "1", "x")}
	for _, indexed := range []bool{true, false} {
		try(fmt.Sprint("listers: indexed ", indexed), func(o *outcome) {
			indexers := cache.Indexers{}
			if indexed {
				indexers[cache.NamespaceIndex] = cache.MetaNamespaceIndexFunc
			}
			indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
			for _, p := range pods {
				_ = indexer.Add(p)
			}
			selectors := []labels.Selector{nil, labels.Everything(), labels.Nothing(), labels.SelectorFromSet(labels.Set{"app": "x"})}
			generic := cache.NewGenericLister(indexer, schema.GroupResource{Group: "g", Resource: "pods"})
			typed := listers.NewPodLister(indexer)
			if !indexed {
				// without an index, leave out the nil selector: whether it panics depends on the
				// order of checks
				selectors = selectors[1:]
			}
			for i, selector := range selectors {
				for _, namespace := range []string{"", "a", "none"} {
					o.panics(fmt.Sprint(i, namespace, " panics"), func() {
						var found []any
						err := cache.ListAllByNamespace(indexer, namespace, selector, func(object any) { found = append(found, object) })
						o.line(i, namespace, keysOf(found), kindOf(err))
					})
					o.panics(fmt.Sprint(i, namespace, " generic"), func() {
						list, err := generic.ByNamespace(namespace).List(selector)
						o.line(i, namespace, len(list), list == nil, kindOf(err))
						pods, err := typed.Pods(namespace).List(selector)
						o.line(i, namespace, len(pods), pods == nil, kindOf(err))
					})
				}
				o.panics(fmt.Sprint(i, " all"), func() {
					var found []any
					err := cache.ListAll(indexer, selector, func(object any) { found = append(found, object) })
					o.line(i, keysOf(found), kindOf(err))
					list, err := generic.List(selector)
					o.line(i, len(list), kindOf(err))
				})
			}
			for _, name := range []string{"b", "f", "a/b", "", "none"} {
				object, err := generic.Get(name)
				o.line(name, object != nil, kindOf(err), apierrors.IsNotFound(err))
				object, err = generic.ByNamespace("a").Get(name)
				o.line(name, object != nil, kindOf(err))
				p, err := typed.Pods("a").Get(name)
				o.line(name, p != nil, kindOf(err))
				p, err = typed.Pods("").Get(name)
				o.line(name, p != nil, kindOf(err))
			}
		})
	}
	try("listers: objects without metadata", func(o *outcome) {
		indexer := cache.NewIndexer(func(any) (string, error) { return "k", nil }, cache.Indexers{})
		_ = indexer.Add(3)
		var found []any
		o.panics("all", func() {
			o.line(kindOf(cache.ListAll(indexer, labels.Everything(), func(object any) { found = append(found, object) })), len(found))
		})
		o.panics("some", func() {
			o.line(kindOf(cache.ListAll(indexer, labels.SelectorFromSet(labels.Set{"a": "b"}), func(object any) { found = append(found, object) })), len(found))
		})
		o.panics("namespace", func() {
			o.line(kindOf(cache.ListAllByNamespace(indexer, "a", labels.Everything(), func(object any) { found = append(found, object) })), len(found))
		})
	})
}

func tryExpiring() {
	try("expiring: time to live", func(o *outcome) {
		clock := testclock.NewFakeClock(time.Unix(1000, 0))
		deleted := make(chan string, 10)
		s := cache.NewFakeExpirationStore(cache.MetaNamespaceKeyFunc, deleted, &cache.TTLPolicy{TTL: 10 * time.Second, Clock: clock}, clock)
		_ = s.Add(named("a", "b", "1"))
		clock.Step(5 * time.Second)
		_ = s.Add(named("a", "c", "1"))
		clock.Step(5 * time.Second)
		o.line(keysOf(s.List()), got(s.GetByKey("a/b")))
		clock.Step(time.Nanosecond)
		o.line(got(s.Get(named("a", "b", "1"))), len(deleted))
		o.line(keysOf(s.List()))
		keys := s.ListKeys()
		slices.Sort(keys)
		o.line(keys)
		_ = s.Update(named("a", "c", "2"))
		clock.Step(9 * time.Second)
		o.line(keysOf(s.List()))
		o.line(kindOf(s.Replace([]any{named("a", "d", "1"), named("a", "e", "1")}, "7")), keysOf(s.List()), s.LastStoreSyncResourceVersion())
		o.line(kindOf(s.Replace([]any{3}, "8")), keysOf(s.List()))
		o.line(kindOf(s.Delete(named("a", "d", "1"))), kindOf(s.Delete(3)), kindOf(s.Add(3)), kindOf(s.Resync()), kindOf(s.Update(3)))
		o.line(got(s.Get(3)))
		clock.Step(time.Hour)
		o.line(keysOf(s.List()), got(s.GetByKey("a/e")), len(s.ListKeys()))
		for len(deleted) > 0 {
			o.line("deleted", <-deleted)
		}
	})
	for _, ttl := range []time.Duration{-1, 0, time.Second} {
		try(fmt.Sprint("expiring: policy ", ttl), func(o *outcome) {
			clock := testclock.NewFakeClock(time.Unix(1000, 0))
			p := &cache.TTLPolicy{TTL: ttl, Clock: clock}
			for _, age := range []time.Duration{-time.Hour, 0, time.Second, time.Second + 1, time.Hour} {
				o.line(age, p.IsExpired(&cache.TimestampedEntry{Timestamp: clock.Now().Add(-age)}))
			}
			s := cache.NewTTLStore(cache.MetaNamespaceKeyFunc, ttl)
			_ = s.Add(named("a", "b", "1"))
			o.line(len(s.List()))
		})
	}
	try("expiring: fake policy", func(o *outcome) {
		p := &cache.FakeExpirationPolicy{NeverExpire: sets.New("a/b"), RetrieveKeyFunc: func(object any) (string, error) {
			return cache.MetaNamespaceKeyFunc(object.(*cache.TimestampedEntry).Obj)
		}}
		s := cache.NewExpirationStore(cache.MetaNamespaceKeyFunc, p)
		_ = s.Add(named("a", "b", "1"))
		_ = s.Add(named("a", "c", "1"))
		o.line(keysOf(s.List()), got(s.GetByKey("a/c")))
	})
}

func tryMutations() {
	by := cache.Indexers{"app": func(object any) ([]string, error) { return []string{object.(*v1.Pod).Labels["app"]}, nil }}
	for _, adds := range []bool{false, true} {
		try(fmt.Sprint("mutation cache: adds ", adds), func(o *outcome) {
			backing := cache.NewIndexer(cache.MetaNamespaceKeyFunc, by)
			m := cache.NewIntegerResourceVersionMutationCache(klog.Background(), backing, backing, time.Hour, adds)
			_ = backing.Add(named("a", "b", "5", "x"))
			o.line(got(m.GetByKey("a/b")), got(m.GetByKey("a/c")))
			m.Mutation(named("a", "b", "7", "x"))
			o.line(got(m.GetByKey("a/b")))
			m.Mutation(named("a", "b", "6", "x"))
			o.line(got(m.GetByKey("a/b")))
			found, err := m.ByIndex("app", "x")
			o.line(keysOf(found), kindOf(err))
			_, err = m.ByIndex("none", "x")
			o.line(kindOf(err))
			_ = backing.Add(named("a", "b", "9", "x"))
			o.line(got(m.GetByKey("a/b")))
			m.Mutation(named("a", "odd", "x", "x"))
			o.line(got(m.GetByKey("a/odd")))
		})
	}
	try("mutation cache: without an indexer", func(o *outcome) {
		backing := cache.NewStore(cache.MetaNamespaceKeyFunc)
		m := cache.NewIntegerResourceVersionMutationCacheWithOptions(klog.Background(), backing, cache.MutationCacheOptions{})
		_, err := m.ByIndex("app", "x")
		o.line(kindOf(err))
		o.panics("a number", func() { m.Mutation(3) })
		o.panics("nil", func() { m.Mutation(nil) })
		o.line(got(m.GetByKey("a/b")))
	})
}

func tryUndelta() {
	try("undelta store", func(o *outcome) {
		s := cache.NewUndeltaStore(func(all []any) { o.line("push", keysOf(all)) }, cache.MetaNamespaceKeyFunc)
		o.line(kindOf(s.Add(named("a", "b", "1"))))
		o.line(kindOf(s.Update(named("a", "b", "2"))))
		o.line(kindOf(s.Add(3)))
		o.line(kindOf(s.Update(3)), kindOf(s.Delete(3)))
		o.line(kindOf(s.Delete(named("a", "none", "2"))))
		o.line(kindOf(s.Replace([]any{named("a", "c", "1"), named("a", "d", "1")}, "9")))
		o.line(kindOf(s.Replace([]any{3}, "9")))
		o.line(kindOf(s.Delete(named("a", "c", "2"))))
		o.line(kindOf(s.Resync()), keysOf(s.List()))
	})
}

func tryHeaps() {
	try("heap", func(o *outcome) {
		h := cache.NewHeap(cache.MetaNamespaceKeyFunc, func(a, b any) bool { return a.(*v1.Pod).ResourceVersion < b.(*v1.Pod).ResourceVersion })
		o.line(kindOf(h.Add(named("a", "b", "5"))), kindOf(h.AddIfNotPresent(named("a", "b", "1"))), kindOf(h.Update(named("a", "c", "3"))), kindOf(h.Add(3)), kindOf(h.Delete(3)), kindOf(h.Delete(named("a", "none", ""))), kindOf(h.AddIfNotPresent(3)))
		o.line(kindOf(h.BulkAdd([]any{named("a", "d", "4"), named("a", "b", "6")})), kindOf(h.BulkAdd([]any{named("a", "e", "9"), 3, named("a", "f", "0")})))
		o.line(keysOf(h.List()), len(h.ListKeys()), got(h.Get(named("a", "d", ""))), got(h.GetByKey("a/none")), got(h.Get(3)))
		for range len(h.List()) {
			object, err := h.Pop()
			o.line(got(object, true, err))
		}
		o.line(h.IsClosed())
		h.Close()
		h.Close()
		object, err := h.Pop()
		o.line(object, kindOf(err), h.IsClosed(), kindOf(h.Add(named("a", "b", "5"))), kindOf(h.BulkAdd([]any{named("a", "b", "5")})), kindOf(h.AddIfNotPresent(named("a", "b", "5"))), kindOf(h.Delete(named("a", "b", "5"))))
		object, err = h.Pop()
		o.line(object, kindOf(err))
	})
}

func tryTrackers() {
	try("synctrack: async", func(o *outcome) {
		t := synctrack.NewAsyncTracker[string]("n")
		o.line(t.Name(), t.HasSynced())
		t.Start("a")
		t.Start("a")
		t.Start("b")
		t.UpstreamHasSynced()
		o.line(t.HasSynced())
		t.Finished("a")
		o.line(t.HasSynced())
		t.Finished("none")
		t.Finished("b")
		o.line(t.HasSynced(), ends(t.Done()))
		t.Start("c")
		o.line(t.HasSynced())
		t.Finished("c")
		t.UpstreamHasSynced()
		o.line(t.HasSynced())
		empty := &synctrack.AsyncTracker[string]{}
		o.panics("the zero value", func() {
			empty.Start("a")
			o.line(empty.HasSynced())
		})
	})
	try("synctrack: one file", func(o *outcome) {
		t := synctrack.NewSingleFileTracker("n")
		o.line(t.Name(), t.HasSynced())
		t.Start()
		t.Start()
		t.UpstreamHasSynced()
		o.line(t.HasSynced())
		t.Finished()
		o.line(t.HasSynced())
		t.Finished()
		o.line(t.HasSynced(), ends(t.Done()))
		t.Start()
		o.line(t.HasSynced())
		t.Finished()
		o.panics("one too many", func() { t.Finished() })
		o.line(t.HasSynced())
	})
	try("synctrack: one file that is empty", func(o *outcome) {
		t := synctrack.NewSingleFileTracker("")
		t.UpstreamHasSynced()
		t.UpstreamHasSynced()
		o.line(t.HasSynced(), ends(t.Done()))
	})
	try("synctrack: lazy", func(o *outcome) {
		calls := 0
		z := synctrack.Lazy[int]{Evaluate: func() (int, error) {
			calls++
			if calls == 2 {
				return 7, errors.New("x")
			}
			return calls, nil
		}}
		for range 2 {
			v, err := z.Get()
			o.line(v, kindOf(err), calls)
		}
		z.Notify()
		for range 3 {
			v, err := z.Get()
			o.line(v, kindOf(err), calls)
		}
		z.Notify()
		v, err := z.Get()
		o.line(v, kindOf(err), calls)
		p := synctrack.Lazy[int]{Evaluate: func() (int, error) { panic("x") }}
		o.panics("panic", func() { _, _ = p.Get() })
	})
}

func tryRetriesWithDeadline() {
	temporary, fatal := errors.New("temporary"), errors.New("fatal")
	for _, most := range []time.Duration{0, time.Second, time.Minute} {
		for _, reset := range []time.Duration{0, 10 * time.Second} {
			try(fmt.Sprint("retry with deadline: ", most, " ", reset), func(o *outcome) {
				clock := testclock.NewFakeClock(time.Unix(1000, 0))
				r := cache.NewRetryWithDeadline(most, reset, func(err error) bool { return err == temporary }, clock)
				o.line(r.ShouldRetry())
				for i, err := range []error{temporary, temporary, nil, temporary, fatal, temporary, temporary, temporary, temporary, temporary, temporary} {
					r.After(err)
					o.line(i, err, r.ShouldRetry())
					clock.Step(time.Duration(i*i) * 300 * time.Millisecond)
					o.line(r.ShouldRetry())
				}
			})
		}
	}
}

func tryInformerNames() {
	tryAlone("informer names", func(o *outcome) {
		gvr := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
		for _, name := range []string{"", "a", "a", "b"} {
			n, err := cache.NewInformerName(name)
			o.line(name, n == nil, err != nil)
			if n == nil {
				continue
			}
			id := n.WithResource(gvr)
			o.line(n.Name(), id.Name(), id.GroupVersionResource(), id.Reserved())
			again := n.WithResource(gvr)
			o.line(again.Name(), again.GroupVersionResource(), again.Reserved())
		}
		n, err := cache.NewInformerName("c")
		o.line(err != nil)
		n.Release()
		n.Release()
		id := n.WithResource(gvr)
		o.line(id.Reserved(), id.Name())
		n, err = cache.NewInformerName("c")
		o.line(n != nil, kindOf(err))
		var zero cache.InformerNameAndResource
		o.line(zero.Name(), zero.Reserved(), zero.GroupVersionResource())
		var none *cache.InformerName
		o.panics("nil", func() { o.line(none.Name(), none.WithResource(gvr).Reserved()); none.Release() })
		cache.ResetInformerNamesForTesting()
		n, err = cache.NewInformerName("a")
		o.line(n != nil, kindOf(err))
	})
	try("wait for caches", func(o *outcome) {
		yes, no := func() bool { return true }, func() bool { return false }
		closed := make(chan struct{})
		close(closed)
		later := make(chan struct{})
		time.AfterFunc(300*time.Millisecond, func() { close(later) })
		o.line(cache.WaitForCacheSync(nil), cache.WaitForCacheSync(nil, yes, yes), cache.WaitForCacheSync(closed, yes), cache.WaitForCacheSync(closed, no), cache.WaitForCacheSync(later, yes, no))
		o.line(cache.WaitForNamedCacheSync("n", closed), cache.WaitForNamedCacheSync("n", closed, no), cache.WaitForNamedCacheSync("n", nil, yes))
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		o.line(cache.WaitForNamedCacheSyncWithContext(ctx, yes), cache.WaitForNamedCacheSyncWithContext(ctx, no))
		o.line(cache.WaitFor(context.Background(), "w"), cache.WaitFor(ctx, "", synctrack.NewSingleFileTracker("t")))
		t := synctrack.NewSingleFileTracker("t")
		o.line(cache.IsDone(t))
		t.UpstreamHasSynced()
		o.line(cache.IsDone(t), cache.WaitFor(context.Background(), "w", t, t))
	})
}
