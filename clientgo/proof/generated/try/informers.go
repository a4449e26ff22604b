package main

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// informerCase is a resource of an informer factory, found by reflection.
type informerCase struct {
	name     string // "Core V1 Pods"
	informer cache.SharedIndexInformer
	lister   reflect.Value
}

// tryInformers runs each informer of a factory on a server with two objects of each kind, and calls
// its lister.
func tryInformers() {
	tryFactory("application/json", "ns")
	tryFactory(protobufType, "")
	tryForResource()
}

func tryFactory(contentType, namespace string) {
	prefix := fmt.Sprintf("informers of %q in %q: ", contentType, namespace)
	s := serve()
	defer s.Close()
	clients, err := kubernetes.NewForConfig(&rest.Config{Host: s.URL, QPS: -1, UserAgent: "try", ContentConfig: rest.ContentConfig{ContentType: contentType}})
	if err != nil {
		panic(err)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "tweaked" }))
	resources := resourcesOf(factory)
	for _, r := range resources {
		block(prefix+r.name, func() {
			s.setHandler(listAndWatchHandler(listType(clients, r.name)))
			stop := make(chan struct{})
			var running sync.WaitGroup
			running.Go(func() { r.informer.Run(stop) })
			for len(s.requestLog(false)) < 2 || !r.informer.HasSynced() {
				time.Sleep(time.Millisecond)
			}
			close(stop)
			running.Wait()
			for _, request := range s.requestLog(true) {
				line(timeouts.ReplaceAllString(request, "timeout"))
			}
			keys := r.informer.GetStore().ListKeys()
			slices.Sort(keys)
			line("keys", keys)
			var indexes []string
			for name := range r.informer.GetIndexer().GetIndexers() {
				indexes = append(indexes, name)
			}
			slices.Sort(indexes)
			line("indexes", indexes)
			for _, key := range keys {
				o, _, err := r.informer.GetStore().GetByKey(key)
				line(fmt.Sprintf("%T", o), text(o), kindOf(err))
			}
			namespace, name, err := cache.SplitMetaNamespaceKey(keys[0])
			line(kindOf(err))
			callLister(r.lister, []string{namespace, "missing"}, []string{name, "missing"})
		})
	}
}

// callLister calls each method of a lister with each of the names. An object exists for one of the
// names.
func callLister(lister reflect.Value, namespaces, names []string) {
	for i := range lister.NumMethod() {
		method := lister.Method(i)
		t, verb := method.Type(), lister.Type().Method(i).Name
		if t.NumOut() == 1 && t.Out(0).Kind() == reflect.Interface { // a lister of a namespace
			for _, namespace := range namespaces {
				line(verb, namespace)
				callLister(method.Call([]reflect.Value{reflect.ValueOf(namespace)})[0], nil, names)
			}
			continue
		}
		for _, name := range names {
			line(verb, name)
			callAndPrint(method, func(t reflect.Type) reflect.Value {
				if t.Kind() == reflect.String {
					return reflect.ValueOf(name)
				}
				return filledValue(t)
			})
		}
	}
}

// timeouts matches the random timeouts of watches.
var timeouts = regexp.MustCompile(`timeout(Seconds)?=[0-9ms]+`)

// listType returns the type of the lists of a resource.
func listType(clients kubernetes.Interface, name string) reflect.Type {
	var list reflect.Type
	eachResource(reflect.ValueOf(clients), "", func(n string, client reflect.Value) {
		group, kind, _ := strings.Cut(n, " ")
		if words := strings.Fields(name); group == words[0]+words[1] && kind == words[2] {
			list = client.MethodByName("List").Type().Out(0)
		}
	})
	return list
}

// listAndWatchHandler returns the handler of a server. The server returns a filled list with two
// objects, and its watches have no events.
func listAndWatchHandler(list reflect.Type) http.HandlerFunc {
	o := filledValue(list).Interface().(runtime.Object)
	reflect.ValueOf(o).Elem().FieldByName("Continue").SetString("")
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			objectHandler(http.StatusOK, o)(w, r)
			return
		}
		if strings.HasPrefix(r.Header.Get("Accept"), protobufType) {
			w.Header().Set("Content-Type", protobufType+";stream=watch")
		} else {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// resourcesOf returns the resources of all groups and versions of a factory.
func resourcesOf(factory informers.SharedInformerFactory) (all []informerCase) {
	groups := reflect.ValueOf(&factory).Elem()
	for i := range groups.NumMethod() {
		if t := groups.Method(i).Type(); t.NumIn() != 0 || t.NumOut() != 1 || t.Out(0).Kind() != reflect.Interface {
			continue
		}
		group := groups.Method(i).Call(nil)[0]
		for k := range group.NumMethod() {
			version := group.Method(k).Call(nil)[0]
			for m := range version.NumMethod() {
				r := version.Method(m).Call(nil)[0]
				all = append(all, informerCase{
					name:     groups.Type().Method(i).Name + " " + group.Type().Method(k).Name + " " + version.Type().Method(m).Name,
					informer: r.MethodByName("Informer").Call(nil)[0].Interface().(cache.SharedIndexInformer),
					lister:   r.MethodByName("Lister").Call(nil)[0],
				})
			}
		}
	}
	return all
}

// tryForResource gets informers from a factory by the names of resources.
func tryForResource() {
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(&rest.Config{Host: "localhost"}), 0)
	for _, r := range resourcesOf(factory) {
		words := strings.Fields(r.name)
		group, version := strings.ToLower(words[0]), strings.ToLower(words[1])
		if name, ok := groups[group]; ok {
			group = name
		}
		if words[0] == "Internal" {
			group = "internal.apiserver.k8s.io"
		}
		gvr := schema.GroupVersionResource{Group: group, Version: version, Resource: strings.ToLower(words[2])}
		block("for "+gvr.String(), func() {
			generic, err := factory.ForResource(gvr)
			line(kindOf(err))
			if err != nil {
				return
			}
			line("the store is the factory's:", generic.Informer().GetStore() == r.informer.GetStore())
			_, err = generic.Lister().Get("missing")
			line(kindOf(err))
			_, err = generic.Lister().ByNamespace("ns").Get("missing")
			line(kindOf(err))
		})
	}
}
