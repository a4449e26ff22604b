package deltafifo_test

import (
	"context"
	"errors"
	"iter"
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/internal/testing/conformance"
	"github.com/kinform/kinform/listwatch"
)

func TestConformance(t *testing.T) {
	conformance.TestQueue(t, func() conformance.Queue {
		s := &subject{store: consumed{}}
		s.FIFO = deltafifo.New(s.store, deltafifo.Options{})
		return s
	}, nil)
}

// consumed is the consumer's store, with the objects of the suite.
type consumed map[types.NamespacedName]*conformance.Object

func (c consumed) LastApplied(key types.NamespacedName) (*conformance.Object, string, uint64, bool) {
	o, ok := c[key]
	if !ok {
		return nil, "", 0, false
	}
	return o, o.ResourceVersion, 0, true
}

func (c consumed) AllKeys() iter.Seq[types.NamespacedName] { return maps.Keys(c) }

// subject adapts the queue and its consumer to the suite.
type subject struct {
	*deltafifo.FIFO[*conformance.Object]
	store  consumed
	synced bool
}

func (s *subject) Add(o *conformance.Object) error {
	return s.FIFO.Add(o.Key(), o, o.ResourceVersion)
}

func (s *subject) Update(o *conformance.Object) error {
	return s.FIFO.Update(o.Key(), o, o.ResourceVersion)
}

func (s *subject) Delete(o *conformance.Object) error {
	return s.FIFO.Delete(o.Key(), o, o.ResourceVersion)
}

func (s *subject) Replace(list []*conformance.Object, resourceVersion string) error {
	var items []listwatch.Item[*conformance.Object]
	for _, o := range list {
		items = append(items, listwatch.Item[*conformance.Object]{Key: o.Key(), Object: o, ResourceVersion: o.ResourceVersion})
	}
	return s.FIFO.Replace(listwatch.Snapshot[*conformance.Object]{Items: items, ResourceVersion: resourceVersion})
}

func (s *subject) Take() (taken []conformance.Stack, closed bool) {
	batch, err := s.Pop(context.Background())
	if err != nil {
		return nil, errors.Is(err, deltafifo.ErrClosed)
	}
	var stacks conformance.Stacks
	for _, stack := range batch.Stacks {
		for _, d := range stack.Deltas {
			stacks.Add(stack.Key.Name, d.Type.String(), d.FinalStateUnknown, d.Object.ResourceVersion)
		}
		if newest := stack.Newest(); newest.Type == deltafifo.Deleted {
			delete(s.store, stack.Key)
		} else {
			s.store[stack.Key] = newest.Object
		}
	}
	s.synced = s.synced || batch.Initial
	return stacks.All(), false
}

func (s *subject) Synced() bool { return s.synced }
