package sources

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/checkpoint"
	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// MergeOptions configures [MergeWith]. The zero value is ready to use.
type MergeOptions struct {
	// AtOnce is the maximum number of concurrent requests for a list, or for a watch. Open watches
	// don't count. Defaults to 8.
	AtOnce int

	// Tolerate says for which errors a part that has never been listed may be left out, for example
	// apierrors.IsForbidden. The part's objects are then missing from the store although the
	// informer is synced. Status.Parts shows this, and Healthy ignores it. When the part can be
	// listed, all parts are listed. Defaults to nil, which tolerates nothing: synced means
	// complete.
	Tolerate func(error) bool

	// Backoff configures how long a failing part waits while others go on. Its zero value means the
	// same as for a reflector.
	Backoff reflector.Backoff

	// Logger receives a warning when a part has failed for some seconds while others work, another
	// one every five minutes while that lasts, and a line when it is over. Defaults to
	// slog.Default().
	Logger *slog.Logger
}

// Merge is [MergeWith] with the zero MergeOptions.
func Merge[T any](parts ...listwatch.Source[T]) listwatch.Source[T] {
	return MergeWith(MergeOptions{}, parts...)
}

// MergeWith combines several parts, such as the permitted namespaces, into one source. One informer
// then has the objects of all parts in one store, with one list, one watch and one set of handlers.
// No object may be in two parts. All parts must be on one server with comparable resourceVersions
// (KEP-5504). The source belongs to one informer. The source remembers the version of each part,
// and name and version of each object, some hundred bytes each. If there is only one part,
// MergeWith returns it. A part may be a merged source itself. If a part is nil or opts are invalid,
// informer.New refuses the source, with an error that says so.
//
// All guarantees of an informer hold; "Merged sources" in the package comment has the consequences.
//
// A watch costs one goroutine and one request for each part. Each goroutine holds one event at
// most.
func MergeWith[T any](opts MergeOptions, parts ...listwatch.Source[T]) listwatch.Source[T] {
	if opts.AtOnce < 0 {
		return newUnusable[T]("sources: MergeOptions.AtOnce must not be negative")
	}
	if err := opts.Backoff.Validate(); err != nil {
		return newUnusable[T]("sources: MergeOptions: %w", err)
	}
	for i, part := range parts {
		if contain.IsNil(part) {
			return newUnusable[T]("sources: Merge needs sources, and part %d of %d is nil", i+1, len(parts))
		}
		if err := Unusable(part); err != nil {
			return unusable[T]{err}
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	if opts.AtOnce == 0 {
		opts.AtOnce = 8
	}
	opts.Logger = contain.Logger(opts.Logger)
	m := &merged[T]{parts: slices.Clone(parts), opts: opts, states: make([]partState, len(parts)), window: opts.AtOnce}
	names := make([]string, len(parts))
	for i, part := range parts {
		names[i] = sourceName(part)
		if names[i] == "source" {
			names[i] = fmt.Sprintf("part %d", i+1)
		}
	}
	m.health = newPartsHealth(names, opts.Logger)
	return m
}

// merged combines several sources. List, Watch and Next are called by one goroutine, the
// reflector's.
type merged[T any] struct {
	parts  []listwatch.Source[T]
	opts   MergeOptions
	health *partsHealth

	// states belong to the goroutines of the parts while a watch is open, and otherwise to the
	// reflector's goroutine.
	states []partState

	delivered  *mergedState // what the reflector has received; nil before the first list
	listed     *mergedState // the last list; becomes delivered at a watch from its version
	inProgress *mergedState // the list whose pages are being read

	// window is the number of lists that are requested at once. It is halved when a list breaks
	// off, because the list may have waited too long for its reader. It grows by one after each
	// complete list.
	window int

	// listAllDue says that a part has reported a change although its watch has already passed the
	// version of the change. A list of all parts is then due. lateListedAt is the time of the last
	// list for this reason.
	listAllDue   bool
	lateListedAt time.Time
}

// mergedState is the state of all parts that the reflector has received.
type mergedState struct {
	// versions has the version through which the reflector has each part's changes. It is "" or "0"
	// for a part that is missing or has no version. version is the version of the merged source, as
	// the reflector sees it.
	version  string
	versions []string

	missing []bool // parts that have been left out

	// objects has the existing objects; nil if they are unknown.
	objects map[types.NamespacedName]deliveredObject

	undecodable []partUndecodable // of each part

	requestedVersion string // the version that a list requested
}

// newState returns a state in which nothing is known.
func (m *merged[T]) newState() *mergedState {
	return &mergedState{versions: make([]string, len(m.parts)), missing: make([]bool, len(m.parts)), objects: map[types.NamespacedName]deliveredObject{}, undecodable: make([]partUndecodable, len(m.parts))}
}

// deliveredObject is the part and the version of a delivered object.
type deliveredObject struct {
	part    int
	version string
	uid     uint64 // hash, as in listwatch.Item
}

// partState is the state of a part that outlives its watches. A list does not show whether watches
// work, and a watch does not show whether lists work.
type partState struct {
	lists, watches failureStreak
	unlisted       bool // it must be listed before it is watched
	lost           bool // a watch has failed since the last comparison with the server's history
	compareSpacer  pace.Spacer
	watchLimiter   pace.BurstLimiter

	// checkpoint is the last delivered event. After a lost watch, the next watch must begin with
	// this event. It survives lists: if the server lacks this event, the server has another
	// history.
	checkpoint checkpoint.Checkpoint

	// eventMissed says that a watch did not begin with the checkpoint's event in time. The next
	// comparison of versions decides whether all parts are listed.
	eventMissed bool

	// otherHistory says that the server has another history than the delivered one. Equal versions
	// do not mean equal objects until the part has been listed without known objects.
	otherHistory bool
}

// errOtherHistory is the error of a list that would reuse known objects although the server has
// another history.
var errOtherHistory = fmt.Errorf("%w, in a part of the merged source", reflector.ErrOtherHistory)

var errMergeVersions = errors.New("sources: Merge needs parts whose resourceVersions can be compared")

// String names the parts, for errors.
func (m *merged[T]) String() string {
	if len(m.parts) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s and %d more", sourceName(m.parts[0]), len(m.parts)-1)
}

// components returns the sources that m combines.
func (m *merged[T]) components() []listwatch.Source[T] { return m.parts }

// Describe implements listwatch.Describer. It joins the descriptions of the parts in an order that
// does not depend on the order of the parts, and returns nil if a part has none.
func (m *merged[T]) Describe(ctx context.Context) (map[string]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type partDescription struct {
		description map[string]string
		err         error
	}
	slots, results := make(chan struct{}, m.opts.AtOnce), make(chan partDescription, len(m.parts))
	for _, part := range m.parts {
		if _, ok := part.(listwatch.Describer); !ok {
			return nil, nil
		}
	}
	for _, part := range m.parts {
		source := part.(listwatch.Describer)
		go func() {
			slots <- struct{}{}
			var result partDescription
			defer func() {
				<-slots
				results <- result
			}()
			reportGoexit(func() { result.description, result.err = source.Describe(ctx) }, func(err error) { result = partDescription{err: err} })
		}()
	}
	var lines []string
	var failed error
	all := map[string]string{}
	for range m.parts {
		result := <-results
		if result.err != nil {
			if failed == nil {
				failed = result.err
			}
			cancel() // The loop still waits for all parts.
		}
		lines = append(lines, describe(result.description))
	}
	if failed != nil || slices.Contains(lines, "") {
		return nil, failed
	}
	slices.Sort(lines)
	for i, line := range lines {
		all[fmt.Sprintf("part %d of %d", i+1, len(lines))] = line
	}
	return all, nil
}

// describe formats a description as one line.
func describe(description map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(description)) {
		words = append(words, fmt.Sprintf("%s=%q", name, description[name]))
	}
	return strings.Join(words, " ")
}

// FailingParts implements partial.
func (m *merged[T]) FailingParts() []PartFailure {
	failing := m.health.failing()
	for _, part := range m.parts {
		if inner, ok := part.(partial); ok {
			failing = append(failing, inner.FailingParts()...)
		}
	}
	return failing
}

// hasOtherHistory reports whether a part has found that the server has another history.
func (m *merged[T]) hasOtherHistory() bool {
	return slices.ContainsFunc(m.states, func(s partState) bool { return s.otherHistory })
}

// version lists one part for the server's version, because all parts are on one server. It tries
// the parts that do not fail first.
func (m *merged[T]) version(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[T], error) {
	var first error
	for _, failing := range []bool{false, true} {
		for part, source := range m.parts {
			if m.health.fails(part) != failing {
				continue
			}
			stream, err := source.List(ctx, opts)
			if err == nil || ctx.Err() != nil {
				return stream, err
			}
			if first == nil {
				first = err
			}
		}
	}
	return nil, first
}

// withPartName adds the part's name to its error, unless the error has it already.
func (m *merged[T]) withPartName(part int, err error) error {
	if name := m.health.names[part]; !strings.Contains(err.Error(), name) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// oldest returns the oldest of some versions, and false if they cannot be compared. A part that is
// missing or has no version does not count.
func oldest(versions []string) (string, bool) {
	var first string
	for _, version := range versions {
		switch {
		case !checkpoint.Resumes(version) || version == first:
			continue
		case first == "":
			first = version
			continue
		}
		order, err := resourceversion.CompareResourceVersion(version, first)
		if err != nil {
			return "", false
		}
		if order < 0 {
			first = version
		}
	}
	return first, true
}

// Prepare implements listwatch.Preparer. The parts are prepared concurrently. If a part fails here,
// its list or watch reports the error.
func (m *merged[T]) Prepare(ctx context.Context) error {
	var group sync.WaitGroup
	for _, part := range m.parts {
		if _, ok := part.(listwatch.Preparer); ok {
			group.Go(func() { _ = listwatch.Prepare(ctx, part) })
		}
	}
	group.Wait()
	return ctx.Err()
}

// sourceName names a source in errors.
func sourceName[T any](source listwatch.Source[T]) string {
	if named, ok := source.(fmt.Stringer); ok {
		return named.String()
	}
	return "source"
}
