package indexer

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// blockingIndex is an index function that reports each call, and then waits.
type blockingIndex struct{ called, proceed chan struct{} }

func newBlockingIndex() blockingIndex {
	return blockingIndex{called: make(chan struct{}), proceed: make(chan struct{})}
}

func (b blockingIndex) terms(o *object) ([]string, error) {
	select {
	case b.called <- struct{}{}:
		<-b.proceed
	case <-b.proceed:
	}
	return termsOfObject(o)
}

// when returns an index function that waits only for objects of one version.
func (b blockingIndex) when(version int) IndexFunc[*object] {
	return func(o *object) ([]string, error) {
		if o.version == version {
			return b.terms(o)
		}
		return termsOfObject(o)
	}
}

func TestAddIndexBlocksNobodyAndIsHiddenUntilComplete(t *testing.T) {
	t.Parallel()
	store := newStore(t, nil)
	require.NoError(t, apply(store, []Op[*object]{
		put("a/stays", &object{terms: []string{"old"}}), put("a/changes", &object{terms: []string{"old"}}), put("a/goes", &object{terms: []string{"old"}}),
	}, ""))
	block := newBlockingIndex()
	result := make(chan error)
	go func() { result <- store.AddIndex("node", block.when(0)) }()
	<-block.called

	_, err := store.ByIndex("node", "old")
	require.ErrorIs(t, err, ErrNoIndex)
	require.Empty(t, store.Indexes())
	require.Empty(t, store.Stats().Indexes)
	require.ErrorIs(t, store.AddIndex("node", termsOfObject), ErrIndexExists)
	require.ErrorIs(t, store.RemoveIndex("node"), ErrNoIndex)
	require.NoError(t, apply(store, []Op[*object]{
		del("a/goes"),
		put("a/changes", &object{version: 1, terms: []string{"new"}}),
		put("a/comes", &object{version: 1, terms: []string{"new"}}),
	}, ""))
	close(block.proceed)
	require.NoError(t, <-result)

	require.Equal(t, []string{"a/stays"}, byIndex(t, store.Snapshot(), "node", "old"))
	require.Equal(t, []string{"a/changes", "a/comes"}, byIndex(t, store.Snapshot(), "node", "new"))
	changed, _ := store.Get(key("a/changes"))
	require.Equal(t, 1, changed.version)
	require.Equal(t, 3, store.Len())
}

func TestIndexesAddedAtTheSameTimeAreBothComplete(t *testing.T) {
	t.Parallel()
	first, second := newBlockingIndex(), newBlockingIndex()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{terms: []string{"t"}}), put("a/y", &object{terms: []string{"t"}})}, ""))
	results := make(chan error)
	go func() { results <- store.AddIndex("first", first.terms) }()
	<-first.called
	go func() { results <- store.AddIndex("second", second.terms) }()
	<-second.called
	close(first.proceed)
	require.NoError(t, <-results)
	close(second.proceed)
	require.NoError(t, <-results)
	require.Equal(t, []string{"first", "second", "term"}, store.Indexes())
	requireConsistent(t, store.Snapshot())
}

func TestIndexFunctionOfAWriteBlocksNobody(t *testing.T) {
	t.Parallel()
	block := newBlockingIndex()
	store := newStore(t, map[string]IndexFunc[*object]{"slow": block.when(1)})
	written := make(chan error)
	go func() { written <- apply(store, []Op[*object]{put("a/slow", &object{version: 1})}, "") }()
	<-block.called
	require.NoError(t, apply(store, []Op[*object]{put("a/fast", &object{})}, ""))
	require.Equal(t, []string{"a/fast"}, names(t, store.All()))
	close(block.proceed)
	require.NoError(t, <-written)
	require.Equal(t, 2, store.Len())
}

func TestWriteThatBeganBeforeAnIndexWasAddedIsInIt(t *testing.T) {
	t.Parallel()
	block := newBlockingIndex()
	store := newStore(t, map[string]IndexFunc[*object]{"slow": block.terms})
	written := make(chan error)
	go func() { written <- apply(store, []Op[*object]{put("a/x", &object{terms: []string{"t"}})}, "") }()
	<-block.called
	require.NoError(t, store.AddIndex("fast", termsOfObject))
	close(block.proceed)
	require.NoError(t, <-written)
	require.Equal(t, []string{"a/x"}, byIndex(t, store.Snapshot(), "fast", "t"))
	require.Equal(t, []string{"a/x"}, byIndex(t, store.Snapshot(), "slow", "t"))
}

func TestWriteThatBeganBeforeAnIndexWasAddedAndEndsWhileItIsBuiltIsInIt(t *testing.T) {
	t.Parallel()
	write, build := newBlockingIndex(), newBlockingIndex()
	store := newStore(t, map[string]IndexFunc[*object]{"slow": write.when(1)})
	require.NoError(t, apply(store, []Op[*object]{put("a/there", &object{version: 2, terms: []string{"t"}})}, ""))
	written, added := make(chan error), make(chan error)
	go func() {
		written <- apply(store, []Op[*object]{put("a/x", &object{version: 1, terms: []string{"t"}})}, "")
	}()
	<-write.called
	go func() { added <- store.AddIndex("node", build.when(2)) }()
	<-build.called
	close(write.proceed)
	require.NoError(t, <-written)
	close(build.proceed)
	require.NoError(t, <-added)
	require.Equal(t, []string{"a/there", "a/x"}, byIndex(t, store.Snapshot(), "node", "t"))
}

// A write starts with the old indexes, and completes after another index has been added. The new
// index function fails on its object. So the write returns the error, not AddIndex.
func TestWriteThatFailsForAnIndexThatWasAddedMeanwhileIsLeftOut(t *testing.T) {
	t.Parallel()
	build, write, bad := newBlockingIndex(), newBlockingIndex(), errors.New("bad object")
	store := newStore(t, nil)
	require.NoError(t, apply(store, []Op[*object]{put("a/there", &object{})}, ""))
	added, written := make(chan error), make(chan error)
	go func() {
		added <- store.AddIndex("node", func(o *object) ([]string, error) {
			if o.version == 1 {
				_, _ = write.terms(o)
				return nil, bad
			}
			return build.terms(o)
		})
	}()
	<-build.called
	go func() { written <- apply(store, []Op[*object]{put("a/x", &object{version: 1})}, "") }()
	<-write.called
	close(build.proceed)
	require.NoError(t, <-added)
	close(write.proceed)
	require.ErrorIs(t, <-written, bad)
	require.Equal(t, []string{"a/there"}, names(t, store.All()))
}

func TestIndexThatFailsForAWriteWhileItIsBuiltIsNotAddedAndTheWriteSucceeds(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{terms: []string{"t"}})}, ""))
	block, bad := newBlockingIndex(), errors.New("bad object")
	result := make(chan error)
	go func() {
		result <- store.AddIndex("node", func(o *object) ([]string, error) {
			if o.version == 7 {
				return nil, bad
			}
			return block.terms(o)
		})
	}()
	<-block.called
	require.NoError(t, apply(store, []Op[*object]{put("a/y", &object{version: 7, terms: []string{"t"}})}, ""))
	close(block.proceed)

	var failure *IndexError
	require.ErrorAs(t, <-result, &failure)
	require.Equal(t, IndexError{Index: "node", Key: key("a/y"), Err: bad}, *failure)
	require.Equal(t, []string{"term"}, store.Indexes())
	require.Equal(t, []string{"a/x", "a/y"}, byIndex(t, store.Snapshot(), "term", "t"))
	requireConsistent(t, store.Snapshot())
}
