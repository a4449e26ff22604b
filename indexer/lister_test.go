package indexer

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var pods = schema.GroupResource{Resource: "pods"}

// labelled stores objects with these labels.
func labelled(t *testing.T, byKey map[string]labels.Set) *Store[labels.Set] {
	store, err := New(Options[labels.Set]{})
	require.NoError(t, err)
	for k, set := range byKey {
		require.NoError(t, apply(store, []Op[labels.Set]{{Key: key(k), Object: set}}, ""))
	}
	return store
}

func TestListerSelectsByLabelsInAllNamespacesAndInOne(t *testing.T) {
	t.Parallel()
	store := labelled(t, map[string]labels.Set{
		"a/x": {"app": "web", "n": "1"}, "a/y": {"app": "db", "n": "2"}, "b/x": {"app": "web", "n": "3"}, "b/y": nil,
	})
	lister := NewLister(store.Reader, pods, func(set labels.Set) labels.Set { return set })
	found := func(list func(labels.Selector) func(func(labels.Set) bool), selector string) (all []string) {
		parsed, err := labels.Parse(selector)
		require.NoError(t, err)
		for set := range list(parsed) {
			all = append(all, set["n"])
		}
		slices.Sort(all)
		return all
	}
	everywhere := func(s labels.Selector) func(func(labels.Set) bool) { return lister.List(s) }
	inB := func(s labels.Selector) func(func(labels.Set) bool) { return lister.Namespace("b").List(s) }
	anywhere := func(s labels.Selector) func(func(labels.Set) bool) { return lister.Namespace("").List(s) }

	require.Equal(t, []string{"1", "3"}, found(everywhere, "app=web"))
	require.Equal(t, []string{"1", "3"}, found(anywhere, "app=web"))
	require.Equal(t, []string{"", "2"}, found(everywhere, "app!=web"))
	require.Equal(t, []string{"", "1", "2", "3"}, found(everywhere, ""))
	require.Equal(t, []string{"3"}, found(inB, "app=web"))
	require.Equal(t, []string{""}, found(inB, "!app"))
	require.Empty(t, found(inB, "app=db"))
	for range lister.List(labels.Everything()) {
		break
	}
}

func TestListSeesTheStateAtTheStartOfItsLoop(t *testing.T) {
	t.Parallel()
	store := labelled(t, map[string]labels.Set{"a/x": nil})
	list := NewLister(store.Reader, pods, func(set labels.Set) labels.Set { return set }).List(nil)
	require.NoError(t, apply(store, []Op[labels.Set]{{Key: key("a/y")}}, ""))
	require.Len(t, slices.Collect(list), 2)
}

func TestListerReadsOnlyWhatItsSelectorNeeds(t *testing.T) {
	t.Parallel()
	store := labelled(t, map[string]labels.Set{"a/x": nil, "b/y": nil})
	lister := NewLister(store.Reader, pods, func(labels.Set) labels.Set { panic("the Lister must not read labels") })
	require.Len(t, slices.Collect(lister.List(labels.Everything())), 2)
	require.Len(t, slices.Collect(lister.List(nil)), 2)
	require.Len(t, slices.Collect(lister.Namespace("a").List(labels.Everything())), 1)
	require.Empty(t, slices.Collect(lister.List(labels.Nothing())))
	require.Empty(t, slices.Collect(lister.Namespace("a").List(labels.Nothing())))
}

func TestListerGetNamesTheResourceThatIsNotFound(t *testing.T) {
	t.Parallel()
	store := labelled(t, map[string]labels.Set{"a/x": {"n": "1"}})
	lister := NewLister(store.Reader, pods, func(set labels.Set) labels.Set { return set })
	x, err := lister.Get("a", "x")
	require.NoError(t, err)
	require.Equal(t, "1", x["n"])
	x, err = lister.Namespace("a").Get("x")
	require.NoError(t, err)
	require.Equal(t, "1", x["n"])
	_, err = lister.Get("b", "x")
	require.True(t, apierrors.IsNotFound(err))
	require.EqualError(t, err, `pods "x" not found`)
	_, err = lister.Namespace("a").Get("y")
	require.True(t, apierrors.IsNotFound(err))
}

func TestListerTakesLabelsFromMetadata(t *testing.T) {
	t.Parallel()
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}}
	selector := labels.SelectorFromSet(labels.Set{"app": "web"})

	typed, err := New(Options[*metav1.PartialObjectMetadata]{})
	require.NoError(t, err)
	require.NoError(t, apply(typed, []Op[*metav1.PartialObjectMetadata]{{Key: key("a/x"), Object: object}}, ""))
	require.Len(t, slices.Collect(NewLister(typed.Reader, pods, nil).List(selector)), 1)

	untyped, err := New(Options[any]{})
	require.NoError(t, err)
	require.NoError(t, apply(untyped, []Op[any]{
		{Key: key("a/x"), Object: object},
		{Key: key("a/y"), Object: "has no labels"},
		{Key: types.NamespacedName{Name: "nil"}},
	}, ""))
	require.Len(t, slices.Collect(NewLister(untyped.Reader, pods, nil).List(selector)), 1)
	require.Len(t, slices.Collect(NewLister(untyped.Reader, pods, nil).List(labels.Everything())), 3)
}

func TestNewListerPanicsForATypeWithoutLabels(t *testing.T) {
	t.Parallel()
	store, err := New(Options[string]{})
	require.NoError(t, err)
	require.PanicsWithValue(t, "indexer: string has no metadata to take labels from: give NewLister a function that returns the labels",
		func() { NewLister(store.Reader, pods, nil) })
}
