package workqueue_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/workqueue"
)

// A hundred thousand keys of low priority wait beside a steady stream of urgent keys. Each of the
// waiting keys runs within the bound that Options.Ageing documents.
func TestNothingStarves(t *testing.T) {
	t.Parallel()
	const ageing = 4
	low := testsize.Scale(100_000, 10_000)
	q := workqueue.New(workqueue.Options[int]{Ageing: ageing})
	for key := range low {
		q.AddWith(key, workqueue.AddOptions{Priority: workqueue.LowPriority})
	}
	urgent := low
	seen := 0
	for turn := 1; seen < low; turn++ {
		q.Add(urgent)
		urgent++
		key, _ := q.TryGet()
		q.Done(key)
		if key >= low {
			continue
		}
		if key != seen || turn > ageing*(key+1) {
			// with require, this check would take most of the test's time
			t.Fatalf("key %d runs after %d, in run %d", key, seen-1, turn)
		}
		seen++
	}
	require.Equal(t, ageing*low, urgent-low, "the urgent keys get all other runs")
}

// The bound with more levels: ageing * lower levels * (keys before it + 1).
func TestNothingStarvesAtAnyLevel(t *testing.T) {
	t.Parallel()
	const ageing, levels, each = 3, 5, 40
	q := workqueue.New(workqueue.Options[int]{Ageing: ageing})
	random := rand.New(rand.NewPCG(1, 2))
	before := make(map[int]int) // for each priority, the number of keys that came before a key
	for _, key := range random.Perm(levels * each) {
		before[key] = q.Len()
		level := key % levels
		for _, l := range q.Stats().Levels {
			if l.Priority == level {
				before[key] = l.Ready
			}
		}
		q.AddWith(key, workqueue.AddOptions{Priority: level})
	}
	next := levels * each
	turnsLeft := len(before)
	for turn := 1; turnsLeft > 0; turn++ {
		q.AddWith(next, workqueue.AddOptions{Priority: levels}) // always one more urgent key
		next++
		key := get(t, q)
		q.Done(key)
		if n, ok := before[key]; ok {
			require.LessOrEqual(t, turn, ageing*levels*(n+1), "key %d", key)
			turnsLeft--
		}
	}
}

// Urgent keys come in bursts. Each burst ends just when another level is due.
func TestLevelsThatComeAndGoStarveNoLevelBetween(t *testing.T) {
	t.Parallel()
	const ageing = 4
	q := workqueue.New(workqueue.Options[string]{Ageing: ageing})
	addAt(q, 1, "between")
	for i := range 100 {
		addAt(q, 0, fmt.Sprint("low ", i))
	}
	for turn := 1; ; turn++ {
		require.LessOrEqual(t, turn, ageing*3)
		if turn%ageing != 0 {
			addAt(q, 2, "urgent")
		}
		key := get(t, q)
		q.Done(key)
		if key == "between" {
			return
		}
	}
}

// No key waits longer than Options.Ageing documents, whatever keys are added, raised and cancelled.
func TestTheBoundOfAgeingHoldsOnRandomWalks(t *testing.T) {
	t.Parallel()
	one := func(int) int { return 1 }
	for seed := range uint64(40) {
		opts := workqueue.Options[int]{Ageing: 1 + int(seed%4)}
		walkWithinTheBound(t, fmt.Sprint("seed ", seed), rand.New(rand.NewPCG(seed, 0)), opts, one, one, 1)
	}
}

// The bound also holds with groups of different weights.
func TestTheBoundOfAgeingHoldsWithGroupsOnRandomWalks(t *testing.T) {
	t.Parallel()
	const greatest = 3
	// weights 0, 1, 2 and 4; group 0 has fewer keys
	groupOf := func(key int) int { return key * key % 7 }
	weight := func(group int) int { return 1 + group%greatest }
	for seed := range uint64(40) {
		opts := workqueue.Options[int]{
			Ageing: 1 + int(seed%4),
			Group:  func(key int) string { return strconv.Itoa(groupOf(key)) },
			Weight: func(group string) int { n, _ := strconv.Atoi(group); return weight(n) },
		}
		walkWithinTheBound(t, fmt.Sprint("seed ", seed), rand.New(rand.NewPCG(seed, 1)), opts, groupOf, weight, greatest)
	}
}

// boundOfGroups returns the number n in the formula of Options.Ageing. With one group, n is the
// number of keys before the key.
func boundOfGroups(before, weight, groups, greatest int) int {
	return before + (before/weight+1)*(groups-1)*greatest
}

// walkWithinTheBound adds, raises, cancels and takes keys at random. weight returns the weight of a
// group of opts, at most greatest.
func walkWithinTheBound(t *testing.T, name string, random *rand.Rand, opts workqueue.Options[int], groupOf, weight func(int) int, greatest int) {
	type wait struct{ priority, group, before, since, levels, groups int }
	q := workqueue.New(opts)
	waits := make(map[int]*wait)
	turn := 0
	for range 3000 {
		levels := make(map[int]map[int]int) // number of keys by priority and group
		for _, w := range waits {
			if levels[w.priority] == nil {
				levels[w.priority] = make(map[int]int)
			}
			levels[w.priority][w.group]++
		}
		for _, w := range waits {
			w.levels = max(w.levels, len(levels))
			w.groups = max(w.groups, len(levels[w.priority]))
		}
		key, priority := random.IntN(60), random.IntN(1+random.IntN(6))
		switch random.IntN(5) {
		case 0, 1:
			q.AddWith(key, workqueue.AddOptions{Priority: priority})
			if w := waits[key]; w == nil || w.priority < priority {
				group := groupOf(key)
				waits[key] = &wait{priority: priority, group: group, before: levels[priority][group], since: turn}
			}
		case 2:
			if random.IntN(4) == 0 {
				q.Cancel(key)
				delete(waits, key)
			}
		default:
			key, ok := q.TryGet()
			if !ok {
				continue
			}
			turn++
			q.Done(key)
			delete(waits, key)
			for key, w := range waits {
				n := boundOfGroups(w.before, weight(w.group), w.groups, greatest)
				if turn-w.since > opts.Ageing*w.levels*(n+1) {
					t.Fatalf("%s: %d waits for %d runs, %d of its group were before it, %d groups, %d levels, ageing %d",
						name, key, turn-w.since, w.before, w.groups, w.levels, opts.Ageing)
				}
			}
		}
	}
}

// This is the worst case for a group of low priority: urgent keys never end, and groups of its own
// priority with greater weights never end either. The keys of the group run within the bound, and
// the bound is tight.
func TestAGroupOfLowPriorityIsServedWithinTheBound(t *testing.T) {
	t.Parallel()
	const ageing, loud, greatest, quiet = 5, 3, 4, 6
	for _, weight := range []int{1, 2} {
		q := workqueue.New(workqueue.Options[string]{Ageing: ageing, Group: namespaceOf, Weight: func(group string) int {
			return map[bool]int{true: weight, false: greatest}[group == "quiet"]
		}})
		for group := range loud {
			for i := range 100 { // before the keys of the quiet group, and enough for all runs
				addAt(q, workqueue.LowPriority, fmt.Sprintf("loud-%d/%d", group, i))
			}
		}
		for i := range quiet {
			addAt(q, workqueue.LowPriority, fmt.Sprint("quiet/", i))
		}
		seen, last := 0, 0
		for turn := 1; seen < quiet; turn++ {
			addAt(q, 0, fmt.Sprint("urgent/", turn))
			key := get(t, q)
			q.Done(key)
			if namespaceOf(key) == "quiet" {
				bound := ageing * 2 * (boundOfGroups(seen, weight, loud+1, greatest) + 1)
				require.Equal(t, fmt.Sprint("quiet/", seen), key)
				require.LessOrEqual(t, turn, bound, "%s, of weight %d", key, weight)
				seen, last = seen+1, turn
			}
		}
		// One run in a number of runs (ageing) does not go to the urgent keys, and no other level
		// needs it.
		require.Equal(t, ageing*(boundOfGroups(quiet-1, weight, loud+1, greatest)+1), last)
	}
}

func TestAgeingCanBeOff(t *testing.T) {
	t.Parallel()
	q := workqueue.New(workqueue.Options[string]{Ageing: -1})
	addAt(q, -1, "low")
	for i := range 1000 {
		q.Add("high")
		require.Equal(t, "high", get(t, q), i)
		q.Done("high")
	}
	require.Equal(t, []string{"low"}, takeAll(t, q))
}
