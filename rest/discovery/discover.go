package discovery

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/rest"
)

const (
	acceptAny    = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
	acceptLegacy = "application/json"
)

// Resources returns all resources of the server, in every version. It blocks until the server has
// sent all responses, or ctx ends. If a part of the API fails, Resources returns the resources of
// the other parts together with an [*Error].
//
// It is not an error if one of /api and /apis is missing: an extension API server has no core
// group.
func Resources(ctx context.Context, client *rest.Client) ([]Resource, error) {
	var found collector
	missing := 0
	for _, path := range []string{"/api", "/apis"} {
		data, err := getRoot(ctx, client, path)
		switch {
		case apierrors.IsNotFound(err):
			missing++
		case err != nil:
			found.addFailure(Failure{Path: path, Err: err})
		default:
			found.addRoot(ctx, client, path, data)
		}
	}
	if missing == 2 {
		found.addFailure(Failure{Path: "/api", Err: errors.New("the server has neither /api nor /apis: is this the address of an API server?")})
	}
	setPreferred(found.resources)
	if len(found.failures) > 0 {
		return found.resources, &Error{Failures: found.failures}
	}
	return found.resources, nil
}

// collector has the resources and failures of a discovery so far.
type collector struct {
	resources []Resource
	failures  []Failure
	budget    budget
}

func (f *collector) addFailure(failure Failure) { f.failures = append(f.failures, failure) }

// getRoot gets /api or /apis, in aggregated form if the server supports it.
func getRoot(ctx context.Context, client *rest.Client, path string) ([]byte, error) {
	data, err := client.Raw(ctx, http.MethodGet, path, rest.RawOptions{Accept: acceptAny})
	if apierrors.IsNotAcceptable(err) {
		return client.Raw(ctx, http.MethodGet, path, rest.RawOptions{Accept: acceptLegacy})
	}
	return data, err
}

// addRoot reads the response from /api or /apis. The kind in the document says which form it has.
// The Content-Type does as well, but some proxies change it.
func (f *collector) addRoot(ctx context.Context, client *rest.Client, path string, data []byte) {
	var versions []versionPath
	var kind metav1.TypeMeta
	err := f.budget.reserve(data)
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(data, &kind)
	}
	switch {
	case err != nil:
	case kind.Kind == "APIGroupDiscoveryList":
		err = f.addAggregated(path, data)
	case kind.Kind == "APIVersions":
		versions, err = coreVersions(data)
		versions = f.dropInvalidNames(path, versions)
	case kind.Kind == "APIGroupList":
		versions, err = groupVersions(data)
		versions = f.dropInvalidNames(path, versions)
	default:
		err = fmt.Errorf("kind %.64q is not a kind of API discovery", kind.Kind)
	}
	if len(versions) > maxVersions {
		err = fmt.Errorf("%d versions are too many", len(versions))
	}
	if err != nil {
		f.addFailure(Failure{Path: path, Err: fmt.Errorf("%w: %w: is this the address of an API server?", rest.ErrMalformed, err)})
		return
	}
	f.addVersions(ctx, client, versions)
}

// addInvalidName reports that a group or a version has an invalid name.
func (f *collector) addInvalidName(path string) {
	f.addFailure(Failure{Path: path + "/...", Err: fmt.Errorf("%w: a group or a version has an invalid name", rest.ErrMalformed)})
}
