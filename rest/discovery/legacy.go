package discovery

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/rest"
)

// requestsAtOnce limits the load on a server without aggregated discovery, which gets one request
// for each group version. A busy cluster has a hundred group versions.
const requestsAtOnce = 8

// maxVersions limits the requests that follow from one response: one for each version of a group.
const maxVersions = 10_000

// versionPath is a version of a group, and the path of its resources.
type versionPath struct {
	schema.GroupVersion
	path string
}

// coreVersions reads the legacy response from /api.
func coreVersions(data []byte) ([]versionPath, error) {
	var doc metav1.APIVersions
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &doc); err != nil {
		return nil, err
	}
	var versions []versionPath
	for _, v := range doc.Versions {
		versions = append(versions, versionPath{schema.GroupVersion{Version: v}, "/api/" + v})
	}
	return versions, nil
}

// groupVersions reads the legacy response from /apis. It returns groups in the server's order, each
// with its preferred version first.
func groupVersions(data []byte) ([]versionPath, error) {
	var doc metav1.APIGroupList
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &doc); err != nil {
		return nil, err
	}
	var versions []versionPath
	for _, g := range doc.Groups {
		isPreferred := func(v metav1.GroupVersionForDiscovery) bool { return v.Version == g.PreferredVersion.Version }
		if i := slices.IndexFunc(g.Versions, isPreferred); i > 0 {
			preferred := g.Versions[i]
			copy(g.Versions[1:], g.Versions[:i])
			g.Versions[0] = preferred
		}
		for _, v := range g.Versions {
			gv := schema.GroupVersion{Group: g.Name, Version: v.Version}
			versions = append(versions, versionPath{gv, "/apis/" + gv.String()})
		}
	}
	return versions, nil
}

// dropInvalidNames removes versions with invalid names from versions, and reports a failure. A name
// becomes a part of a path, and an invalid name could lead to another part of the API.
func (f *collector) dropInvalidNames(path string, versions []versionPath) []versionPath {
	n := len(versions)
	versions = slices.DeleteFunc(versions, func(v versionPath) bool {
		return !isName(v.Version) || path == "/apis" && !isName(v.Group)
	})
	if len(versions) < n {
		f.addInvalidName(path)
	}
	return versions
}

// addVersions requests all versions, several of them at the same time, and adds their resources in
// order. When ctx ends, it sends no more requests, and reports the first version that it did not
// request.
func (f *collector) addVersions(ctx context.Context, client *rest.Client, versions []versionPath) {
	lists := make([]metav1.APIResourceList, len(versions))
	errs := make([]error, len(versions))

	var running sync.WaitGroup
	free := make(chan struct{}, requestsAtOnce)
	for i, v := range versions {
		free <- struct{}{}
		if errs[i] = ctx.Err(); errs[i] != nil {
			versions = versions[:i+1]
			break
		}
		if f.budget.exhausted() {
			errs[i] = errNotRequested
			<-free
			continue
		}
		running.Go(func() {
			lists[i], errs[i] = f.getVersion(ctx, client, v.path)
			f.budget.countFailure(errs[i])
			<-free
		})
	}
	running.Wait()

	for i, v := range versions {
		if errs[i] != nil {
			f.addFailure(Failure{GroupVersion: v.GroupVersion, Path: v.path, Err: errs[i]})
			continue
		}
		for _, r := range lists[i].APIResources {
			f.add(Resource{
				Group:      v.Group,
				Version:    v.Version,
				Plural:     r.Name,
				Singular:   r.SingularName,
				Kind:       r.Kind,
				ShortNames: r.ShortNames,
				Categories: r.Categories,
				Verbs:      r.Verbs,
				Namespaced: r.Namespaced,
			})
		}
	}
}

// errNotRequested is the reason for a version that the discovery did not request, because too many
// other requests had failed.
var errNotRequested = fmt.Errorf("not requested, because %d other requests had failed", maxFailed)

// getVersion gets the resources of one group version.
func (f *collector) getVersion(ctx context.Context, client *rest.Client, path string) (metav1.APIResourceList, error) {
	data, err := client.Raw(ctx, http.MethodGet, path, rest.RawOptions{Accept: acceptLegacy})
	if err != nil {
		return metav1.APIResourceList{}, err
	}
	if err := f.budget.reserve(data); err != nil {
		return metav1.APIResourceList{}, fmt.Errorf("%w: %w", rest.ErrMalformed, err)
	}
	return resourceList(data)
}

// resourceList reads the legacy response for one group version.
func resourceList(data []byte) (metav1.APIResourceList, error) {
	var doc metav1.APIResourceList
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &doc); err != nil {
		return doc, fmt.Errorf("%w: %w", rest.ErrMalformed, err)
	}
	if doc.Kind != "APIResourceList" {
		return doc, fmt.Errorf("%w: kind %.64q is not an APIResourceList", rest.ErrMalformed, doc.Kind)
	}
	return doc, nil
}
