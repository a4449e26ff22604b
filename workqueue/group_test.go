package workqueue_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// byNamespace returns a queue of "namespace/name" that is fair to namespaces.
func byNamespace(weight func(string) int) *workqueue.Queue[string] {
	return workqueue.New(workqueue.Options[string]{Group: namespaceOf, Weight: weight, Ageing: -1})
}

func namespaceOf(key string) string {
	namespace, _, _ := strings.Cut(key, "/")
	return namespace
}

func TestGroupsTakeTurns(t *testing.T) {
	t.Parallel()
	q := byNamespace(nil)
	for _, key := range []string{"a/1", "a/2", "a/3", "a/4", "b/1", "c/1", "c/2"} {
		q.Add(key)
	}
	require.NoError(t, q.Verify())
	require.Equal(t, []string{"a/1", "b/1", "c/1", "a/2", "c/2", "a/3", "a/4"}, takeAll(t, q))
}

func TestAGroupIsHandedOutAsManyKeysInARowAsItsWeight(t *testing.T) {
	t.Parallel()
	q := byNamespace(func(group string) int { return map[string]int{"a": 3, "c": -5}[group] })
	for i := range 6 {
		for _, group := range []string{"a", "b", "c"} {
			q.Add(fmt.Sprintf("%s/%d", group, i))
		}
	}
	var groups strings.Builder
	for _, key := range takeAll(t, q) {
		groups.WriteString(namespaceOf(key))
	}
	require.Equal(t, "aaabcaaabcbcbcbcbc", groups.String())
}

func TestAGroupThatComesBackIsTheLast(t *testing.T) {
	t.Parallel()
	q := byNamespace(nil)
	q.Add("a/1")
	q.Add("b/1")
	q.Add("b/2")
	require.Equal(t, "a/1", get(t, q))
	q.Add("c/1")
	q.Add("a/2")
	require.Equal(t, "b/1", get(t, q))
	require.Equal(t, "c/1", get(t, q))
	require.Equal(t, "a/2", get(t, q))
	require.Equal(t, "b/2", get(t, q))
}

func TestPriorityComesBeforeFairness(t *testing.T) {
	t.Parallel()
	q := byNamespace(nil)
	addAt(q, 0, "a/1", "b/1")
	addAt(q, 1, "a/2", "a/3", "b/2")
	require.Equal(t, []string{"a/2", "b/2", "a/3", "a/1", "b/1"}, takeAll(t, q))
}

// A namespace that adds a hundred times as much as the others does not delay them: while all have
// keys, each gets its share.
func TestALoudNamespaceDoesNotDelayTheOthers(t *testing.T) {
	t.Parallel()
	q := byNamespace(nil)
	for i := range 1000 {
		q.Add(fmt.Sprintf("loud/%d", i))
	}
	for i := range 10 {
		for namespace := range 9 {
			q.Add(fmt.Sprintf("quiet-%d/%d", namespace, i))
		}
	}
	runs := make(map[string]int)
	for range 100 {
		key := get(t, q)
		runs[namespaceOf(key)]++
		q.Done(key)
	}
	require.InDelta(t, 1, jain(runs), 1e-9, "%v", runs)
}

// jain returns Jain's index of fairness: 1 if all shares are equal, 1/n if one has everything.
func jain(shares map[string]int) float64 {
	var sum, squares float64
	for _, share := range shares {
		sum += float64(share)
		squares += float64(share) * float64(share)
	}
	return sum * sum / (float64(len(shares)) * squares)
}

func TestGroupsThatHaveNoKeysAreForgotten(t *testing.T) {
	t.Parallel()
	q := byNamespace(nil)
	for i := range 10_000 {
		q.Add(fmt.Sprintf("%d/x", i))
	}
	require.Len(t, takeAll(t, q), 10_000)
	require.Zero(t, q.GroupsKept())
	require.NoError(t, q.Verify())
}
