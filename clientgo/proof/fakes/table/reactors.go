package main

//lint:file-ignore SA1019 programs call what is deprecated

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	fakecorev1 "k8s.io/client-go/kubernetes/typed/core/v1/fake"
	"k8s.io/client-go/rest"
	fakes "k8s.io/client-go/testing"
)

// response is the result of a ProxyGet.
type response struct{ rest.ResponseWrapper }

// testReactors tests reactors that handle actions in place of the tracker.
func testReactors(newClient clientset) {
	c := newClient(configMap("a", "one"), node("n"))
	maps := c.CoreV1().ConfigMaps("a")
	do := func(name string, f func() (any, error)) { printRow(name, &c.Fake, f) }
	var order []string
	pass := func(name string) fakes.ReactionFunc {
		return func(action fakes.Action) (bool, runtime.Object, error) {
			order = append(order, name+" "+action.GetVerb())
			return false, configMap("a", "ignored"), errors.New("ignored")
		}
	}
	c.PrependReactor("*", "configmaps", pass("of all verbs"))
	c.PrependReactor("get", "*", pass("of all resources"))
	c.PrependReactor("GET", "ConfigMaps", pass("in capitals"))
	c.AddReactor("*", "*", pass("behind the tracker"))
	do("reactors that pass", func() (any, error) { return maps.Get(ctx, "one", metav1.GetOptions{}) })
	do("their order", func() (any, error) { return withoutError(order) })
	do("delete collection goes on", func() (any, error) {
		return onlyError(maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	})
	do("and where", func() (any, error) { return withoutError(order) })

	react := func(verb, resource string, object runtime.Object, err error) *fake.Clientset {
		c = newClient(configMap("a", "one"), node("n"))
		maps = c.CoreV1().ConfigMaps("a")
		c.PrependReactor(verb, resource, func(fakes.Action) (bool, runtime.Object, error) { return true, object, err })
		return c
	}
	verbsOf := func(what string) {
		do(what+", get", func() (any, error) { return maps.Get(ctx, "one", metav1.GetOptions{}) })
		do(what+", list", func() (any, error) { return maps.List(ctx, metav1.ListOptions{LabelSelector: "a=b"}) })
		do(what+", create", func() (any, error) { return maps.Create(ctx, configMap("a", "new"), metav1.CreateOptions{}) })
		do(what+", update", func() (any, error) { return maps.Update(ctx, configMap("a", "one"), metav1.UpdateOptions{}) })
		do(what+", delete", func() (any, error) { return onlyError(maps.Delete(ctx, "one", metav1.DeleteOptions{})) })
		do(what+", patch", func() (any, error) {
			return maps.Patch(ctx, "one", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
		})
		do(what+", delete collection", func() (any, error) {
			return onlyError(maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
		})
		do(what+", scale", func() (any, error) { return c.AppsV1().Deployments("a").GetScale(ctx, "d", metav1.GetOptions{}) })
		do(what+", node", func() (any, error) { return c.CoreV1().Nodes().Get(ctx, "n", metav1.GetOptions{}) })
		do(what+", event", func() (any, error) { return c.CoreV1().Events("a").CreateWithEventNamespace(&corev1.Event{}) })
		do(what+", finalize", func() (any, error) {
			return c.CoreV1().Namespaces().Finalize(ctx, &corev1.Namespace{}, metav1.UpdateOptions{})
		})
		do(what+", logs", func() (any, error) {
			log, err := c.CoreV1().Pods("a").GetLogs("p", nil).DoRaw(ctx)
			return string(log), err
		})
		do(what+", evict", func() (any, error) { return onlyError(c.CoreV1().Pods("a").EvictV1(ctx, nil)) })
	}
	react("*", "*", nil, apierrors.NewConflict(corev1.Resource("configmaps"), "one", errors.New("changed")))
	verbsOf("an error")
	react("*", "*", nil, nil)
	verbsOf("nothing")
	react("*", "*", configMap("a", "mine"), nil)
	verbsOf("a config map")
	react("*", "*", configMap("a", "mine"), errors.New("both"))
	verbsOf("a config map and an error")
	react("list", "*", &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "8", Continue: "next"}, Items: []corev1.ConfigMap{*configMap("a", "x"), {ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}}}, nil)
	verbsOf("a list")
	react("get", "pods/log", &runtime.Unknown{Raw: []byte("my log")}, nil)
	verbsOf("a log")
	react("get", "deployments", nil, errors.New("of the kind, not of the subresource"))
	verbsOf("of another resource")
	react("*", "deployments/scale", nil, errors.New("of a subresource"))
	verbsOf("of a subresource")

	c = newClient()
	c.ReactionChain, c.WatchReactionChain = nil, nil
	maps = c.CoreV1().ConfigMaps("a")
	verbsOf("no reactors")
	do("no reactors, watch", func() (any, error) { return maps.Watch(ctx, metav1.ListOptions{}) })
	c = &fake.Clientset{}
	maps = c.CoreV1().ConfigMaps("a")
	verbsOf("a zero clientset")

	c = newClient()
	c.AddProxyReactor("services", func(action fakes.Action) (bool, rest.ResponseWrapper, error) {
		return true, response{}, nil
	})
	do("a proxy reactor", func() (any, error) {
		return withoutError(fmt.Sprintf("%T", c.CoreV1().Services("a").ProxyGet("", "s", "", "", nil)))
	})
	c.PrependReactor("create", "*", func(action fakes.Action) (bool, runtime.Object, error) {
		object := action.(fakes.CreateAction).GetObject().(*corev1.ConfigMap)
		object.Data["k"] = "from a reactor"
		object.ResourceVersion = "5"
		return false, nil, nil
	})
	do("a reactor that changes what is created", func() (any, error) {
		return c.CoreV1().ConfigMaps("a").Create(ctx, configMap("a", "changed"), metav1.CreateOptions{})
	})
	do("one fake", func() (any, error) {
		c.CoreV1().(*fakecorev1.FakeCoreV1).ClearActions()
		return withoutError(len(c.Actions()))
	})
	do("stream of a log", func() (any, error) {
		stream, err := c.CoreV1().Pods("a").GetLogs("p", nil).Stream(ctx)
		if err != nil {
			return nil, err
		}
		var b strings.Builder
		_, err = io.Copy(&b, stream)
		return b.String(), err
	})
	do("many at once", func() (any, error) {
		var group sync.WaitGroup
		for i := range 20 {
			group.Go(func() {
				_, _ = c.CoreV1().ConfigMaps("many").Create(ctx, configMap("many", fmt.Sprintf("m%02d", i)), metav1.CreateOptions{})
			})
		}
		group.Wait()
		recorded := len(c.Actions())
		c.ClearActions()
		list, err := c.CoreV1().ConfigMaps("many").List(ctx, metav1.ListOptions{})
		c.ClearActions()
		return []int{recorded, len(list.Items)}, err
	})
	watcher := watch.NewFake()
	c.PrependWatchReactor("configmaps", fakes.DefaultWatchReactor(watcher, nil))
	do("a watch reactor", func() (any, error) {
		w, err := c.CoreV1().ConfigMaps("a").Watch(ctx, metav1.ListOptions{LabelSelector: "a=b", FieldSelector: "metadata.name=x", ResourceVersion: "3"})
		return w == watcher, err
	})
	c.PrependWatchReactor("*", fakes.DefaultWatchReactor(nil, errors.New("no watch")))
	do("a watch reactor with an error", func() (any, error) { return c.CoreV1().ConfigMaps("a").Watch(ctx, metav1.ListOptions{}) })
	c.PrependWatchReactor("*", func(fakes.Action) (bool, watch.Interface, error) { return false, nil, errors.New("passes") })
	do("a watch reactor that passes", func() (any, error) { return c.CoreV1().ConfigMaps("a").Watch(ctx, metav1.ListOptions{}) })
}
