package indexer

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// storeModel is a naive model of a store. It has a map of objects, and scans the map in place of
// indexes.
type storeModel struct {
	objects map[string]*object
	rv      int
	indexes map[string]IndexFunc[*object]
}

func (m storeModel) clone() storeModel {
	return storeModel{objects: maps.Clone(m.objects), rv: m.rv, indexes: maps.Clone(m.indexes)}
}

// apply does the same as Store.Apply, and returns the number of failed ops.
func (m *storeModel) apply(ops []Op[*object], rv int) (failed int) {
	for _, op := range ops {
		switch name := op.Key.String(); {
		case op.Delete:
			delete(m.objects, name)
		case op.Object.err != nil && len(m.indexes) > 0:
			failed++
		default:
			m.objects[name] = op.Object
		}
	}
	m.rv = max(m.rv, rv)
	return failed
}

// replace does the same as Store.Replace.
func (m *storeModel) replace(ops []Op[*object], rv int) (failed int) {
	maps.DeleteFunc(m.objects, func(name string, _ *object) bool {
		return !slices.ContainsFunc(ops, func(op Op[*object]) bool { return op.Key.String() == name })
	})
	return m.apply(ops, rv)
}

// scan returns the names of the objects for which the function wanted returns true.
func (m *storeModel) scan(wanted func(name string, o *object) bool) []string {
	var found []string
	for name, o := range m.objects {
		if wanted(name, o) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// requireEqual compares all results of a snapshot with the model.
func (m *storeModel) requireEqual(t require.TestingT, s *Snapshot[*object]) {
	requireConsistent(t, s, indexFuncs)
	require.Equal(t, len(m.objects), s.Len())
	for name, o := range m.objects {
		got, ok := s.Get(key(name))
		require.True(t, ok)
		require.Same(t, o, got)
	}
	if m.rv == 0 {
		require.Empty(t, s.ResourceVersion())
	} else {
		require.Equal(t, strconv.Itoa(m.rv), s.ResourceVersion())
	}
	require.Equal(t, m.scan(func(string, *object) bool { return true }), sortedNames(t, s.All))
	for _, namespace := range []string{"a", "b", "c", "d"} {
		require.Equal(t, m.scan(func(name string, _ *object) bool { return strings.HasPrefix(name, namespace+"/") }),
			sortedNames(t, func() seq2 { return s.Namespace(namespace) }))
	}
	require.Equal(t, slices.Sorted(maps.Keys(m.indexes)), s.Indexes())
	for index, fn := range m.indexes {
		want := map[string]int{}
		for _, o := range m.objects {
			values, _ := fn(o)
			slices.Sort(values)
			for _, value := range slices.Compact(values) {
				want[value]++
			}
		}
		values, err := s.IndexValues(index)
		require.Equal(t, want, counted(t, values, err))
		for value := range want {
			found, err := s.ByIndex(index, value)
			require.NoError(t, err)
			require.Equal(t, m.scan(func(_ string, o *object) bool {
				values, _ := fn(o)
				return slices.Contains(values, value)
			}), sortedNames(t, func() seq2 { return found }))
		}
	}
}

type seq2 = func(yield func(types.NamespacedName, *object) bool)

// sortedNames returns the keys that an iterator yields, sorted as strings.
func sortedNames[S ~func(yield func(types.NamespacedName, *object) bool)](t require.TestingT, seq func() S) []string {
	var found []string
	for k := range seq() {
		found = append(found, k.String())
	}
	slices.Sort(found)
	return found
}

// indexFuncs are the index functions that a store in this test may have. All of them fail for the
// same objects.
var indexFuncs = map[string]IndexFunc[*object]{
	"term": func(o *object) ([]string, error) { return slices.Clone(o.terms), o.err },
	"even": func(o *object) ([]string, error) { return []string{strconv.FormatBool(o.version%2 == 0)}, o.err },
	"none": func(o *object) ([]string, error) { return nil, o.err },
}

var errUnfit = errors.New("unfit")

// FuzzStore reads its input as actions: each pair of bytes is an op or the end of a transaction. It
// applies the actions to a store and to the model, and keeps snapshots.
func FuzzStore(f *testing.F) {
	f.Add([]byte{0, 1, 0, 2, 9, 5, 1, 1, 9, 0})
	f.Add([]byte{0, 1, 11, 1, 0, 2, 10, 5, 12, 1, 2, 3, 9, 7})
	f.Add([]byte{0, 9, 0, 17, 3, 25, 9, 2, 11, 0, 11, 2, 4, 9, 10, 3, 12, 0, 1, 17, 9, 9})
	indexNames := slices.Sorted(maps.Keys(indexFuncs))
	f.Fuzz(func(t *testing.T, input []byte) {
		store := newStore(t, map[string]IndexFunc[*object]{"term": indexFuncs["term"]})
		model := storeModel{objects: map[string]*object{}, indexes: map[string]IndexFunc[*object]{"term": indexFuncs["term"]}}
		type kept struct {
			snapshot *Snapshot[*object]
			model    storeModel
		}
		var versions []kept
		var ops []Op[*object]
		for i := 0; i+1 < len(input); i += 2 {
			action, argument := input[i]%13, int(input[i+1])
			name := string("abcd"[argument%4]) + "/" + strconv.Itoa(argument/4%16)
			index := indexNames[argument%len(indexNames)]
			switch action {
			default: // an object with up to eight index values
				o := &object{version: i}
				for n := range int(action) {
					o.terms = append(o.terms, strconv.Itoa((argument+n*n)%6))
				}
				ops = append(ops, put(name, o))
			case 7:
				ops = append(ops, put(name, &object{version: i, err: errUnfit}))
			case 8:
				ops = append(ops, del(name))
			case 9, 10:
				write, modelled := store.Apply, model.apply
				if action == 10 {
					write, modelled = store.Replace, model.replace
				}
				failed := modelled(ops, argument)
				_, err := write(ops, strconv.Itoa(argument))
				require.Equal(t, failed, countErrors(err))
				ops = nil
			case 11:
				_, exists := model.indexes[index]
				require.Equal(t, exists || unfit(model), store.AddIndex(index, indexFuncs[index]) != nil)
				if !exists && !unfit(model) {
					model.indexes[index] = indexFuncs[index]
				}
			case 12:
				_, exists := model.indexes[index]
				require.Equal(t, !exists, store.RemoveIndex(index) != nil)
				delete(model.indexes, index)
			}
			if len(versions) < 8 && i%5 == 0 {
				versions = append(versions, kept{store.Snapshot(), model.clone()})
			}
		}
		model.requireEqual(t, store.Snapshot())
		for n, v := range versions {
			v.model.requireEqual(t, v.snapshot)
			for _, later := range versions[n:] {
				requireChanges(t, v.model, later.model, v.snapshot, later.snapshot)
			}
		}
		// After each release of a snapshot, the store must keep exactly the versions that the other
		// snapshots see.
		for len(versions) > 0 {
			n := len(input) % len(versions)
			versions[n].snapshot.Release()
			versions = slices.Delete(versions, n, n+1)
			for _, v := range versions {
				v.model.requireEqual(t, v.snapshot)
			}
			requireSound(t, store)
		}
	})
}

// requireChanges checks the changes between two snapshots against the model.
func requireChanges(t require.TestingT, old, new storeModel, from, to *Snapshot[*object]) {
	want, got := map[string][2]*object{}, map[string][2]*object{}
	for name, o := range old.objects {
		if o != new.objects[name] {
			want[name] = [2]*object{o, new.objects[name]}
		}
	}
	for name, o := range new.objects {
		if o != old.objects[name] {
			want[name] = [2]*object{old.objects[name], o}
		}
	}
	for change := range to.Changes(from) {
		var states [2]*object
		for i, e := range []*Entry[*object]{change.Old, change.New} {
			if e != nil {
				require.Equal(t, change.Key, e.Key)
				states[i] = e.Object
			}
		}
		require.NotContains(t, got, change.Key.String(), "Changes must yield each key only once")
		got[change.Key.String()] = states
	}
	require.Equal(t, want, got)
}

// unfit reports whether the model has an object on which the index functions fail.
func unfit(m storeModel) bool {
	return len(m.scan(func(_ string, o *object) bool { return o.err != nil })) > 0
}

// countErrors returns the number of errors that are joined in err.
func countErrors(err error) int {
	if err == nil {
		return 0
	}
	return len(err.(interface{ Unwrap() []error }).Unwrap())
}
