package plain

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/internal/testing/conformance"
	"github.com/kinform/kinform/plain"
)

// NewQueue adapts the DeltaFIFO of the textbook to the queue suite.
func NewQueue() conformance.Queue {
	known := plain.NewStore[*conformance.Object](nil)
	return &queue{plain.NewDeltaFIFO(known), known}
}

type queue struct {
	*plain.DeltaFIFO[*conformance.Object]
	known *plain.Store[*conformance.Object]
}

// last is queued behind everything else, and marks the end.
var last = &conformance.Object{ObjectMeta: metav1.ObjectMeta{Name: "last"}}

func (q *queue) Take() (taken []conformance.Stack, closed bool) {
	shut := q.Add(last) != nil
	var stacks conformance.Stacks
	for ended := false; !ended; {
		err := q.Pop(func(deltas []plain.Delta[*conformance.Object], _ bool) error {
			for _, d := range deltas {
				if d.Object == last {
					ended = true
					return nil
				}
				stacks.Add(d.Object.Name, string(d.Type), d.FinalStateUnknown, d.Object.ResourceVersion)
				if d.Type == plain.Deleted {
					q.known.Delete(d.Object.Key())
				} else if err := q.known.Put(d.Object); err != nil {
					return err
				}
			}
			return nil
		})
		ended = ended || errors.Is(err, plain.ErrClosed)
	}
	return stacks.All(), shut && len(stacks.All()) == 0
}

func (q *queue) Add(o *conformance.Object) error    { return q.Change(plain.Added, o) }
func (q *queue) Update(o *conformance.Object) error { return q.Change(plain.Updated, o) }
func (q *queue) Delete(o *conformance.Object) error { return q.Change(plain.Deleted, o) }
