package informer_test

import (
	"context"
	"io"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
)

// BenchmarkEvent sends one event after another through an informer without a network, from the
// watch stream to ten handlers. Each event waits until all handlers have returned from the previous
// one.
func BenchmarkEvent(b *testing.B) {
	const handlers = 10
	source := benchSource{events: make(chan listwatch.Event[*int])}
	inf, err := informer.New(source, informer.Options[*int]{})
	require.NoError(b, err)
	handled := make(chan struct{}, handlers)
	for range handlers {
		_, err := inf.AddHandler(func(informer.Event[*int]) { handled <- struct{}{} }, informer.HandlerOptions{})
		require.NoError(b, err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- inf.Run(ctx) }()
	require.NoError(b, inf.WaitForSync(ctx))
	object, n := new(int), 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		source.events <- listwatch.Event[*int]{Type: listwatch.Modified, Item: listwatch.Item[*int]{
			Key: types.NamespacedName{Namespace: "a", Name: "b"}, Object: object, ResourceVersion: strconv.Itoa(n + 1),
		}}
		for range handlers {
			<-handled
		}
	}
	cancel()
	require.NoError(b, <-ended)
}

// benchSource has an empty list and watches a channel.
type benchSource struct{ events chan listwatch.Event[*int] }

func (benchSource) List(context.Context, listwatch.ListOptions) (listwatch.ListStream[*int], error) {
	return benchList{}, nil
}

func (s benchSource) Watch(ctx context.Context, _ listwatch.WatchOptions) (listwatch.WatchStream[*int], error) {
	return benchWatch{ctx, s.events}, nil
}

type benchList struct{}

func (benchList) Next() (item listwatch.Item[*int], err error) { return item, io.EOF }
func (benchList) Meta() listwatch.ListMeta                     { return listwatch.ListMeta{ResourceVersion: "1"} }
func (benchList) Close() error                                 { return nil }

type benchWatch struct {
	ctx    context.Context
	events chan listwatch.Event[*int]
}

func (w benchWatch) Next() (event listwatch.Event[*int], err error) {
	select {
	case event = <-w.events:
		return event, nil
	case <-w.ctx.Done():
		return event, w.ctx.Err()
	}
}

func (benchWatch) Close() error { return nil }
