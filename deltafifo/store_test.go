package deltafifo_test

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
)

// store is the smallest consumer's store that implements deltafifo.Known.
type store struct {
	mu      sync.Mutex // guards following
	entries map[types.NamespacedName]entry
}

type entry struct {
	obj, rv string
	uid     uint64
}

func newStore() *store { return &store{entries: map[types.NamespacedName]entry{}} }

func (s *store) LastApplied(key types.NamespacedName) (string, string, uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[key]
	return e.obj, e.rv, e.uid, ok
}

func (s *store) AllKeys() iter.Seq[types.NamespacedName] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Values(slices.Collect(maps.Keys(s.entries)))
}

func (s *store) contents() map[types.NamespacedName]entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.entries)
}

// apply applies a batch in one step, like an informer.
func (s *store) apply(b deltafifo.Batch[string]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stack := range b.Stacks {
		if d := stack.Newest(); d.Type == deltafifo.Deleted {
			delete(s.entries, stack.Key)
		} else {
			s.entries[stack.Key] = entry{d.Object, d.ResourceVersion, d.UIDHash}
		}
	}
}

// fixture is a queue in front of a store, with short methods for tests.
type fixture struct {
	*deltafifo.FIFO[string]
	t     *testing.T
	store *store
}

func setup(t *testing.T, opts deltafifo.Options) *fixture {
	t.Helper()
	s := newStore()
	return &fixture{deltafifo.New(s, opts), t, s}
}

func key(name string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: name} }

// add, update and del report an object whose content consists of its name and version.
func (f *fixture) add(name, rv string) {
	f.t.Helper()
	require.NoError(f.t, f.Add(key(name), name+"@"+rv, rv))
}

func (f *fixture) update(name, rv string) {
	f.t.Helper()
	require.NoError(f.t, f.Update(key(name), name+"@"+rv, rv))
}

func (f *fixture) del(name, rv string) {
	f.t.Helper()
	require.NoError(f.t, f.Delete(key(name), name+"@"+rv, rv))
}

// snapshot returns a snapshot of these items. A nameless one is not an item of it.
func snapshot(rv string, items ...listwatch.Item[string]) listwatch.Snapshot[string] {
	s := listwatch.Snapshot[string]{ResourceVersion: rv}
	for _, item := range items {
		if item.Key == nameless.Key {
			s.NamesMissing = true
			continue
		}
		s.Items = append(s.Items, item)
	}
	return s
}

// listOtherHistory lists the items of a server with another history.
func (f *fixture) listOtherHistory(rv string, items ...listwatch.Item[string]) {
	f.t.Helper()
	s := snapshot(rv, items...)
	s.OtherHistory = true
	require.NoError(f.t, f.Replace(s))
}

// replace lists items: "name@rv" is an object, and "name=" an unchanged item.
func (f *fixture) replace(rv string, items ...string) {
	f.t.Helper()
	var list []listwatch.Item[string]
	for _, s := range items {
		item := listwatch.Item[string]{Object: s}
		name, unchanged := strings.CutSuffix(s, "=")
		if unchanged {
			item.State = listwatch.Unchanged
		}
		name, item.ResourceVersion, _ = strings.Cut(name, "@")
		item.Key = key(name)
		list = append(list, item)
	}
	require.NoError(f.t, f.Replace(snapshot(rv, list...)))
}

// apply applies an event, and reports everything through the version of its item.
func (f *fixture) apply(event listwatch.EventType, item listwatch.Item[string]) {
	f.t.Helper()
	require.NoError(f.t, f.Apply(listwatch.Event[string]{Type: event, Item: item}))
}

// undecodable reports an undecodable item.
func (f *fixture) undecodable(item listwatch.Item[string]) {
	f.t.Helper()
	item.Object, item.State = "", listwatch.Undecodable
	f.apply(listwatch.Modified, item)
}

func (f *fixture) pop() deltafifo.Batch[string] {
	f.t.Helper()
	b, err := f.Pop(context.Background())
	require.NoError(f.t, err)
	return b
}

// requireNothing requires that Pop blocks. The test must run in a bubble of testing/synctest, in
// which the wait of an hour takes no time.
func (f *fixture) requireNothing() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	b, err := f.Pop(ctx)
	require.ErrorIs(f.t, err, context.DeadlineExceeded, "got %v", text(b))
}

// popAndApply pops a batch, applies it, and returns it as text.
func (f *fixture) popAndApply() []string {
	f.t.Helper()
	b := f.pop()
	f.store.apply(b)
	return text(b)
}

// text formats each stack as "a: Added@1 Updated@2 Deleted?@2". "?" marks a tombstone, and the
// version is from the object's content.
func text(b deltafifo.Batch[string]) []string {
	lines := []string{}
	for _, stack := range b.Stacks {
		line := stack.Key.Name + ":"
		for _, d := range stack.Deltas {
			separator := "@"
			if d.FinalStateUnknown {
				separator = "?@"
			}
			_, rv, _ := strings.Cut(d.Object, "@")
			line += " " + d.Type.String() + separator + rv
		}
		lines = append(lines, line)
	}
	return lines
}
