package informer_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

type obj struct{ n, v string }

// fake is a source that lists given items. Its watches return the events that a test sends.
type fake struct {
	mu     sync.Mutex
	items  []listwatch.Item[*obj]
	rv     string
	events chan any // events and errors
}

func item(n, rv, v string) listwatch.Item[*obj] {
	return listwatch.Item[*obj]{Key: types.NamespacedName{Name: n}, Object: &obj{n, v}, ResourceVersion: rv}
}

func ev(t listwatch.EventType, n, rv, v string) listwatch.Event[*obj] {
	return listwatch.Event[*obj]{Type: t, Item: item(n, rv, v)}
}

func (f *fake) set(rv string, items ...listwatch.Item[*obj]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rv, f.items = rv, items
}

type fakeList struct {
	items []listwatch.Item[*obj]
	rv    string
}

func (l *fakeList) Next() (listwatch.Item[*obj], error) {
	if len(l.items) == 0 {
		return listwatch.Item[*obj]{}, io.EOF
	}
	i := l.items[0]
	l.items = l.items[1:]
	return i, nil
}
func (l *fakeList) Meta() listwatch.ListMeta { return listwatch.ListMeta{ResourceVersion: l.rv} }
func (l *fakeList) Close() error             { return nil }

type fakeWatch struct {
	ctx context.Context
	f   *fake
}

func (w fakeWatch) Next() (listwatch.Event[*obj], error) {
	select {
	case <-w.ctx.Done():
		return listwatch.Event[*obj]{}, w.ctx.Err()
	case x := <-w.f.events:
		if err, ok := x.(error); ok {
			return listwatch.Event[*obj]{}, err
		}
		return x.(listwatch.Event[*obj]), nil
	}
}
func (w fakeWatch) Close() error { return nil }

func (f *fake) List(context.Context, listwatch.ListOptions) (listwatch.ListStream[*obj], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &fakeList{f.items, f.rv}, nil
}
func (f *fake) Watch(ctx context.Context, _ listwatch.WatchOptions) (listwatch.WatchStream[*obj], error) {
	return fakeWatch{ctx, f}, nil
}

func newFake(rv string, items ...listwatch.Item[*obj]) *fake {
	return &fake{items: items, rv: rv, events: make(chan any)}
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
