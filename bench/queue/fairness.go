package main

import (
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/bench/internal/report"
)

// fairnessLoad describes namespaces that add more keys than workers can process. It has no clock:
// adding and handing out alternate. So the result depends only on the queue's order, and is the
// same on every machine.
type fairnessLoad struct {
	rounds  int
	demands []int // number of keys that each namespace adds in a round
	workers int   // number of keys that workers have at a time
	served  int   // number of keys handed out in a round, a multiple of workers
}

// defaultFairnessLoad has 20 namespaces. The first one adds 100 times as many keys as each of the
// others. The workers can process about a quarter of all keys.
func defaultFairnessLoad(rounds int) fairnessLoad {
	c := fairnessLoad{rounds: rounds, demands: make([]int, 20), workers: 8, served: 32}
	for n := range c.demands {
		c.demands[n] = 1
	}
	c.demands[0] = 100
	return c
}

// result has the number of served keys of a namespace, and how long its keys waited.
type result struct {
	added, handed int
	// For each key, the number of keys handed out while it waited; includes keys that still wait.
	waited []int
}

// run runs the load on a queue. No key is added twice, so the queue merges nothing.
func (c fairnessLoad) run(open func() queue) []result {
	q := open()
	defer q.shutDown()
	results := make([]result, len(c.demands))
	var arrivals []int // the namespace of each key that is added in a round
	for n, demand := range c.demands {
		for range demand {
			arrivals = append(arrivals, n)
		}
	}
	type waiting struct{ namespace, since int }
	due := map[types.NamespacedName]waiting{}
	handed, r := 0, random()
	for range c.rounds {
		r.Shuffle(len(arrivals), func(i, j int) { arrivals[i], arrivals[j] = arrivals[j], arrivals[i] })
		for _, n := range arrivals {
			key := types.NamespacedName{Namespace: fmt.Sprintf("team-%02d", n), Name: strconv.Itoa(results[n].added)}
			results[n].added++
			due[key] = waiting{n, handed}
			q.add(key)
		}
		q.flush()
		for range c.served / c.workers {
			out := make([]types.NamespacedName, c.workers)
			for i := range out {
				out[i], _ = q.get()
				w := due[out[i]]
				delete(due, out[i])
				results[w.namespace].handed++
				results[w.namespace].waited = append(results[w.namespace].waited, handed-w.since)
				handed++
			}
			for _, key := range out {
				q.done(key)
			}
		}
	}
	for _, w := range due {
		results[w.namespace].waited = append(results[w.namespace].waited, handed-w.since)
	}
	for n := range results {
		slices.Sort(results[n].waited)
	}
	return results
}

// fairness returns Jain's index over namespaces, (Σx)² / (n Σx²). x is the number of keys that a
// namespace got, divided by its fair share by max-min fairness. The fair share is an equal share of
// all keys handed out. A namespace that requested less than this gets all its keys, and the others
// share the rest. An index of 1 is fair, and 1/n means that one namespace gets everything.
func fairness(results []result) float64 {
	var demands []int
	total := 0
	for _, r := range results {
		demands = append(demands, r.added)
		total += r.handed
	}
	fair := maxMin(demands, total)
	var shares []float64
	for n, r := range results {
		shares = append(shares, float64(r.handed)/fair[n])
	}
	return jain(shares)
}

func jain(values []float64) float64 {
	var sum, squares float64
	for _, v := range values {
		sum += v
		squares += v * v
	}
	return sum * sum / (float64(len(values)) * squares)
}

// maxMin divides total among demands by max-min fairness.
func maxMin(demands []int, total int) []float64 {
	order := make([]int, len(demands))
	for n := range order {
		order[n] = n
	}
	slices.SortFunc(order, func(a, b int) int { return demands[a] - demands[b] })
	shares := make([]float64, len(demands))
	left := float64(total)
	for i, n := range order {
		shares[n] = min(float64(demands[n]), left/float64(len(order)-i))
		left -= shares[n]
	}
	return shares
}

// table returns a table of all queues.
func (c fairnessLoad) table() string {
	t := report.Table{{"queue", "Jain's index", "quiet, done", "p50 wait", "p99 wait", "loud, done", "p50 wait", "p99 wait"}}
	subjects := slices.Clone(sides)
	subjects = append(subjects, side{"kinform, grouped by namespace", openGrouped})
	for _, s := range subjects {
		results := c.run(s.open)
		loud, quiet := results[0], result{}
		least := 1.0
		for _, r := range results[1:] {
			least = min(least, float64(r.handed)/float64(r.added))
			quiet.waited = append(quiet.waited, r.waited...)
		}
		slices.Sort(quiet.waited)
		percent := func(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }
		wait := func(r result, share float64) string { return strconv.Itoa(report.Quantile(r.waited, share)) }
		t.Add(s.name, fmt.Sprintf("%.2f", fairness(results)), percent(least), wait(quiet, 0.5), wait(quiet, 0.99),
			percent(float64(loud.handed)/float64(loud.added)), wait(loud, 0.5), wait(loud, 0.99))
	}
	return t.String()
}
