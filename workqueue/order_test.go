package workqueue_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// addAt adds keys at a priority.
func addAt(q *workqueue.Queue[string], priority int, keys ...string) {
	for _, key := range keys {
		q.AddWith(key, workqueue.AddOptions{Priority: priority})
	}
}

func TestHigherPrioritiesComeFirstAndEqualOnesInOrder(t *testing.T) {
	t.Parallel()
	q := newQueue()
	addAt(q, workqueue.LowPriority, "low 1", "low 2")
	q.Add("usual 1")
	addAt(q, 7, "high 1")
	q.Add("usual 2")
	addAt(q, 7, "high 2")
	require.Equal(t, []workqueue.Level{{7, 2}, {0, 2}, {workqueue.LowPriority, 2}}, q.Stats().Levels)
	require.NoError(t, q.Verify())
	require.Equal(t, []string{"high 1", "high 2", "usual 1", "usual 2", "low 1", "low 2"}, takeAll(t, q))
	require.Empty(t, q.Stats().Levels)
}

func TestAnAddCanRaiseAPriorityAndNotLowerIt(t *testing.T) {
	t.Parallel()
	q := newQueue()
	addAt(q, 1, "a", "b", "c", "d")
	addAt(q, 2, "x", "c", "y")
	addAt(q, 0, "a", "x")
	require.EqualValues(t, 3, q.Stats().Merged)
	require.Equal(t, []string{"x", "c", "y", "a", "b", "d"}, takeAll(t, q))
}

func TestAnAddOfAKeyThatIsProcessedHasItsOwnPriority(t *testing.T) {
	t.Parallel()
	q := newQueue()
	addAt(q, 9, "a")
	get(t, q)
	addAt(q, 1, "a")
	addAt(q, 2, "b")
	addAt(q, 3, "a")
	addAt(q, 0, "a")
	q.Done("a")
	require.Equal(t, []string{"a", "b"}, takeAll(t, q), "priority 3 comes before 2")
}

func TestADelayedAddKeepsItsPriority(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.AddWith("a", workqueue.AddOptions{Priority: 1, After: time.Minute})
		q.AddWith("a", workqueue.AddOptions{Priority: 3, After: time.Hour})
		q.AddWith("b", workqueue.AddOptions{Priority: 2, After: time.Minute})
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"a", "b"}, takeAll(t, q), "the earlier time and the higher priority apply")
	})
}

func TestARetryKeepsThePriorityAndTheCauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.AddWith("a", workqueue.AddOptions{Priority: workqueue.LowPriority, Cause: "initial"})
		item, err := q.GetItem(t.Context())
		require.NoError(t, err)
		q.Retry("a")
		q.Done("a")
		time.Sleep(time.Second)
		again, err := q.GetItem(t.Context())
		require.NoError(t, err)
		require.Equal(t, item.Priority, again.Priority)
		require.Equal(t, workqueue.Causes{First: "initial", Last: "initial", Count: 1}, again.Causes)

		q.Done("a")
		q.Retry("a")
		time.Sleep(time.Second)
		other, err := q.GetItem(t.Context())
		require.NoError(t, err)
		require.Zero(t, other.Priority, "a Retry after Done has no run whose priority it could keep")
	})
}

func TestRunKeepsThePriorityOfRequeuedKeys(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]error{
		"after":   workqueue.RequeueAfter(time.Second),
		"when":    workqueue.RequeueWhen(func(context.Context) error { return nil }),
		"failure": fmt.Errorf("not yet"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newQueue()
				var priorities []int
				end := running(t, q, 1, func(_ context.Context, key string) error {
					state, ok := q.Lookup(key)
					require.True(t, ok)
					priorities = append(priorities, state.Priority)
					if len(priorities) == 3 {
						return nil
					}
					return result
				})
				addAt(q, 5, "a")
				time.Sleep(time.Minute)
				require.NoError(t, end())
				require.Equal(t, []int{5, 5, 5}, priorities)
			})
		})
	}
}

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
