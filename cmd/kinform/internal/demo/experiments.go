package demo

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kinform/kinform/indexer"
	"k8s.io/apimachinery/pkg/types"
)

// experiments are experiments for a learner. Each makes one idea visible. The zero value makes no
// experiments.
type experiments struct {
	// Work is how long a worker takes for a key.
	Work time.Duration

	// Fail is the number of attempts at each key that fail before one succeeds.
	Fail int

	// SlowHandler adds a second handler, whose calls take this long.
	SlowHandler time.Duration

	// Resync is the interval at which the first handler gets every object again.
	Resync time.Duration

	// Node is a node whose pods are looked up at the end, with and without an index.
	Node string
}

// attempt is one reconcile of a key. It may fail on purpose.
type attempt struct {
	key    types.NamespacedName
	number int           // from 1
	after  time.Duration // since the previous attempt; 0 for the first
	failed bool
}

var errExperiment = errors.New("the attempt fails because of --fail")

// slowOrFailing returns a reconcile function that is slow or fails if the experiments require it,
// and otherwise calls reconcile.
func (t experiments) slowOrFailing(reconcile func(context.Context, types.NamespacedName) error, onAttempt func(attempt)) func(context.Context, types.NamespacedName) error {
	if t.Work == 0 && t.Fail == 0 {
		return reconcile
	}
	attempts := attempts{number: map[types.NamespacedName]int{}, at: map[types.NamespacedName]time.Time{}}
	return func(ctx context.Context, key types.NamespacedName) (err error) {
		if a := attempts.next(key, t.Fail); t.Fail > 0 && a.number <= t.Fail+1 {
			onAttempt(a)
			if a.failed {
				err = errExperiment
			}
		}
		if err == nil {
			// Before the pause, because reconcile reads the state from the store.
			err = reconcile(ctx, key)
		}
		pause(ctx, t.Work)
		return err
	}
}

// attempts counts the attempts at each key.
type attempts struct {
	mu     sync.Mutex // guards following
	number map[types.NamespacedName]int
	at     map[types.NamespacedName]time.Time
}

func (f *attempts) next(key types.NamespacedName, fails int) attempt {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.number[key]++
	a := attempt{key: key, number: f.number[key], failed: f.number[key] <= fails}
	if a.number > 1 {
		a.after = now.Sub(f.at[key])
	}
	f.at[key] = now
	return a
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// ExperimentResults are the results of the experiments. A field is nil if its experiment did not
// run.
type ExperimentResults struct {
	// SlowCalls counts the calls of the slow handler that have returned.
	SlowCalls *uint64 `json:"slow_calls,omitempty"`
	// Resyncs counts the resync events to the first handler.
	Resyncs *uint64 `json:"resyncs,omitempty"`
	// Lookup compares two ways to find the pods of a node.
	Lookup *lookup `json:"lookup,omitempty"`
}

func (t experiments) summary(slowCalls, resyncs uint64, found *lookup) (s ExperimentResults) {
	if t.SlowHandler > 0 {
		s.SlowCalls = &slowCalls
	}
	if t.Resync > 0 {
		s.Resyncs = &resyncs
	}
	s.Lookup = found
	return s
}

// indexes are the indexes of the store.
func indexes(opts Options) map[string]indexer.IndexFunc[*pod] {
	if opts.Node == "" {
		return nil
	}
	return map[string]indexer.IndexFunc[*pod]{nodeIndex: byNode}
}

// lookup compares two ways to find the pods of a node.
type lookup struct {
	Node     string        `json:"node"`
	Pods     int           `json:"pods"`
	ByIndex  time.Duration `json:"by_index_ns"`
	OneByOne time.Duration `json:"one_by_one_ns"`
	// Missed is the number of pods that one of the two ways found and the other did not.
	Missed int `json:"missed,omitempty"`
}

// find looks up the pods of a node in two ways: by an index, and by a scan of all pods.
func (t experiments) find(byIndex func() int, all func(yield func(*pod) bool)) *lookup {
	if t.Node == "" {
		return nil
	}
	l := &lookup{Node: t.Node}
	began := time.Now()
	indexed := byIndex()
	l.ByIndex = time.Since(began)
	began = time.Now()
	for p := range all {
		if p.Spec.NodeName == t.Node {
			l.Pods++
		}
	}
	l.OneByOne = time.Since(began)
	l.Missed = max(indexed-l.Pods, l.Pods-indexed)
	return l
}

// byNode is the index function: it returns the index values of a pod.
func byNode(p *pod) ([]string, error) { return []string{p.Spec.NodeName}, nil }

// nodeIndex is the name of the index.
const nodeIndex = "node"
