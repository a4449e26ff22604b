package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/workqueue"
)

// reconcileContext is one call of a reconcile function. The context of the call contains it, so
// that a Client knows for which key it writes.
type reconcileContext struct {
	queue      *workqueue.Queue[types.NamespacedName]
	key        types.NamespacedName
	writeWaits *writeWaits
}

type reconcileContextKey struct{}

// attach returns a context that contains t.
func (t reconcileContext) attach(ctx context.Context) context.Context {
	return context.WithValue(ctx, reconcileContextKey{}, t)
}

// park holds the key of ctx's reconcile back until a cache has a write. If ctx is not the context
// of a reconcile, park does nothing.
func park(ctx context.Context, write awaitedWrite) {
	if t, ok := ctx.Value(reconcileContextKey{}).(reconcileContext); ok {
		t.queue.Park(t.key, func(ctx context.Context) error { return t.writeWaits.wait(ctx, t.key, write) })
	}
}
