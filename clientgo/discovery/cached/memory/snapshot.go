package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/runtime"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/internal/once"
)

// requestsAtOnce limits the load on a server without aggregated discovery.
const requestsAtOnce = 64

// snapshot holds the delegate's results from one point in time. The groups and the set of versions
// never change. A version whose request failed may be requested again.
type snapshot struct {
	groups *metav1.APIGroupList
	// resources that came with the groups, or nil
	resources map[schema.GroupVersion]*metav1.APIResourceList
	failed    map[schema.GroupVersion]error // failures that came with the groups
	versions  map[string]*groupVersion
}

// errNoGroups is the error if the server returned no groups. Such a result is not cached: the
// server may be starting, or may not yet show the groups to the caller.
var errNoGroups = errors.New("no groups")

// fetchSnapshot requests all groups and resources from a delegate.
func fetchSnapshot(ctx context.Context, delegate discovery.DiscoveryInterfaceWithContext) (*snapshot, error) {
	a, err := groupsOf(ctx, delegate)
	if err != nil {
		report(ctx, err, "Couldn't get current server API group list")
		return nil, err
	}
	if a.resources == nil {
		if a.groups == nil || len(a.groups.Groups) == 0 {
			return a, errNoGroups
		}
		a.failed = nil
		a.fetchVersions(ctx, delegate)
		if err := ctx.Err(); err != nil {
			return nil, err // an unfinished request is not a failure of the server
		}
		return a, nil
	}
	for gv, list := range a.resources {
		a.versions[gv.String()] = versionWithResult(gv.String(), list, nil)
	}
	for gv, err := range a.failed {
		a.versions[gv.String()] = versionWithResult(gv.String(), nil, err)
	}
	return a, nil
}

func groupsOf(ctx context.Context, delegate discovery.DiscoveryInterfaceWithContext) (*snapshot, error) {
	a := &snapshot{versions: map[string]*groupVersion{}}
	var err error
	if aggregated, ok := delegate.(discovery.AggregatedDiscoveryInterfaceWithContext); ok {
		a.groups, a.resources, a.failed, err = aggregated.GroupsAndMaybeResourcesWithContext(ctx)
	} else {
		a.groups, err = delegate.ServerGroupsWithContext(ctx)
	}
	return a, err
}

// aggregated returns copies of the resources and failures that came with the groups.
func (a *snapshot) aggregated() (map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error) {
	if a.resources == nil {
		return nil, nil
	}
	resources := make(map[schema.GroupVersion]*metav1.APIResourceList, len(a.resources))
	for gv, list := range a.resources {
		resources[gv] = list
	}
	failed := make(map[schema.GroupVersion]error, len(a.failed))
	for gv, err := range a.failed {
		failed[gv] = err
	}
	return resources, failed
}

// fetchVersions requests the resources of each version, with several requests at once. It returns
// when all requests have ended.
func (a *snapshot) fetchVersions(ctx context.Context, delegate discovery.DiscoveryInterfaceWithContext) {
	var running sync.WaitGroup
	free := make(chan struct{}, requestsAtOnce)
	for i := range a.groups.Groups {
		for _, v := range a.groups.Groups[i].Versions {
			if _, ok := a.versions[v.GroupVersion]; ok {
				continue
			}
			gv := &groupVersion{name: v.GroupVersion}
			a.versions[v.GroupVersion] = gv
			free <- struct{}{}
			running.Go(func() {
				_, _ = gv.resources(ctx, delegate)
				<-free
			})
		}
	}
	running.Wait()
}

// groupVersion holds the resources of a group version.
type groupVersion struct {
	name    string
	outcome once.Value[versionResult]
}

// versionResult is the cached result for a group version. It is valid until Invalidate.
type versionResult struct {
	list *metav1.APIResourceList
	err  error
}

// versionWithResult returns a groupVersion with the given result as its outcome.
func versionWithResult(name string, list *metav1.APIResourceList, err error) *groupVersion {
	v := &groupVersion{name: name}
	_, _ = v.outcome.Get(context.Background(), func(context.Context) (versionResult, error) { return versionResult{list, err}, nil })
	return v
}

// resources returns the outcome of the version. If the version has no outcome yet, the method
// requests the resources from the delegate.
func (v *groupVersion) resources(ctx context.Context, delegate discovery.DiscoveryInterfaceWithContext) (*metav1.APIResourceList, error) {
	final, err := v.outcome.Get(ctx, func(ctx context.Context) (versionResult, error) {
		list, err := delegate.ServerResourcesForGroupVersionWithContext(ctx, v.name)
		switch {
		case err != nil:
			report(ctx, err, "Couldn't get resource list", "groupVersion", v.name)
			if isTransient(err) {
				return versionResult{}, err
			}
			return versionResult{err: err}, nil
		case len(list.APIResources) == 0:
			return versionResult{list, &emptyResponseError{v.name}}, nil
		}
		return versionResult{list, nil}, nil
	})
	if err != nil {
		return nil, err
	}
	return final.list, final.err
}

// report logs a failure of the server, which a caller might mistake for a missing resource.
func report(ctx context.Context, err error, text string, keysAndValues ...any) {
	if ctx.Err() == nil {
		runtime.HandleErrorWithContext(ctx, err, text, keysAndValues...)
	}
}

// isTransient reports whether another attempt may succeed: the server returned a 5xx or a 429, the
// network failed, or the context ended.
func isTransient(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := status.Status().Code
		return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// emptyResponseError is the error of a group version without resources, whose server may be
// starting.
type emptyResponseError struct{ groupVersion string }

// Error implements error.
func (e *emptyResponseError) Error() string {
	return fmt.Sprintf("received empty response for: %s", e.groupVersion)
}
