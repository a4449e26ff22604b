package informer

import (
	"context"
	"io"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/listwatch"
)

// noSource is a source without objects that is never listed.
type noSource struct{}

func (noSource) List(context.Context, listwatch.ListOptions) (listwatch.ListStream[*int], error) {
	return nil, io.EOF
}

func (noSource) Watch(context.Context, listwatch.WatchOptions) (listwatch.WatchStream[*int], error) {
	return nil, io.EOF
}

// Besides the store's own allocations, a single update allocates only the event, which all
// mailboxes share.
func TestApplyOfAnUpdateAllocatesOnlyTheEvent(t *testing.T) {
	inf, err := New(noSource{}, Options[*int]{})
	require.NoError(t, err)
	object, n := new(int), 0
	key := types.NamespacedName{Namespace: "a", Name: "b"}
	versions := make([]string, 1000)
	for n := range versions {
		versions[n] = strconv.Itoa(n + 1)
	}
	ops := []indexer.Op[*int]{{Key: key, Object: object}}
	store := func() {
		n++
		ops[0].ResourceVersion = versions[n]
		_, _ = inf.store.Apply(ops, versions[n])
	}
	stacks := []deltafifo.Stack[*int]{{Key: key, Deltas: []deltafifo.Delta[*int]{{Type: deltafifo.Updated, Object: object}}}}
	apply := func() {
		n++
		stacks[0].Deltas[0].ResourceVersion = versions[n]
		inf.apply(deltafifo.Batch[*int]{Stacks: stacks, ResourceVersion: versions[n]})
	}
	require.Equal(t, testing.AllocsPerRun(100, store)+1, testing.AllocsPerRun(100, apply))
}
