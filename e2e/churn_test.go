package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/e2e/cluster"
)

// churn changes a collection at random. It creates objects, patches objects, and deletes some of
// the objects that it has created.
type churn struct {
	path string
	// object makes the object with the given number, and name returns the name of this object.
	object func(number int) any
	name   func(number int) string

	rng     *rand.Rand
	created []int
	done    int
}

// number is the number of the last object that any churn has created. All churns share it, so no
// name is used twice. Seeded pods have the first numbers.
var number atomic.Int64

func newChurn(path string, name func(int) string, object func(int) any) *churn {
	number.CompareAndSwap(0, seeded)
	return &churn{path: path, name: name, object: object, rng: rand.New(rand.NewPCG(1, 2))}
}

func podChurn() *churn { return newChurn(cluster.PodsPath, cluster.PodName, cluster.Pod) }

func configMapChurn() *churn {
	name := func(number int) string { return fmt.Sprintf("settings-%05d", number) }
	return newChurn(configMapsPath, name, func(number int) any {
		return map[string]any{
			"metadata": map[string]any{"name": name(number)},
			"data":     map[string]any{"number": fmt.Sprint(number)},
		}
	})
}

// step makes one change.
func (c *churn) step(ctx context.Context) (err error) {
	choice := c.rng.IntN(10)
	switch {
	case choice < 4 || len(c.created) == 0:
		n := int(number.Add(1))
		if err = kube.Create(ctx, c.path, c.object(n)); err == nil {
			c.created = append(c.created, n)
		}
	case choice < 7:
		i := c.rng.IntN(len(c.created))
		if err = kube.Delete(ctx, c.path+"/"+c.name(c.created[i])); err == nil {
			c.created[i] = c.created[len(c.created)-1]
			c.created = c.created[:len(c.created)-1]
		}
	default:
		err = kube.Patch(ctx, c.path+"/"+c.name(c.created[c.rng.IntN(len(c.created))]), map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"step": fmt.Sprint(c.done)}},
		})
	}
	if err == nil {
		c.done++
	}
	return err
}

// steps makes n changes, and fails the test if one fails.
func (c *churn) steps(t *testing.T, n int) {
	t.Helper()
	for range n {
		require.NoError(t, c.step(t.Context()))
	}
}

// start makes changes in the background until stop is called. Single changes may fail. stop waits
// for the last change, and fails the test if no change succeeded.
func (c *churn) start(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			_ = c.step(t.Context())
		}
	})
	return func() {
		cancel()
		wg.Wait()
		require.NotZero(t, c.done, "no change succeeded")
		t.Logf("%d changes", c.done)
	}
}
