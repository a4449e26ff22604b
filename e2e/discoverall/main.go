// Command discoverall sends an API server all requests of client-go's discovery packages, and
// prints the responses in a fixed order. TestDiscoveryOfBothModules builds it twice: with
// client-go, and with the replace directive for module clientgo in go.mod.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
)

func main() {
	config := &rest.Config{}
	flag.StringVar(&config.Host, "server", "", "address of the API server")
	flag.StringVar(&config.CAFile, "ca", "", "file of the CA certificate")
	flag.StringVar(&config.BearerTokenFile, "token", "", "file of the token")
	namespace := flag.String("namespace", "", "namespace of the deployment \"scaled\", whose scale is read")
	directory := flag.String("directory", "", "directory for the files of the cache")
	flag.Parse()
	if err := run(config, *namespace, *directory); err != nil {
		fmt.Fprintln(os.Stderr, "discoverall:", err)
		os.Exit(1)
	}
}

func run(config *rest.Config, namespace, directory string) error {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	printResources("client", client)
	printResources("legacy", client.WithLegacy())
	cached := memory.NewMemCacheClient(client)
	printResources("memory", cached)
	printResources("memory again", cached)
	for _, run := range []string{"first run", "second run"} {
		onDisk, err := disk.NewCachedDiscoveryClientForConfig(config, filepath.Join(directory, "discovery"), filepath.Join(directory, "http"), time.Hour)
		if err != nil {
			return err
		}
		printResources(run, onDisk)
		fmt.Println(run, onDisk.Fresh())
		printDocuments(run, onDisk)
	}
	printFiles(filepath.Join(directory, "discovery"))
	version, err := client.ServerVersion()
	fmt.Println("version", text(version), err)
	printMappings(cached)
	return printScale(config, client, cached, namespace)
}

func text(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// inOrder prints lists in a fixed order, because client-go's order is partly random.
func inOrder(lists []*metav1.APIResourceList) string {
	var all []string
	for _, list := range lists {
		for i := range list.APIResources {
			all = append(all, list.GroupVersion+" "+text(list.APIResources[i])+"\n")
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

func printResources(name string, client discovery.DiscoveryInterface) {
	groups, err := client.ServerGroups()
	fmt.Println(name, "groups", text(groups.Groups), err)
	_, lists, err := client.ServerGroupsAndResources()
	fmt.Println(name, "resources", inOrder(lists), err)
	lists, err = client.ServerPreferredResources()
	fmt.Println(name, "preferred", inOrder(lists), err)
	lists, err = client.ServerPreferredNamespacedResources()
	fmt.Println(name, "preferred in namespaces", inOrder(lists), err)
	for i := range groups.Groups {
		for _, v := range groups.Groups[i].Versions {
			list, err := client.ServerResourcesForGroupVersion(v.GroupVersion)
			fmt.Println(name, v.GroupVersion, text(list), err)
		}
	}
}

func printDocuments(name string, client discovery.DiscoveryInterface) {
	document, err := client.OpenAPISchema()
	fmt.Println(name, "OpenAPI v2", len(document.GetDefinitions().GetAdditionalProperties()), len(document.GetPaths().GetPath()), document.GetInfo().GetTitle(), err)
	paths, err := client.OpenAPIV3().Paths()
	fmt.Println(name, "OpenAPI v3", len(paths), err)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for _, kind := range []string{"application/json", openapi.ContentTypeOpenAPIV3PB} {
			body, err := paths[path].Schema(kind)
			fmt.Printf("%s %s %s %s %x %v\n", name, path, kind, paths[path].ServerRelativeURL(), sha256.Sum256(body), err)
		}
	}
	root := openapi3.NewRoot(client.OpenAPIV3())
	versions, err := root.GroupVersions()
	fmt.Println(name, versions, err)
	apps, err := root.GVSpec(schema.GroupVersion{Group: "apps", Version: "v1"})
	fmt.Println(name, len(apps.Components.Schemas), len(apps.Paths.Paths), err)
}

func printFiles(directory string) {
	_ = filepath.WalkDir(directory, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(directory, path)
		fmt.Println("file", name, string(content), err)
		return nil
	})
}

func printMappings(client discovery.CachedDiscoveryInterface) {
	groups, err := restmapper.GetAPIGroupResources(client)
	fmt.Println("groups of the mapper", len(groups), err)
	deferred := restmapper.NewDeferredDiscoveryRESTMapper(client)
	mapper := restmapper.NewShortcutExpander(deferred, client, nil)
	show := func(m *meta.RESTMapping) string {
		if m == nil {
			return ""
		}
		return fmt.Sprint(m.Resource, m.GroupVersionKind, m.Scope.Name())
	}
	for _, group := range groups {
		for _, version := range slices.Sorted(maps.Keys(group.VersionedResources)) {
			for _, r := range group.VersionedResources[version] {
				mapping, err := mapper.RESTMapping(schema.GroupKind{Group: group.Group.Name, Kind: r.Kind}, version)
				fmt.Println("mapping", group.Group.Name, version, r.Kind, show(mapping), err)
				mapping, err = mapper.RESTMapping(schema.GroupKind{Group: group.Group.Name, Kind: r.Kind})
				fmt.Println("mapping", group.Group.Name, r.Kind, show(mapping), err)
				for _, name := range append([]string{r.Name, r.SingularName}, r.ShortNames...) {
					kind, err := mapper.KindFor(schema.GroupVersionResource{Resource: name})
					fmt.Println("kind", name, kind, err)
					resource, err := mapper.ResourceFor(schema.GroupVersionResource{Group: group.Group.Name, Resource: name})
					fmt.Println("resource", name, resource, err)
				}
			}
		}
	}
	for _, category := range []string{"all", "api-extensions", "none"} {
		found, ok := restmapper.NewDiscoveryCategoryExpander(client).Expand(category)
		var names []string
		for _, r := range found {
			names = append(names, r.String())
		}
		slices.Sort(names)
		// client-go lists a resource once for each version.
		fmt.Println("category", category, slices.Compact(names), ok)
	}
}

func printScale(config *rest.Config, client discovery.DiscoveryInterface, cached discovery.CachedDiscoveryInterface, namespace string) error {
	scales, err := scale.NewForConfig(rest.CopyConfig(config), restmapper.NewDeferredDiscoveryRESTMapper(cached), dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client))
	if err != nil {
		return err
	}
	ctx, deployments := context.Background(), schema.GroupResource{Group: "apps", Resource: "deployments"}
	is, err := scales.Scales(namespace).Get(ctx, deployments, "scaled", metav1.GetOptions{})
	fmt.Println("scale", text(is), err)
	if err != nil {
		return err
	}
	is.Spec.Replicas += 2
	is, err = scales.Scales(namespace).Update(ctx, deployments, is, metav1.UpdateOptions{DryRun: []string{"All"}})
	fmt.Println("scale", text(is), err)
	_, err = scales.Scales(namespace).Get(ctx, deployments, "none", metav1.GetOptions{})
	fmt.Println("scale", err)
	return nil
}
