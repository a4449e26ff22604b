package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	fakes "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

// availableEvents returns the available events of a watch, without waiting for more.
func availableEvents(w watch.Interface) (events []string) {
	for {
		select {
		case event, ok := <-w.ResultChan():
			if !ok {
				return append(events, "closed")
			}
			object, err := meta.Accessor(event.Object)
			if err != nil {
				events = append(events, fmt.Sprintf("%s %T", event.Type, event.Object))
				continue
			}
			events = append(events, fmt.Sprintf("%s %T %s/%s %s", event.Type, event.Object, object.GetNamespace(), object.GetName(), object.GetResourceVersion()))
		default:
			return events
		}
	}
}

// testWatches tests watches of the tracker.
func testWatches(newClient clientset) {
	c := newClient(configMap("a", "old"), configMap("b", "old"))
	maps := c.CoreV1().ConfigMaps("a")
	open := map[string]watch.Interface{}
	yes := true
	var names []string
	for _, w := range []struct {
		name, namespace string
		options         metav1.ListOptions
	}{
		{"all", "", metav1.ListOptions{}}, {"namespace", "a", metav1.ListOptions{}}, {"other namespace", "z", metav1.ListOptions{}},
		{"label", "a", metav1.ListOptions{LabelSelector: "name=two"}}, {"field", "a", metav1.ListOptions{FieldSelector: "metadata.name=two"}},
		{"version 0", "a", metav1.ListOptions{ResourceVersion: "0"}}, {"version 1", "a", metav1.ListOptions{ResourceVersion: "1"}},
		{"version 2", "", metav1.ListOptions{ResourceVersion: "2"}}, {"version 99", "a", metav1.ListOptions{ResourceVersion: "99"}},
		{"no version", "a", metav1.ListOptions{ResourceVersion: "x"}},
		{"initial events", "a", metav1.ListOptions{SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}},
	} {
		printRow("watch "+w.name, &c.Fake, func() (any, error) {
			changes, err := c.CoreV1().ConfigMaps(w.namespace).Watch(ctx, w.options)
			if err == nil {
				open[w.name] = changes
				names = append(names, w.name)
			}
			return nil, err
		})
	}
	step := func(name string, do func() error) {
		fmt.Println("watches: " + name)
		printRow("  and", nil, func() (any, error) {
			err := do()
			for _, w := range names {
				fmt.Printf("    %s: %q\n", w, availableEvents(open[w]))
			}
			return nil, err
		})
	}
	step("nothing", func() error { return nil })
	step("create", func() error {
		_, err := maps.Create(ctx, configMap("a", "two"), metav1.CreateOptions{})
		return err
	})
	step("create what exists", func() error {
		_, err := maps.Create(ctx, configMap("a", "two"), metav1.CreateOptions{})
		return err
	})
	step("update", func() error {
		object := configMap("a", "two")
		object.ResourceVersion = "77"
		_, err := maps.Update(ctx, object, metav1.UpdateOptions{})
		return err
	})
	step("patch", func() error {
		_, err := maps.Patch(ctx, "two", types.MergePatchType, []byte(`{"data":{"x":"y"}}`), metav1.PatchOptions{})
		return err
	})
	step("apply", func() error {
		_, err := maps.Apply(ctx, applycorev1.ConfigMap("applied", "a"), metav1.ApplyOptions{FieldManager: "me"})
		return err
	})
	step("in another namespace", func() error {
		_, err := c.CoreV1().ConfigMaps("b").Update(ctx, configMap("b", "old"), metav1.UpdateOptions{})
		return err
	})
	step("another kind", func() error {
		_, err := c.CoreV1().Nodes().Create(ctx, node("n"), metav1.CreateOptions{})
		return err
	})
	step("delete", func() error { return maps.Delete(ctx, "two", metav1.DeleteOptions{}) })
	step("delete what is missing", func() error { return maps.Delete(ctx, "two", metav1.DeleteOptions{}) })
	step("tracker adds", func() error { return c.Tracker().Add(configMap("a", "three")) })
	step("tracker adds again", func() error { return c.Tracker().Add(configMap("a", "three")) })
	step("tracker deletes", func() error {
		return c.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("configmaps"), "a", "three")
	})
	step("stop", func() error { open["namespace"].Stop(); open["namespace"].Stop(); return nil })
	step("create after stop", func() error {
		_, err := maps.Create(ctx, configMap("a", "four"), metav1.CreateOptions{})
		return err
	})
	for _, w := range open {
		w.Stop()
	}
}

// testTrackers tests direct use of trackers.
func testTrackers(newClient clientset) {
	c := newClient(configMap("a", "one"))
	t, maps := c.Tracker(), corev1.SchemeGroupVersion.WithResource("configmaps")
	kind := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	do := func(name string, f func() (any, error)) { printRow("tracker: "+name, &c.Fake, f) }
	do("get", func() (any, error) { return t.Get(maps, "a", "one") })
	do("get with options", func() (any, error) { return t.Get(maps, "a", "one", metav1.GetOptions{ResourceVersion: "4"}) })
	do("get with too many options", func() (any, error) { return t.Get(maps, "a", "one", metav1.GetOptions{}, metav1.GetOptions{}) })
	do("get of an unknown resource", func() (any, error) { return t.Get(corev1.SchemeGroupVersion.WithResource("unknown"), "a", "one") })
	do("create", func() (any, error) { return onlyError(t.Create(maps, configMap("a", "two"), "a")) })
	do("create again", func() (any, error) { return onlyError(t.Create(maps, configMap("a", "two"), "a")) })
	// the error text has addresses
	do("create of another kind", func() (any, error) { return withoutError(t.Create(maps, node("x"), "a") == nil) })
	do("create of an unknown resource", func() (any, error) {
		return onlyError(t.Create(corev1.SchemeGroupVersion.WithResource("unknown"), configMap("a", "two"), "a"))
	})
	do("create without a name", func() (any, error) { return onlyError(t.Create(maps, configMap("a", ""), "a")) })
	do("create in another namespace", func() (any, error) { return onlyError(t.Create(maps, configMap("a", "x"), "b")) })
	do("update", func() (any, error) { return onlyError(t.Update(maps, configMap("a", "two"), "a")) })
	do("update what is missing", func() (any, error) { return onlyError(t.Update(maps, configMap("a", "none"), "a")) })
	do("patch", func() (any, error) { return onlyError(t.Patch(maps, configMap("a", "two"), "a")) })
	do("patch what is missing", func() (any, error) { return onlyError(t.Patch(maps, configMap("a", "none"), "a")) })
	do("apply", func() (any, error) {
		object := configMap("a", "applied")
		object.SetGroupVersionKind(kind)
		return onlyError(t.Apply(maps, object, "a", metav1.PatchOptions{FieldManager: "me"}))
	})
	do("list", func() (any, error) { return t.List(maps, kind, "") })
	do("list of a namespace", func() (any, error) { return t.List(maps, kind, "b") })
	do("list of an unknown kind", func() (any, error) { return t.List(maps, corev1.SchemeGroupVersion.WithKind("Unknown"), "") })
	do("delete", func() (any, error) { return onlyError(t.Delete(maps, "a", "two")) })
	do("delete again", func() (any, error) { return onlyError(t.Delete(maps, "a", "two")) })
	do("delete of an unknown resource", func() (any, error) {
		return onlyError(t.Delete(corev1.SchemeGroupVersion.WithResource("unknown"), "a", "two"))
	})
	do("add a list", func() (any, error) {
		return onlyError(t.Add(&corev1.ConfigMapList{Items: []corev1.ConfigMap{*configMap("a", "l1"), *configMap("b", "l2")}}))
	})
	do("add a list of unstructured", func() (any, error) {
		return onlyError(t.Add(&unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMapList"}}))
	})
	do("add unstructured", func() (any, error) {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "a", "name": "u"}}}
		return onlyError(t.Add(object))
	})
	do("get unstructured", func() (any, error) { return t.Get(maps, "a", "u") })
	do("get unstructured by a client", func() (any, error) { return c.CoreV1().ConfigMaps("a").Get(ctx, "u", metav1.GetOptions{}) })
	do("add an unknown kind", func() (any, error) {
		return onlyError(t.Add(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "x/v1", "kind": "X", "metadata": map[string]any{"namespace": "a", "name": "u"}}}))
	})
	do("add a status", func() (any, error) { return onlyError(t.Add(&metav1.Status{})) })
	do("add without a name", func() (any, error) { return onlyError(t.Add(configMap("a", ""))) })
	do("the reaction to nothing", func() (any, error) {
		handled, object, err := fakes.ObjectReaction(t)(fakes.NewRootGetAction(maps, "x"))
		return []any{handled, object}, err
	})
}

// testInformers tests informers that use a fake.
func testInformers(newClient clientset) {
	c := newClient(configMap("a", "one"), configMap("b", "two"))
	watching := make(chan struct{}, 10)
	c.PrependWatchReactor("*", func(action fakes.Action) (bool, watch.Interface, error) {
		changes, err := c.Tracker().Watch(action.GetResource(), action.GetNamespace(), action.(fakes.WatchActionImpl).ListOptions)
		watching <- struct{}{}
		return true, changes, err
	})
	factory := informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithNamespace("a"), informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "name!=x" }))
	informer := factory.Core().V1().ConfigMaps()
	events := make(chan string, 100)
	name := func(obj any) string {
		key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
		return fmt.Sprintf("%T %s %v", obj, key, err)
	}
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(obj any, initial bool) { events <- fmt.Sprintf("add %s %t", name(obj), initial) },
		UpdateFunc: func(old, obj any) { events <- fmt.Sprintf("update %s %s", name(old), name(obj)) },
		DeleteFunc: func(obj any) { events <- "delete " + name(obj) },
	})
	stop := make(chan struct{})
	factory.Start(stop)
	printRow("informer: synced", nil, func() (any, error) { return withoutError(fmt.Sprint(err, factory.WaitForCacheSync(stop))) })
	<-watching
	next := func(what string, do func() error) {
		printRow("informer: "+what, nil, func() (any, error) {
			if err := do(); err != nil {
				return nil, err
			}
			select {
			case event := <-events:
				return event, nil
			case <-time.After(20 * time.Second):
				return "no event", nil
			}
		})
	}
	maps := c.CoreV1().ConfigMaps("a")
	next("first", func() error { return nil })
	next("create", func() error {
		_, err := maps.Create(ctx, configMap("a", "new"), metav1.CreateOptions{})
		return err
	})
	next("update", func() error {
		_, err := maps.Update(ctx, configMap("a", "new"), metav1.UpdateOptions{})
		return err
	})
	next("delete", func() error { return maps.Delete(ctx, "one", metav1.DeleteOptions{}) })
	printRow("informer: lister", nil, func() (any, error) { return informer.Lister().ConfigMaps("a").Get("new") })
	printRow("informer: lister, missing", nil, func() (any, error) { return informer.Lister().ConfigMaps("a").Get("one") })
	close(stop)
	factory.Shutdown()
	printRow("informer: stopped", nil, func() (any, error) { return withoutError(informer.Informer().IsStopped()) })
	for _, action := range c.Actions()[:2] {
		selector := ""
		switch a := action.(type) {
		case fakes.ListActionImpl:
			selector = a.ListRestrictions.Labels.String() + " " + a.ListOptions.ResourceVersion
		case fakes.WatchActionImpl:
			selector = a.WatchRestrictions.Labels.String() + fmt.Sprintf(" %q %t %v", a.ListOptions.ResourceVersion, a.ListOptions.AllowWatchBookmarks, a.ListOptions.SendInitialEvents)
		}
		fmt.Printf("  informer recorded: %T %s %s %s %s\n", action, action.GetVerb(), action.GetResource(), action.GetNamespace(), selector)
	}
}
