package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

func tryHandlers() {
	recorder := func(o *outcome) cache.ResourceEventHandler {
		return cache.ResourceEventHandlerDetailedFuncs{
			AddFunc:    func(object any, initial bool) { o.line("add", keysOf([]any{object}), initial) },
			UpdateFunc: func(before, object any) { o.line("update", keysOf([]any{before}), keysOf([]any{object})) },
			DeleteFunc: func(object any) { o.line("delete", keysOf([]any{object})) },
		}
	}
	hasApp := func(object any) bool {
		p, ok := object.(*v1.Pod)
		return ok && p.Labels["app"] != ""
	}
	try("handlers: filter", func(o *outcome) {
		h := cache.FilteringResourceEventHandler{FilterFunc: hasApp, Handler: recorder(o)}
		in, out := named("a", "b", "1", "x"), named("a", "b", "2")
		h.OnAdd(in, true)
		h.OnAdd(out, false)
		h.OnUpdate(in, in)
		h.OnUpdate(in, out)
		h.OnUpdate(out, in)
		h.OnUpdate(out, out)
		h.OnDelete(in)
		h.OnDelete(out)
		h.OnDelete(cache.DeletedFinalStateUnknown{Key: "a/b", Obj: in})
		o.panics("nil", func() { h.OnAdd(nil, false) })
	})
	try("handlers: functions that are nil", func(o *outcome) {
		for _, h := range []cache.ResourceEventHandler{cache.ResourceEventHandlerFuncs{}, cache.ResourceEventHandlerDetailedFuncs{}} {
			o.panics(fmt.Sprintf("%T", h), func() { h.OnAdd(pod, true); h.OnUpdate(pod, pod); h.OnDelete(pod) })
		}
	})
	try("handlers: typed", func(o *outcome) {
		h := cache.TypedFilteringResourceEventHandler[*v1.Pod]{
			FilterFunc: func(p *v1.Pod) bool { o.line("filter", p != nil); return p != nil && hasApp(p) },
			Handler: cache.TypedResourceEventHandlerFuncs[*v1.Pod]{
				AddFunc:    func(p *v1.Pod) { o.line("add", p.Name) },
				UpdateFunc: func(before, p *v1.Pod) { o.line("update", before.Name, p.Name) },
				DeleteFunc: func(d cache.DeletedObject[*v1.Pod]) {
					o.line("delete", d.GetKey(), d.GetName(), d.GetNamespace(), d.GetObjectName(), d.OptionalObj != nil, d.FinalStateUnknown != nil)
				},
			},
		}
		in, out := named("a", "b", "1", "x"), named("a", "b", "2")
		h.OnAdd(in, true)
		h.OnAdd(out, true)
		h.OnUpdate(in, out)
		h.OnUpdate(out, in)
		h.OnUpdate(in, in)
		h.OnDelete(cache.DeletedObject[*v1.Pod]{OptionalObj: in})
		h.OnDelete(cache.DeletedObject[*v1.Pod]{OptionalObj: out})
		h.OnDelete(cache.DeletedObject[*v1.Pod]{FinalStateUnknown: &cache.DeletedFinalStateUnknown{Key: "a/b"}})
		h.OnDelete(cache.DeletedObject[*v1.Pod]{OptionalObj: in, FinalStateUnknown: &cache.DeletedFinalStateUnknown{Key: "a/b", Obj: in}})
		cache.TypedResourceEventHandlerFuncs[*v1.Pod]{}.OnDelete(cache.DeletedObject[*v1.Pod]{})
		cache.TypedResourceEventHandlerDetailedFuncs[*v1.Pod]{}.OnAdd(in, false)
	})
	for _, kind := range []string{"fails", "fails once", "returns nil", "another type"} {
		try("informer with a transform that "+kind, func(o *outcome) { tryTransform(o, kind) })
	}
	for _, streaming := range []bool{true, false} {
		for _, hangs := range []string{"", "list", "watch"} {
			try(fmt.Sprintf("informer with functions that ignore its context: streaming %t, %s hangs", streaming, hangs), func(o *outcome) { tryIgnoredContexts(o, streaming, hangs) })
		}
	}
	try("informer: settings", func(o *outcome) {
		i := cache.NewSharedIndexInformer(noStreamingLists{&scriptedSource{o: &outcome{}, list: &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, opens: []watchResult{{staysOpen: true}}}}, &v1.Pod{}, 0, cache.Indexers{})
		o.line(i.HasSynced(), i.IsStopped(), i.LastSyncResourceVersion(), len(i.GetIndexer().GetIndexers()))
		o.line(kindOf(i.SetTransform(func(object any) (any, error) { return object, nil })), kindOf(i.SetWatchErrorHandler(func(*cache.Reflector, error) {})), kindOf(i.AddIndexers(cache.Indexers{"a": cache.MetaNamespaceIndexFunc})), kindOf(i.AddIndexers(cache.Indexers{"a": cache.MetaNamespaceIndexFunc})))
		r, err := i.AddEventHandler(recorder(o))
		o.line(r != nil && r.HasSynced(), kindOf(err))
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); i.RunWithContext(ctx) }()
		o.line(cache.WaitForCacheSync(ctx.Done(), i.HasSynced, r.HasSynced))
		o.line(kindOf(i.SetTransform(nil)), kindOf(i.SetWatchErrorHandler(nil)), kindOf(i.AddIndexers(cache.Indexers{"b": cache.MetaNamespaceIndexFunc})))
		o.line(kindOf(i.RemoveEventHandler(r)), kindOf(i.RemoveEventHandler(r)))
		o.panics("nil handle", func() { o.line(i.RemoveEventHandler(nil) != nil) })
		cancel()
		o.line(ends(done), i.IsStopped())
		_, err = i.AddEventHandler(recorder(o))
		o.line(err != nil)
		o.line(i.AddIndexers(cache.Indexers{"c": cache.MetaNamespaceIndexFunc}) != nil)
		o.panics("run again", func() { i.RunWithContext(context.Background()) })
	})
}

// tryIgnoredContexts stops informers whose list and watch functions ignore the end of the context.
func tryIgnoredContexts(o *outcome, streaming bool, hangs string) {
	s := serve(o)
	defer s.Close()
	client := kubernetes.NewForConfigOrDie(s.config()).CoreV1().ConfigMaps("ns")
	released := make(chan struct{})
	defer close(released)
	var lw cache.ListerWatcher = &cache.ListWatch{
		ListFunc: func(options metav1.ListOptions) (runtime.Object, error) {
			if hangs == "list" {
				<-released
			}
			return client.List(context.Background(), options)
		},
		WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
			if hangs == "watch" {
				return watch.NewFake(), nil
			}
			return client.Watch(context.Background(), options)
		},
	}
	if !streaming {
		lw = noStreamingLists{lw}
	}
	for _, events := range []int{0, 1} {
		i := cache.NewSharedIndexInformer(lw, &v1.ConfigMap{}, 0, nil)
		stop, done := make(chan struct{}), make(chan struct{})
		go func() { defer close(done); i.Run(stop) }()
		if hangs == "" {
			o.line(within(10*time.Second, i.HasSynced))
		}
		if events > 0 && hangs == "" {
			_, err := client.Create(context.Background(), &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}}, metav1.CreateOptions{})
			o.line(kindOf(err), within(10*time.Second, func() bool { return len(i.GetStore().List()) > 0 }))
		}
		time.Sleep(50 * time.Millisecond)
		start := time.Now()
		close(stop)
		o.line(ends(done), time.Since(start) < 5*time.Second)
	}
}

func tryTransform(o *outcome, kind string) {
	lw := &scriptedSource{o: &outcome{}, list: &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "10"}, Items: []v1.Pod{*named("ns", "a", "9"), *named("ns", "b", "8")}},
		opens: []watchResult{{events: []watch.Event{{Type: watch.Modified, Object: named("ns", "a", "11")}, {Type: watch.Added, Object: named("ns", "c", "12")}}, staysOpen: true}}}
	var mu sync.Mutex
	var all []string
	failed := false
	store, c := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: noStreamingLists{lw}, ObjectType: &v1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(object any) {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, "add "+keysOf([]any{object}))
			},
			UpdateFunc: func(_, object any) {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, "update "+keysOf([]any{object}))
			},
		},
		Transform: func(object any) (any, error) {
			p, ok := object.(*v1.Pod)
			if !ok || p.Name != "a" {
				return object, nil
			}
			switch kind {
			case "fails":
				return nil, errors.New("fails")
			case "fails once":
				mu.Lock()
				defer mu.Unlock()
				if !failed {
					failed = true
					return nil, errors.New("fails")
				}
			case "returns nil":
				return nil, nil
			case "another type":
				return &v1.ConfigMap{ObjectMeta: p.ObjectMeta}, nil
			}
			return object, nil
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); c.RunWithContext(ctx) }()
	time.Sleep(450 * time.Millisecond)
	cancel()
	o.line(ends(done))
	o.line(c.HasSynced(), keysOf(store.List()))
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(all)
	o.line(strings.Join(slices.Compact(all), ", "))
}
