package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/workqueue"
)

// turn is one call of a reconcile function. Its context has it, so that a Client knows
// which key its writes are for.
type turn struct {
	queue *workqueue.Queue[types.NamespacedName]
	key   types.NamespacedName
}

type turnKey struct{}

// begin returns a context that belongs to the turn.
func (t turn) begin(ctx context.Context) context.Context { return context.WithValue(ctx, turnKey{}, t) }

// park holds the key back until a cache has what the turn wrote. Outside a turn there is no
// key to hold back.
func park(ctx context.Context, seen func(context.Context) error) {
	if t, ok := ctx.Value(turnKey{}).(turn); ok {
		t.queue.Park(t.key, seen)
	}
}
