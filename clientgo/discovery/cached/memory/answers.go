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

// requestsAtOnce bounds the load on a server without aggregated discovery.
const requestsAtOnce = 64

// answers are what a delegate said at one time. The groups and the set of versions stay as they are; a version that failed may be
// asked for again.
type answers struct {
	groups    *metav1.APIGroupList
	resources map[schema.GroupVersion]*metav1.APIResourceList // those that came with the groups, or nil
	failed    map[schema.GroupVersion]error                   // beside resources
	versions  map[string]*groupVersion
}

// errNoGroups is the error beside answers without groups. They are not remembered: the server may be about to start, or may not let
// the caller see them yet.
var errNoGroups = errors.New("no groups")

// ask asks a delegate for everything.
func ask(ctx context.Context, delegate discovery.DiscoveryInterfaceWithContext) (*answers, error) {
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
		a.askVersions(ctx, delegate)
		if err := ctx.Err(); err != nil {
			return nil, err // what was not asked for must not be taken for a failure of the server
		}
		return a, nil
	}
	for gv, list := range a.resources {
		a.versions[gv.String()] = remembered(gv.String(), list, nil)
	}
	for gv, err := range a.failed {
		a.versions[gv.String()] = remembered(gv.String(), nil, err)
	}
	return a, nil
}

func groupsOf(ctx context.Context, delegate discovery.DiscoveryInterfaceWithContext) (*answers, error) {
	a := &answers{versions: map[string]*groupVersion{}}
	var err error
	if aggregated, ok := delegate.(discovery.AggregatedDiscoveryInterfaceWithContext); ok {
		a.groups, a.resources, a.failed, err = aggregated.GroupsAndMaybeResourcesWithContext(ctx)
	} else {
		a.groups, err = delegate.ServerGroupsWithContext(ctx)
	}
	return a, err
}

// aggregated returns copies of what came with the groups.
func (a *answers) aggregated() (map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error) {
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

// askVersions asks for each version, several at once, and returns when all are answered.
func (a *answers) askVersions(ctx context.Context, delegate discovery.DiscoveryInterfaceWithContext) {
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

// groupVersion has the resources of a group version.
type groupVersion struct {
	name  string
	final once.Value[outcome]
}

// outcome is an answer that does not change until Invalidate.
type outcome struct {
	list *metav1.APIResourceList
	err  error
}

// remembered returns a version with an outcome.
func remembered(name string, list *metav1.APIResourceList, err error) *groupVersion {
	v := &groupVersion{name: name}
	_, _ = v.final.Get(context.Background(), func(context.Context) (outcome, error) { return outcome{list, err}, nil })
	return v
}

// resources returns the outcome, and asks for it if there is none.
func (v *groupVersion) resources(ctx context.Context, delegate discovery.DiscoveryInterfaceWithContext) (*metav1.APIResourceList, error) {
	final, err := v.final.Get(ctx, func(ctx context.Context) (outcome, error) {
		list, err := delegate.ServerResourcesForGroupVersionWithContext(ctx, v.name)
		switch {
		case err != nil:
			report(ctx, err, "Couldn't get resource list", "groupVersion", v.name)
			if isPassing(err) {
				return outcome{}, err
			}
			return outcome{err: err}, nil
		case len(list.APIResources) == 0:
			return outcome{list, &emptyResponseError{v.name}}, nil
		}
		return outcome{list, nil}, nil
	})
	if err != nil {
		return nil, err
	}
	return final.list, final.err
}

// report logs a failure of the server, which a caller may take for a missing resource.
func report(ctx context.Context, err error, text string, keysAndValues ...any) {
	if ctx.Err() == nil {
		runtime.HandleErrorWithContext(ctx, err, text, keysAndValues...)
	}
}

// isPassing returns whether another attempt may succeed: the server said so, or did not answer, or was not waited for.
func isPassing(err error) bool {
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

// emptyResponseError is the error of a group version without resources: its server may be about to start.
type emptyResponseError struct{ groupVersion string }

// Error implements error.
func (e *emptyResponseError) Error() string {
	return fmt.Sprintf("received empty response for: %s", e.groupVersion)
}
