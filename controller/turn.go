package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/workqueue"
)

// turn is one call of a reconcile function. The context of the call contains the turn, so that a
// Client knows for which key it writes.
type turn struct {
	queue *workqueue.Queue[types.NamespacedName]
	key   types.NamespacedName
	holds *holds
}

type turnKey struct{}

// begin returns a context for the turn.
func (t turn) begin(ctx context.Context) context.Context { return context.WithValue(ctx, turnKey{}, t) }

// park holds the turn's key back until a cache has a write. Outside of a turn it does nothing.
func park(ctx context.Context, write held) {
	if t, ok := ctx.Value(turnKey{}).(turn); ok {
		t.queue.Park(t.key, func(ctx context.Context) error { return t.holds.wait(ctx, t.key, write) })
	}
}
