package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
)

const (
	coreGroups = `{"kind":"APIVersions","versions":["v1"]}`
	namedGroup = `{"name":"%s","versions":[{"groupVersion":"%[1]s/%[2]s","version":"%[2]s"}],"preferredVersion":{"groupVersion":"%[1]s/%[2]s","version":"%[2]s"}}`
	pods       = `{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get"],"shortNames":["po"],"categories":["all"]}`
	podLogs    = `{"name":"pods/log","namespaced":true,"kind":"Pod","verbs":["get"]}`
	nodes      = `{"name":"nodes","singularName":"","kind":"Node","verbs":["get","list"]}`
	deployment = `{"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment","verbs":["get"]}`
	scales     = `{"name":"deployments/scale","group":"autoscaling","version":"v1","namespaced":true,"kind":"Scale","verbs":["get"]}`
)

func resources(gv string, all ...string) response {
	return ok(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"` + gv + `","resources":[` + strings.Join(all, ",") + `]}`)
}

func legacy() responses {
	return responses{
		"/api": ok(coreGroups),
		"/apis": ok(`{"kind":"APIGroupList","apiVersion":"v1","groups":[
			{"name":"apps","versions":[{"groupVersion":"apps/v1beta1","version":"v1beta1"},{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}},` +
			fmt.Sprintf(namedGroup, "metrics.k8s.io", "v1") + `,{"name":"unpreferred","versions":[{"groupVersion":"unpreferred/v1","version":"v1"}]}]}`),
		"/api/v1":                 resources("v1", pods, podLogs, nodes),
		"/apis/apps/v1":           resources("apps/v1", deployment, scales),
		"/apis/apps/v1beta1":      resources("apps/v1beta1", deployment, `{"name":"olds","namespaced":true,"kind":"Old","verbs":["get"]}`),
		"/apis/metrics.k8s.io/v1": resources("metrics.k8s.io/v1", `{"name":"nodes","kind":"NodeMetrics","verbs":["get"]}`),
		"/apis/unpreferred/v1":    resources("unpreferred/v1"),
		"/version":                ok(`{"major":"1","minor":"37","gitVersion":"v1.37.2"}`),
		"/openapi/v3":             {200, jsonType, `{"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=1"},"version":{"serverRelativeURL":"/other/version"}}}`, map[string]string{"Etag": `"o"`, "Cache-Control": "no-cache, private"}},
		"/openapi/v3/api/v1":      {200, jsonType, `{"openapi":"3.0.0"}`, map[string]string{"Cache-Control": "public, immutable", "Expires": time.Now().Add(time.Hour).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"), "Etag": `"v"`}},
	}
}

const (
	aggregatedCore = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":""},"versions":[{"version":"v1","freshness":"Current","resources":[
		{"resource":"pods","responseKind":{"group":"","version":"v1","kind":"Pod"},"scope":"Namespaced","singularResource":"pod","verbs":["get"],"shortNames":["po"],"categories":["all"],
			"subresources":[{"subresource":"log","responseKind":{"group":"","version":"v1","kind":"Pod"},"verbs":["get"]},{"subresource":"kindless","verbs":["get"]}]}]}]}]}`
	aggregatedNamed = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
		{"metadata":{"name":"apps"},"versions":[{"version":"v1","freshness":"Current","resources":[
			{"resource":"deployments","responseKind":{"group":"apps","kind":"Deployment"},"scope":"Namespaced","singularResource":"deployment","verbs":["get"],"subresources":[{"subresource":"scale","responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},"verbs":["get"]}]},
			{"resource":"onlysub","scope":"Cluster","singularResource":"os","verbs":["get"],"subresources":[{"subresource":"sub","responseKind":{"group":"a","version":"v1","kind":"Sub"},"verbs":["get"]}]},
			{"resource":"emptykind","responseKind":{"group":"","version":"","kind":""},"scope":"Cluster","verbs":["get"]}]},
			{"version":"v1beta1","resources":[{"resource":"olds","responseKind":{"group":"apps","version":"v1beta1","kind":"Old"},"scope":"Odd","verbs":["get"]}]}]},
		{"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1","freshness":"Stale"}]},
		{"metadata":{"name":"half"},"versions":[{"version":"v2","freshness":"Stale"},{"version":"v1","resources":[{"resource":"halves","responseKind":{"group":"half","version":"v1","kind":"Half"},"scope":"Cluster","verbs":["get"]}]}]},
		{"metadata":{"name":"nothing"},"versions":[]}]}`
	status = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"Forbidden","code":403}`
)

// servers returns many kinds of API servers, both working and broken.
func servers() (names []string, all map[string]responses) {
	all = map[string]responses{}
	add := func(name string, d responses) {
		names = append(names, name)
		all[name] = d
	}
	both := responses{"/api": aggregated(aggregatedCore), "/apis": aggregated(aggregatedNamed)}
	add("legacy", legacy())
	add("aggregated", legacy().merged(both))
	add("aggregated core only", legacy().merged(responses{"/api": aggregated(aggregatedCore)}))
	add("aggregated groups only", legacy().merged(responses{"/apis": aggregated(aggregatedNamed)}))
	for _, path := range []string{"/api", "/apis", "/api/v1"} {
		for name, d := range map[string]response{"404": failing(404), "503": failing(503), "429": failing(429), "400": failing(400), "406": failing(406), "403 with a status": {403, jsonType, status, nil}, "a status as 200": ok(status),
			"malformed": ok(`{`), "empty": ok(``), "null": ok(`null`), "another kind": ok(`{"kind":"APIGroup","apiVersion":"v1","name":"x"}`), "a page": {200, "text/html", "<html>", nil}, "no type": {200, ";;", coreGroups, nil},
			"wrong fields": ok(`{"kind":"APIResourceList","apiVersion":"v1","versions":3,"groups":{},"resources":"x"}`)} {
			add(path+" is "+name, legacy().merged(responses{path: d}))
		}
	}
	for name, d := range map[string]response{"malformed": aggregated(`{`), "of wrong fields": aggregated(`{"items":3}`), "empty": aggregated(``), "another version": {200, strings.Replace(aggregatedType, "v=v2", "v=v9", 1), aggregatedNamed, nil}} {
		add("aggregated groups are "+name, legacy().merged(both).merged(responses{"/apis": d}))
	}
	for _, code := range []int{404, 503} {
		add(fmt.Sprintf("one group is %d", code), legacy().merged(responses{"/apis/metrics.k8s.io/v1": failing(code)}))
	}
	add("nothing", responses{})
	return names, all
}

type clientCase struct {
	discovery.DiscoveryInterface
	name string
}

// callAll calls all methods of a client of the server s, and prints the results.
func (a clientCase) callAll(s *server) {
	groups, err := a.ServerGroups()
	line(a.name, "groups", text(groups), kindOf(err))
	s.printRequests()
	if c, ok := a.DiscoveryInterface.(discovery.AggregatedDiscoveryInterface); ok {
		groups, resources, failed, err := c.GroupsAndMaybeResources()
		line(a.name, "maybe", text(groups), resources == nil, len(resources), fmt.Sprint(failed), failed == nil, kindOf(err))
		for gv, list := range resources {
			if gv == (schema.GroupVersion{Group: "apps", Version: "v1"}) {
				line(a.name, gv, text(list))
			}
		}
	}
	for _, gv := range []string{"v1", "apps/v1", "metrics.k8s.io/v1", "unpreferred/v1", "half/v1", "half/v2", "none/v1", ""} {
		list, err := a.ServerResourcesForGroupVersion(gv)
		line(a.name, gv, text(list), kindOf(err), errors.Is(err, memory.ErrCacheNotFound))
	}
	s.printRequests()
	all, lists, err := a.ServerGroupsAndResources()
	line(a.name, "all", text(all), inOrder(lists), kindOf(err))
	s.printRequests()
	lists, err = a.ServerPreferredResources()
	line(a.name, "preferred", inOrder(lists), kindOf(err))
	s.printRequests()
	lists, err = a.ServerPreferredNamespacedResources()
	line(a.name, "preferred in namespaces", inOrder(lists), kindOf(err))
	if c, ok := a.DiscoveryInterface.(discovery.CachedDiscoveryInterface); ok {
		line(a.name, "fresh", c.Fresh())
	}
	s.printRequests()
}

func tryClients() {
	names, all := servers()
	for _, name := range names {
		s := serve(all[name])
		config := &rest.Config{Host: s.URL, QPS: -1}
		block(name+": client", func() { clientCase{discovery.NewDiscoveryClientForConfigOrDie(config), "client"}.callAll(s) })
		block(name+": without aggregated discovery", func() {
			clientCase{discovery.NewDiscoveryClientForConfigOrDie(config).WithLegacy(), "legacy"}.callAll(s)
		})
		block(name+": memory", func() {
			c := memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(config))
			line(c.Fresh())
			clientCase{c, "first"}.callAll(s)
			for path, d := range legacy() {
				s.set(path, d)
			}
			clientCase{c, "after the repair"}.callAll(s)
			c.Invalidate()
			line(c.Fresh())
			clientCase{c, "invalidated"}.callAll(s)
			for path, d := range all[name] {
				s.set(path, d)
			}
		})
		block(name+": disk", func() { tryDisk(s, config) })
		s.Close()
	}
	tryHelpers()
}

func tryDisk(s *server, config *rest.Config) {
	directory, err := os.MkdirTemp("", "try")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(directory) }()
	open := func(ttl time.Duration) *disk.CachedDiscoveryClient {
		c, err := disk.NewCachedDiscoveryClientForConfig(config, filepath.Join(directory, "d"), filepath.Join(directory, "h"), ttl)
		if err != nil {
			panic(err)
		}
		return c
	}
	first := open(time.Hour)
	clientCase{first, "first"}.callAll(s)
	clientCase{open(time.Hour), "second"}.callAll(s)
	for path, d := range legacy() {
		s.set(path, d)
	}
	clientCase{open(0), "expired"}.callAll(s)
	first.Invalidate()
	clientCase{first, "invalidated"}.callAll(s)
	_ = filepath.WalkDir(filepath.Join(directory, "d"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, _ := os.ReadFile(path)
		name, _ := filepath.Rel(directory, path)
		line("file", name, info.Mode(), string(content))
		return nil
	})
}

func tryHelpers() {
	s := serve(legacy().merged(responses{"/api": aggregated(aggregatedCore), "/apis": aggregated(aggregatedNamed)}))
	defer s.Close()
	c := discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: s.URL, QPS: -1})
	block("version and helpers", func() {
		v, err := c.ServerVersion()
		line(text(v), kindOf(err))
		for _, gv := range []schema.GroupVersion{{Version: "v1"}, {Group: "apps", Version: "v1"}, {Group: "apps", Version: "v9"}} {
			line(gv, kindOf(discovery.ServerSupportsVersion(c, gv)))
			enabled, err := discovery.IsResourceEnabled(c, gv.WithResource("pods"))
			line(gv, enabled, kindOf(err))
		}
		for _, kind := range []string{aggregatedType, "application/json", "", ";;", "application/json; as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io;charset=utf-8", "text/plain;" + aggregatedType[17:]} {
			is, err := discovery.ContentTypeIsGVK(kind, schema.GroupVersionKind{Group: "apidiscovery.k8s.io", Version: "v2", Kind: "APIGroupDiscoveryList"})
			line(kind, is, kindOf(err))
		}
		failed := &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{{Group: "b", Version: "v1"}: errors.New("x"), {Version: "v1"}: errors.New("y")}}
		wrapped := fmt.Errorf("w: %w", failed)
		groups, ok := discovery.GroupDiscoveryFailedErrorGroups(wrapped)
		line(wrapped, discovery.IsGroupDiscoveryFailedError(wrapped), discovery.IsGroupDiscoveryFailedError(failed), len(groups), ok, errors.Is(wrapped, &discovery.ErrGroupDiscoveryFailed{}), errors.Is(wrapped, errors.New("x")))
		s.printRequests()
	})
	block("fields of the client", func() {
		for _, prefix := range []string{"", "/other"} {
			c := discovery.NewDiscoveryClient(c.RESTClient())
			c.LegacyPrefix, c.NoPeerDiscovery = prefix, true
			_, err := c.ServerGroups()
			line(kindOf(err))
			_, err = c.ServerResourcesForGroupVersion("v1")
			line(kindOf(err))
			s.printRequests()
		}
	})
	block("OpenAPI", func() {
		_, err := c.OpenAPISchema()
		line(kindOf(err))
		paths, err := c.OpenAPIV3().Paths()
		line(len(paths), kindOf(err))
		for _, path := range []string{"api/v1", "version"} {
			body, err := paths[path].Schema("application/json")
			line(paths[path].ServerRelativeURL(), string(body), kindOf(err))
		}
		root := openapi3.NewRoot(c.OpenAPIV3())
		gvs, err := root.GroupVersions()
		line(gvs, kindOf(err))
		for _, gv := range []schema.GroupVersion{{Version: "v1"}, {Group: "none", Version: "v1"}} {
			document, err := root.GVSpecAsMap(gv)
			line(text(document), kindOf(err))
		}
		s.printRequests()
	})
}
