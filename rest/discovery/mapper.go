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

// MapperOptions are the choices of a Mapper. The zero value works.
type MapperOptions struct {
	// RefreshInterval is the shortest time between two discoveries, whether the
	// first succeeded or not, so that a name that does not exist, asked for over and
	// over, is no load. Negative means none. Defaults to 10 seconds.
	RefreshInterval time.Duration
}

// Mapper finds resources by their names and kinds in what a server said when it was
// last asked. A name that is not there makes it ask again, as a custom resource may
// be new; what has vanished from the server is noticed then, too. It is safe for
// concurrent use: searching takes no lock, and of several who miss something only
// one asks while the others wait for that answer. It has no goroutine.
//
// Discovery that fails in parts hides nothing: what is known of those parts from
// before is kept, an error is returned only to who asks for what was not found, and
// it then names those parts, too, as that is where it may be.
type Mapper struct {
	client   *rest.Client
	interval time.Duration
	known    atomic.Pointer[knowledge] // nil before the first discovery
	asking   chan struct{}             // holds one element while somebody asks

	discoveries atomic.Uint64
}

// knowledge is the outcome of a discovery. It is immutable.
type knowledge struct {
	resources []Resource
	err       error // what could not be discovered, or nil
	at        time.Time
}

// NewMapper returns a mapper that knows nothing yet; it asks at first use.
func NewMapper(client *rest.Client, opts MapperOptions) *Mapper {
	if opts.RefreshInterval == 0 {
		opts.RefreshInterval = 10 * time.Second
	}
	return &Mapper{client: client, interval: opts.RefreshInterval, asking: make(chan struct{}, 1)}
}

// Find is the function [Find] in what the server has. The error is, or wraps, a
// [*NotFoundError], or says why the server could not be asked.
func (m *Mapper) Find(ctx context.Context, name string) (found Resource, err error) {
	err = m.search(ctx, func(all []Resource) (err error) {
		found, err = Find(all, name)
		return err
	})
	return found, err
}

// Kind returns the resource whose objects are of a kind. An empty version means the
// one that the server prefers among those that have the kind. Errors are those of
// [Mapper.Find].
func (m *Mapper) Kind(ctx context.Context, kind schema.GroupVersionKind) (found Resource, err error) {
	err = m.search(ctx, func(all []Resource) error {
		i := slices.IndexFunc(all, func(r Resource) bool { // the first is the preferred one
			return r.Group == kind.Group && r.Kind == kind.Kind && (kind.Version == "" || r.Version == kind.Version)
		})
		if i < 0 {
			name := strings.TrimSuffix(strings.Join([]string{kind.Kind, kind.Version, kind.Group}, "."), ".")
			return &NotFoundError{Name: name, Similar: similar(all, kind.Kind)}
		}
		found = all[i]
		return nil
	})
	return found, err
}

// Category returns the resources in a category, such as "all", in their preferred
// versions. Errors are those of [Mapper.Find].
func (m *Mapper) Category(ctx context.Context, name string) (found []Resource, err error) {
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

// Resources returns all that is known, which must not be changed, and beside it an
// [*Error] that says what could not be discovered. It asks the server only if that
// was never done.
func (m *Mapper) Resources(ctx context.Context) ([]Resource, error) {
	k := m.known.Load()
	if k == nil {
		var err error
		if k, err = m.refresh(ctx, nil); err != nil {
			return nil, err
		}
	}
	return k.resources, k.err
}

// Refresh asks the server now, unless somebody else just did so. The error is as
// that of the function [Resources].
func (m *Mapper) Refresh(ctx context.Context) error {
	k, err := m.refresh(ctx, m.known.Load())
	if err != nil {
		return err
	}
	return k.err
}

// Stats describe a mapper at one moment.
type Stats struct {
	// Resources is how many are known, in all versions.
	Resources int

	// Discoveries is how often the server was asked, DiscoveredAt when that was last
	// the case.
	Discoveries  uint64
	DiscoveredAt time.Time

	// Err says what could not be discovered then.
	Err error
}

// Stats returns a snapshot.
func (m *Mapper) Stats() Stats {
	s := Stats{Discoveries: m.discoveries.Load()}
	if k := m.known.Load(); k != nil {
		s.Resources, s.DiscoveredAt, s.Err = len(k.resources), k.at, k.err
	}
	return s
}

// search looks for something in what is known, and once more in what the server
// says now, if it is not too early to ask.
func (m *Mapper) search(ctx context.Context, find func([]Resource) error) error {
	k := m.known.Load()
	if k != nil {
		err := find(k.resources)
		if err == nil || time.Since(k.at) < m.interval {
			return k.explain(err)
		}
	}
	k, err := m.refresh(ctx, k)
	if err != nil {
		return err
	}
	return k.explain(find(k.resources))
}

// explain adds what could not be discovered to an error about what was not found.
func (k *knowledge) explain(err error) error {
	switch {
	case err == nil || k.err == nil:
		return err
	case len(k.resources) == 0:
		return k.err
	}
	return fmt.Errorf("%w; but %w", err, k.err)
}

// refresh asks the server, unless somebody else replaced what the caller knows. Its
// own error is only that of a context.
func (m *Mapper) refresh(ctx context.Context, stale *knowledge) (*knowledge, error) {
	select {
	case m.asking <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-m.asking }()
	old := m.known.Load()
	if old != stale {
		return old, nil
	}
	m.discoveries.Add(1)
	resources, err := Resources(ctx, m.client)
	if ctx.Err() != nil {
		return nil, ctx.Err() // it says nothing about the server
	}
	k := &knowledge{resources: resources, err: err, at: time.Now()}
	if failed, ok := errors.AsType[*Error](err); ok && old != nil {
		k.resources = keep(old.resources, resources, failed.Failures)
	}
	m.known.Store(k)
	return k, nil
}

// keep adds to resources what was known before of the parts that failed: the core
// group in front, the rest behind, so that what is sure is found first. It does not keep
// more than a server may say at once, as one may say something else each time.
func keep(old, resources []Resource, failures []Failure) []Resource {
	lost := map[schema.GroupVersion]bool{}
	lostCore, lostOthers := false, false // where not even the groups are known
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
	return slices.Concat(core, resources, others)
}
