package deltafifo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
)

// one returns an item of the first object with a name. otherUID returns an item of a second object
// with the same name.
func one(name, rv string) listwatch.Item[string] {
	return listwatch.Item[string]{Key: key(name), Object: name + "@" + rv, ResourceVersion: rv, UIDHash: 1}
}

func otherUID(name, rv string) listwatch.Item[string] {
	item := one(name, rv)
	item.UIDHash = 2
	return item
}

// undecodable returns the item as if only its key and UID were readable.
func undecodable(item listwatch.Item[string]) listwatch.Item[string] {
	return listwatch.Item[string]{Key: item.Key, UIDHash: item.UIDHash, State: listwatch.Undecodable}
}

func (f *fixture) list(rv string, items ...listwatch.Item[string]) {
	f.t.Helper()
	require.NoError(f.t, f.Replace(snapshot(rv, items...)))
}

// A list has undecodable objects, one of them without a readable name. Such a list deletes an
// object of the consumer only if its key now belongs to another object.
func TestListWithANamelessObjectKeepsMissingObjects(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		report func(*fixture)
		want   []string
	}{
		{"deletes no object that it lacks", func(f *fixture) { f.list("2", nameless) }, []string{}},
		{"deletes no pending object", func(f *fixture) {
			f.apply(listwatch.Modified, one("a", "2"))
			f.apply(listwatch.Added, one("c", "3"))
			f.list("4", nameless)
		}, []string{"a: Updated@2", "c: Added@3"}},
		{"queues the objects that it lists", func(f *fixture) { f.list("2", one("a", "2"), nameless, one("c", "2")) }, []string{"a: Replaced@2", "c: Replaced@2"}},
		{"deletes an object if another object has its name", func(f *fixture) { f.list("2", nameless, undecodable(otherUID("a", ""))) }, []string{"a: Deleted?@1"}},
		{"deletes a pending object if another object has its name", func(f *fixture) {
			f.apply(listwatch.Modified, one("a", "2"))
			f.list("3", nameless, undecodable(otherUID("a", "")))
		}, []string{"a: Updated@2 Deleted?@2"}},
		{"keeps an object that is undecodable now", func(f *fixture) { f.list("2", nameless, undecodable(one("a", ""))) }, []string{}},
		{"keeps an object whose undecodable state has no UID", func(f *fixture) {
			f.list("2", nameless, listwatch.Item[string]{Key: key("a"), State: listwatch.Undecodable})
		}, []string{}},
		{"uses the decodable item of two items with one key", func(f *fixture) {
			f.apply(listwatch.Modified, one("a", "2"))
			f.list("3", one("a", "3"), undecodable(otherUID("a", "")), nameless)
		}, []string{"a: Updated@2 Replaced@3"}},
		{"keeps the deletions of an earlier list", func(f *fixture) {
			f.list("2", one("b", "1"))
			f.list("3", nameless)
		}, []string{"b: Replaced@1", "a: Deleted?@1"}},
		{"keeps the deletion of a key that is undecodable now", func(f *fixture) {
			f.list("2", one("b", "1"))
			f.list("3", nameless, undecodable(one("a", "")))
		}, []string{"b: Replaced@1", "a: Deleted?@1"}},
		{"deletes an object that an earlier list kept, if another object has its name", func(f *fixture) {
			f.list("2", undecodable(one("a", "")), one("b", "1"))
			f.list("3", nameless, undecodable(otherUID("a", "")))
		}, []string{"b: Replaced@1", "a: Deleted?@1"}},
		{"has no effect before a list that has all names", func(f *fixture) {
			f.list("2", nameless)
			f.list("3", one("a", "3"))
		}, []string{"a: Replaced@3", "b: Deleted?@1"}},
		{"keeps an undecodable object that the next list deletes", func(f *fixture) {
			f.list("2", nameless, undecodable(one("a", "")))
			f.list("3", one("b", "1"))
		}, []string{"a: Deleted?@1", "b: Replaced@1"}},
		{"then the undecodable object is decoded", func(f *fixture) {
			f.list("2", nameless, undecodable(otherUID("a", "")))
			f.apply(listwatch.Modified, otherUID("a", "3"))
		}, []string{"a: Updated@3"}},
		{"then the undecodable object is deleted", func(f *fixture) {
			f.list("2", nameless, undecodable(otherUID("a", "")))
			f.apply(listwatch.Deleted, otherUID("a", "3"))
		}, []string{"a: Deleted?@1"}},
		{"then a resync of the objects that stay", func(f *fixture) {
			f.list("2", nameless, undecodable(otherUID("a", "")), undecodable(one("b", "")))
			require.NoError(f.t, f.Resync())
		}, []string{"a: Deleted?@1", "b: Sync@1"}},
		{"may be of another history", func(f *fixture) {
			f.listOtherHistory("1", nameless, one("a", "1"))
			f.listOtherHistory("1", nameless, undecodable(otherUID("b", "")))
		}, []string{"a: Replaced@1", "b: Deleted?@1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, deltafifo.Options{})
			f.list("1", one("a", "1"), one("b", "1"))
			f.popAndApply()
			require.NoError(t, f.Bookmark("1"))
			tt.report(f)
			b := f.pop()
			require.Equal(t, tt.want, text(b))
			require.True(t, b.Replaced)
			f.store.apply(b)
			require.NoError(t, f.Resync())
			require.Len(t, f.popAndApply(), len(f.store.contents()), "no delta of the test case may be left")
		})
	}
}

// From an undecodable object with another UID, the queue knows that the previous object was
// deleted, and nothing else.
func TestUndecodableObjectReplacesAnotherUID(t *testing.T) {
	t.Parallel()
	third := otherUID("a", "4")
	third.UIDHash = 3
	for _, tt := range []struct {
		name   string
		report func(*fixture)
		want   []string
	}{
		{"the known object is undecodable", func(f *fixture) { f.undecodable(one("a", "2")) }, []string{}},
		{"another object is undecodable", func(f *fixture) { f.undecodable(otherUID("a", "2")) }, []string{"a: Deleted?@1"}},
		{"an undecodable object has no UID", func(f *fixture) { f.undecodable(listwatch.Item[string]{Key: key("a"), ResourceVersion: "2"}) }, []string{}},
		{"an unknown object is undecodable", func(f *fixture) { f.undecodable(otherUID("x", "2")) }, []string{}},
		{"the key has a pending state of another object", func(f *fixture) {
			f.apply(listwatch.Modified, one("a", "2"))
			f.undecodable(otherUID("a", "3"))
		}, []string{"a: Updated@2 Deleted?@2"}},
		{"the key has a pending state of the same object", func(f *fixture) {
			f.apply(listwatch.Modified, one("a", "2"))
			f.undecodable(one("a", "3"))
		}, []string{"a: Updated@2"}},
		{"the key has a pending deletion", func(f *fixture) {
			f.apply(listwatch.Deleted, one("a", "2"))
			f.undecodable(otherUID("a", "3"))
		}, []string{"a: Deleted@2"}},
		{"two objects are undecodable, one after the other", func(f *fixture) {
			f.undecodable(one("a", "2"))
			f.undecodable(otherUID("a", "3"))
		}, []string{"a: Deleted?@1"}},
		{"an undecodable object is then deleted", func(f *fixture) {
			f.undecodable(one("a", "2"))
			f.apply(listwatch.Deleted, listwatch.Item[string]{Key: key("a"), Object: "a@1", ResourceVersion: "3", UIDHash: 1})
		}, []string{"a: Deleted@1"}},
		{"then a third object is deleted", func(f *fixture) {
			f.undecodable(one("a", "2"))
			f.apply(listwatch.Deleted, third)
		}, []string{"a: Deleted?@1"}},
		{"an undecodable object is then decoded", func(f *fixture) {
			f.undecodable(one("a", "2"))
			f.apply(listwatch.Modified, one("a", "3"))
		}, []string{"a: Updated@3"}},
		{"an undecodable object is then decoded, without a UID", func(f *fixture) {
			f.undecodable(otherUID("a", "2"))
			f.update("a", "3")
		}, []string{"a: Deleted?@1 Updated@3"}},
		{"after a list that lacks the object", func(f *fixture) {
			f.list("2", one("b", "1"))
			f.undecodable(one("a", "3"))
		}, []string{"b: Replaced@1", "a: Deleted?@1"}},
		{"before a list that lacks the object", func(f *fixture) {
			f.undecodable(one("a", "2"))
			f.list("3", one("b", "1"))
		}, []string{"a: Deleted?@1", "b: Replaced@1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, deltafifo.Options{})
			f.list("1", one("a", "1"), one("b", "1"))
			f.popAndApply()
			tt.report(f)
			require.NoError(t, f.Bookmark("9"))
			require.Equal(t, tt.want, f.popAndApply())
		})
	}
	f := setup(t, deltafifo.Options{})
	f.Close()
	require.ErrorIs(t, f.Apply(listwatch.Event[string]{Type: listwatch.Modified, Item: undecodable(one("a", "1"))}), deltafifo.ErrClosed)
}

// While the newest object of a key is undecodable, HasVersion returns false for every version.
func TestHasVersionOfAnUndecodableObjectIsFalse(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]func(f *fixture){
		"an event": func(f *fixture) { f.undecodable(otherUID("a", "2")) },
		"a list":   func(f *fixture) { f.list("2", nameless, undecodable(otherUID("a", ""))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, deltafifo.Options{})
			f.list("1", one("a", "1"), one("b", "1"))
			f.popAndApply()
			f.markApplied()
			require.True(t, f.HasVersion(key("a"), "1", 1))
			report(f)
			require.False(t, f.HasVersion(key("a"), "1", 1), "HasVersion must be false: pending")
			require.True(t, f.HasVersion(key("b"), "1", 1))
			b := f.pop()
			require.False(t, f.HasVersion(key("a"), "1", 1), "HasVersion must be false: in flight")
			require.True(t, f.HasVersion(key("b"), "1", 1))
			f.store.apply(b)
			f.markApplied()
			require.False(t, f.HasVersion(key("a"), "1", 1), "HasVersion must be false: deleted")
		})
	}
}
