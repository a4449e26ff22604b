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

	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/internal/mark"
	"github.com/kinform/kinform/internal/pace"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// MergeOptions are the choices of [MergeWith]. The zero value is ready to use.
type MergeOptions struct {
	// AtOnce is how many requests for a list, or for a watch, may be on their way at
	// the same time. Watches that are open don't count. Defaults to 8.
	AtOnce int

	// Tolerate says for which errors a part that has never been listed may be left
	// out: apierrors.IsForbidden, for example. Its objects are then missing from the
	// store although the informer is synced; Status.Parts says so, and Healthy does
	// not mind. When the part can be listed, all parts are. Defaults to nil, for none:
	// synced means complete.
	Tolerate func(error) bool

	// Backoff says how long a part waits that fails while others go on. Its zero value
	// means what it does for a reflector.
	Backoff reflector.Backoff

	// Logger gets a warning when a part has failed for some seconds while others have
	// not, another one every five minutes while that lasts, and a line when it is over.
	// Defaults to slog.Default().
	Logger *slog.Logger
}

// Merge is [MergeWith] with the zero MergeOptions.
func Merge[T any](parts ...listwatch.Source[T]) listwatch.Source[T] {
	return MergeWith(MergeOptions{}, parts...)
}

// MergeWith makes one source of several parts, such as the namespaces that somebody
// may look at, so that one informer has them in one store: one list, one watch, one
// set of handlers. No object may be in two parts. All parts must be of one server,
// whose resourceVersions can be compared (KEP-5504). The source belongs to one
// informer: it remembers how far each part is, and name and version of each object,
// some hundred bytes. A single part is returned as it is. A part may be merged itself.
// Where a part is nil, or opts make no sense, informer.New refuses the source, with an error that
// says so.
//
// All guarantees of an informer hold, with these consequences:
//
//   - The version of a list is the oldest of the versions of its parts, and that of
//     the store is the one through which all parts are complete, so that G8 holds.
//     It rises when the slowest part has an event or a bookmark: where a part is
//     quiet, WaitRV may take as long as the server's bookmarks do, which is about a
//     minute. To read one's own write, wait for the object (package await) instead.
//   - Changes of different parts are told in the order of their arrival. For a key
//     it is the server's (G1).
//   - The first list is complete, or fails: with the error of the first part that
//     cannot be listed. See Tolerate.
//   - After that, a part that fails does not stop the others: what the store has of it
//     stays, it is tried again alone, and Status.Parts and Healthy name it. Each part
//     is held to the time limits of the reflector by itself.
//   - Where a part's watch has failed three times in a row, or its version has
//     expired, all parts are listed; what has not changed is not decoded again.
//   - A change that a part tells of when its watch has passed that version leads to a list of all
//     parts, once in five minutes at most. In between, such changes are believed.
//   - A part without a version to resume its watch from leads to a list of all parts when its watch
//     ends: such a server does not tell what was deleted meanwhile.
//   - When all parts fail, the list or the watch as a whole fails.
//   - An object of a part that is unreadable stays so while the part is not listed: Status.Unreadable,
//     Healthy and Store.Unreadable go on naming it.
//   - A cluster that was restored from a backup is noticed as with a single source (see
//     package reflector, Another history): after a loss, each part compares the server's
//     version, and begins with the last event that it told. Where that is another event, all
//     parts are listed as if nothing were known. A part that has told no event since it was
//     opened compares versions alone; so does one that is merged itself. One part that finds
//     the other history is enough for all.
//   - A preloaded store does not say which object is of which part. Up to its first
//     list, a part that cannot be listed fails it, as it does the first of all.
//
// A watch costs one goroutine and one request for each part, each of which holds one
// event at most.
func MergeWith[T any](opts MergeOptions, parts ...listwatch.Source[T]) listwatch.Source[T] {
	if opts.AtOnce < 0 {
		return newUnusable[T]("sources: MergeOptions.AtOnce must not be negative")
	}
	if err := opts.Backoff.Validate(); err != nil {
		return newUnusable[T]("sources: MergeOptions: %w", err)
	}
	for i, part := range parts {
		if isNil(part) {
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

// merged is several sources as one. List, Watch and Next are called by one
// goroutine, the reflector's.
type merged[T any] struct {
	parts  []listwatch.Source[T]
	opts   MergeOptions
	health *partsHealth

	// states belong to the goroutines of the parts while there is a watch, and else to
	// that of the reflector.
	states []partState

	told   *mergedState // what the reflector has been told; nil before that
	listed *mergedState // what it has read in a list, and will be told if it watches from there
	making *mergedState // the list whose pages are being read

	// window is how many lists are taken at once: half as many where one broke off, as it
	// may have waited too long to be read, and one more after each that is whole.
	window int

	// late says that a part has told of something when its watch had passed that version,
	// and all are yet to be listed for it; looked is when that was last done.
	late   bool
	looked time.Time
}

// mergedState is what has been told of all parts.
type mergedState struct {
	// given is the version that stands for all of at outside. at is the version through
	// which each part has been told, "" or "0" for one that is missing or has no version.
	given string
	at    []string

	missing []bool // parts that have been left out

	// objects are those that exist; nil where it is not known which they are.
	objects map[types.NamespacedName]toldObject

	unread []partUnread // of each part

	asked string // version, for a list
}

// newState is one of which nothing is known yet.
func (m *merged[T]) newState() *mergedState {
	return &mergedState{at: make([]string, len(m.parts)), missing: make([]bool, len(m.parts)), objects: map[types.NamespacedName]toldObject{}, unread: make([]partUnread, len(m.parts))}
}

// toldObject says of which part an object is, and its version.
type toldObject struct {
	part    int
	version string
	uid     uint64 // hash, as listwatch.Item has it
}

// partState is what outlives a watch of a part. A list says nothing about whether
// watches work, nor the other way round.
type partState struct {
	lists, watches failureRow
	unlisted       bool // it must be listed before it is watched
	lost           bool // a watch has failed since the server's history was compared
	compared       pace.Pace
	watched        pace.Haste

	// mark is the last event that was told on, which a watch after a loss has to begin
	// with. It outlives lists: the server's history has it, or is another one.
	mark mark.Mark

	// silent says that the marked event did not come, and that this is yet to be looked into.
	silent bool

	// other says that the server's history is not the one of which the part was told: the
	// same version is not the same object, until the part has been listed as if nothing
	// were known.
	other bool
}

// errOtherPart is what a list says that would take what is known for what the server has.
var errOtherPart = fmt.Errorf("%w, as a part of the merged source has found", reflector.ErrOtherHistory)

var errMergeVersions = errors.New("sources: Merge needs parts whose resourceVersions can be compared")

// String names the parts, for errors.
func (m *merged[T]) String() string {
	if len(m.parts) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s and %d more", sourceName(m.parts[0]), len(m.parts)-1)
}

// components are the sources that this one is put together of.
func (m *merged[T]) components() []listwatch.Source[T] { return m.parts }

// Describe implements listwatch.Describer: what its parts say, in an order that does not depend on
// theirs; nothing if one of them says nothing.
func (m *merged[T]) Describe(ctx context.Context) (map[string]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type said struct {
		description map[string]string
		err         error
	}
	slots, answers := make(chan struct{}, m.opts.AtOnce), make(chan said, len(m.parts))
	for _, part := range m.parts {
		if _, ok := part.(listwatch.Describer); !ok {
			return nil, nil
		}
	}
	for _, part := range m.parts {
		source := part.(listwatch.Describer)
		go func() {
			slots <- struct{}{}
			var answer said
			defer func() {
				<-slots
				answers <- answer
			}()
			toldAnyway(func() { answer.description, answer.err = source.Describe(ctx) }, func(err error) { answer = said{err: err} })
		}()
	}
	var lines []string
	var failed error
	all := map[string]string{}
	for range m.parts {
		answer := <-answers
		if answer.err != nil {
			if failed == nil {
				failed = answer.err
			}
			cancel() // But all are waited for.
		}
		lines = append(lines, describe(answer.description))
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

// describe writes a description in one line.
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

// isOther says that a part has found that the server's history is another one.
func (m *merged[T]) isOther() bool {
	return slices.ContainsFunc(m.states, func(s partState) bool { return s.other })
}

// version lists one part for its version: that of all, as all are of one server. One
// that has not failed is asked first.
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

// about names the part in its error, unless the error does so itself.
func (m *merged[T]) about(part int, err error) error {
	if name := m.health.names[part]; !strings.Contains(err.Error(), name) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// oldest returns the oldest of some versions, if they can be compared. A part that has none, or
// that is missing, does not count.
func oldest(versions []string) (string, bool) {
	var first string
	for _, version := range versions {
		switch {
		case !mark.Resumes(version) || version == first:
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

// Prepare implements listwatch.Preparer. The parts get ready at once. Of a part that does not,
// its list or watch tells why.
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
