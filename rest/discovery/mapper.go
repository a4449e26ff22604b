package discovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/rest"
)

// MapperOptions are the optional settings of a Mapper. The zero value is ready for use.
type MapperOptions struct {
	// RefreshInterval is the shortest time between two discoveries, whether or not the first one
	// succeeded. It protects the server from a program that searches for a missing name over and
	// over. Negative means no limit. Defaults to 10 seconds.
	RefreshInterval time.Duration
}

// Mapper finds resources by their names and kinds, in the result of its last discovery. If a search
// finds nothing, the Mapper repeats the discovery, because a custom resource may be new. Until the
// next discovery, it still finds resources that the server no longer has.
//
// If a part of a discovery fails, the Mapper keeps the earlier resources of this part. Only a
// search that finds nothing returns an error. The error also names the failed parts, because the
// missing resource may be in one of them.
//
// A Mapper is safe for concurrent use, and has no goroutine. A search takes no lock. If several
// searches find nothing, one of them repeats the discovery while the others wait for the result.
type Mapper struct {
	client     *rest.Client
	interval   time.Duration
	cached     atomic.Pointer[cachedResult] // nil before the first discovery
	refreshing chan struct{}                // holds one element while a caller runs a discovery

	discoveries atomic.Uint64
}

// cachedResult is the result of a discovery. It is never changed.
type cachedResult struct {
	resources []Resource
	err       error // an *Error, or nil
	at        time.Time
}

// NewMapper returns a Mapper. The first discovery runs at the first use of the Mapper.
func NewMapper(client *rest.Client, opts MapperOptions) *Mapper {
	if opts.RefreshInterval == 0 {
		opts.RefreshInterval = 10 * time.Second
	}
	return &Mapper{client: client, interval: opts.RefreshInterval, refreshing: make(chan struct{}, 1)}
}

// Find is the function [Find] for the resources of the server. The error is the error of ctx, or
// wraps a [*NotFoundError]. If a failed discovery found no resources at all, it is an [*Error].
func (m *Mapper) Find(ctx context.Context, name string) (found Resource, err error) {
	err = m.search(ctx, func(all []Resource) (err error) {
		found, err = Find(all, name)
		return err
	})
	return found, err
}

// FindKind returns the resource whose objects are of a kind. If kind has no version, FindKind
// returns the version that the server prefers among the versions that have the kind. Its errors are
// the same as for [Mapper.Find].
func (m *Mapper) FindKind(ctx context.Context, kind schema.GroupVersionKind) (found Resource, err error) {
	err = m.search(ctx, func(all []Resource) error {
		i := slices.IndexFunc(all, func(r Resource) bool { // the first is the preferred one
			return r.Group == kind.Group && r.Kind == kind.Kind && (kind.Version == "" || r.Version == kind.Version)
		})
		if i < 0 {
			parts := []string{kind.Kind, kind.Version, kind.Group}
			parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
			return &NotFoundError{Name: strings.Join(parts, "."), Similar: similar(all, kind.Kind)}
		}
		found = all[i]
		return nil
	})
	return found, err
}

// FindCategory returns the resources in a category, such as "all", each in its preferred version.
// Its errors are the same as for [Mapper.Find].
func (m *Mapper) FindCategory(ctx context.Context, name string) (found []Resource, err error) {
	err = m.search(ctx, func(all []Resource) error {
		found = nil
		for _, r := range all {
			if r.Preferred && slices.Contains(r.Categories, strings.ToLower(name)) {
				found = append(found, r)
			}
		}
		if found == nil {
			return &NotFoundError{Name: name}
		}
		return nil
	})
	return found, err
}

// Resources returns the resources of the last discovery, which the caller must not change. If this
// discovery failed in parts, it also returns an [*Error]. Resources sends requests only if no
// discovery has run yet.
func (m *Mapper) Resources(ctx context.Context) ([]Resource, error) {
	k := m.cached.Load()
	if k == nil {
		var err error
		if k, err = m.refresh(ctx, nil); err != nil {
			return nil, err
		}
	}
	return k.resources, k.err
}

// Refresh runs a discovery, unless another caller completes a discovery while Refresh waits. Its
// errors are the same as for the function [Resources].
func (m *Mapper) Refresh(ctx context.Context) error {
	k, err := m.refresh(ctx, m.cached.Load())
	if err != nil {
		return err
	}
	return k.err
}

// Stats describes a mapper at one moment.
type Stats struct {
	// Resources is the number of cached resources, in all versions.
	Resources int

	// Discoveries is the number of discoveries so far, and DiscoveredAt is the time of the last
	// one.
	Discoveries  uint64
	DiscoveredAt time.Time

	// Err is the error of the last discovery.
	Err error
}

// Stats returns a snapshot.
func (m *Mapper) Stats() Stats {
	s := Stats{Discoveries: m.discoveries.Load()}
	if k := m.cached.Load(); k != nil {
		s.Resources, s.DiscoveredAt, s.Err = len(k.resources), k.at, k.err
	}
	return s
}

// search calls the function find with the cached resources. If find fails, search runs a discovery,
// unless RefreshInterval forbids it, and calls find once more.
func (m *Mapper) search(ctx context.Context, find func([]Resource) error) error {
	k := m.cached.Load()
	if k != nil {
		err := find(k.resources)
		if err == nil || time.Since(k.at) < m.interval {
			return k.withFailures(err)
		}
	}
	k, err := m.refresh(ctx, k)
	if err != nil {
		return err
	}
	return k.withFailures(find(k.resources))
}

// withFailures adds the failed parts of the discovery to the error of a search.
func (k *cachedResult) withFailures(err error) error {
	switch {
	case err == nil || k.err == nil:
		return err
	case len(k.resources) == 0:
		return k.err
	}
	return fmt.Errorf("%w; but %w", err, k.err)
}

// refresh runs a discovery and caches its result. If another caller has replaced the argument stale
// in the cache meanwhile, refresh returns that caller's result. The only error is the error of ctx.
func (m *Mapper) refresh(ctx context.Context, stale *cachedResult) (*cachedResult, error) {
	select {
	case m.refreshing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-m.refreshing }()
	old := m.cached.Load()
	if old != stale {
		return old, nil
	}
	m.discoveries.Add(1)
	resources, err := Resources(ctx, m.client)
	if ctx.Err() != nil {
		return nil, ctx.Err() // the end of ctx is not a failure of the server
	}
	k := &cachedResult{resources: resources, err: err, at: time.Now()}
	if failed, ok := errors.AsType[*Error](err); ok && old != nil {
		k.resources = keepFailedParts(old.resources, resources, failed.Failures)
	}
	m.cached.Store(k)
	return k, nil
}

// keepFailedParts returns resources together with the earlier resources of the parts that failed.
// Earlier resources of the core group come first, and other earlier resources last, so that a
// search prefers fresh resources. Their number has the limit of one discovery, because a server may
// list other resources each time.
func keepFailedParts(old, resources []Resource, failures []Failure) []Resource {
	lost := map[schema.GroupVersion]bool{}
	lostCore, lostOthers := false, false // the response of /api, or of /apis, is missing
	for _, f := range failures {
		switch {
		case !f.GroupVersion.Empty():
			lost[f.GroupVersion] = true
		case f.Path == "/api":
			lostCore = true
		case f.Path == "/apis":
			lostOthers = true
		}
	}
	var core, others []Resource
	left := maxBytes
	for i, r := range old {
		isCore := r.Group == ""
		if !lost[r.GVR().GroupVersion()] && !(isCore && lostCore) && !(!isCore && lostOthers) {
			continue
		}
		if left -= r.size(); left < 0 || i >= maxObjects {
			break
		}
		if isCore {
			core = append(core, r)
		} else {
			others = append(others, r)
		}
	}
	all := slices.Concat(core, resources, others)
	setPreferred(all)
	return all
}
