package informer_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/testing/fakesource"
	"github.com/kinform/kinform/listwatch"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

type obj struct{ n, v string }

// fake is a source that lists given items. Its watches return the events that a test sends.
type fake = fakesource.Script[*obj]

func newFake(rv string, items ...listwatch.Item[*obj]) *fake {
	return fakesource.NewScript(rv, items...)
}

func item(n, rv, v string) listwatch.Item[*obj] {
	return listwatch.Item[*obj]{Key: types.NamespacedName{Name: n}, Object: &obj{n, v}, ResourceVersion: rv}
}

func ev(t listwatch.EventType, n, rv, v string) listwatch.Event[*obj] {
	return listwatch.Event[*obj]{Type: t, Item: item(n, rv, v)}
}

func start[T any](t *testing.T, inf *informer.Informer[T]) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = inf.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

func newInformer(t *testing.T, f listwatch.Source[*obj], o informer.Options[*obj]) *informer.Informer[*obj] {
	inf, err := informer.New[*obj](f, o)
	require.NoError(t, err)
	return inf
}

func names(e informer.Event[*obj]) string {
	return fmt.Sprintf("%v %s@%s", e.Type, e.Key.Name, e.ResourceVersion)
}
