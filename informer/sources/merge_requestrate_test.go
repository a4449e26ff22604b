package sources_test

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
)

// countingSource is a source without objects, at version 10. Each of its watches sends a bookmark,
// lasts for some time, and ends in the same way.
type countingSource struct {
	lasts time.Duration
	ends  error // nil means the watch never ends

	mu             sync.Mutex // guards following
	lists, watches int
}

type emptyStream struct {
	listwatch.ListStream[*int]
	ctx context.Context
	*countingSource
	sent bool
}

func (s *countingSource) List(context.Context, listwatch.ListOptions) (listwatch.ListStream[*int], error) {
	time.Sleep(time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	return &empty{}, nil
}

// empty is an empty list.
type empty struct{}

func (*empty) Next() (item listwatch.Item[*int], err error) { return item, io.EOF }

func (*empty) Meta() listwatch.ListMeta { return listwatch.ListMeta{ResourceVersion: "10"} }

func (*empty) Close() error { return nil }

func (s *countingSource) Watch(ctx context.Context, _ listwatch.WatchOptions) (listwatch.WatchStream[*int], error) {
	time.Sleep(time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches++
	return &emptyStream{ctx: ctx, countingSource: s}, nil
}

func (n *emptyStream) Next() (event listwatch.Event[*int], err error) {
	if !n.sent {
		n.sent, event.Type, event.ResourceVersion = true, listwatch.Bookmark, "10"
		return event, nil
	}
	if n.ends != nil {
		select {
		case <-time.After(n.lasts):
			return event, n.ends
		case <-n.ctx.Done():
		}
	}
	<-n.ctx.Done()
	return event, n.ctx.Err()
}

func (n *emptyStream) Close() error { return nil }

// No part gets requests in a tight loop, however its watches end. A part that may have lost events
// gets only an occasional list.
func TestNoPartCausesABusyLoop(t *testing.T) {
	for name, part := range map[string]struct {
		lasts time.Duration
		ends  error
	}{
		"its watches end at once":                  {0, io.EOF},
		"its watches break at once":                {0, io.ErrUnexpectedEOF},
		"its connections are cut after a second":   {time.Second, io.ErrUnexpectedEOF},
		"its connections are cut after 10 seconds": {10 * time.Second, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				source := &countingSource{lasts: part.lasts, ends: part.ends}
				inf, err := informer.New(sources.Merge[*int](source, &countingSource{}), informer.Options[*int]{})
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				require.NoError(t, inf.Run(ctx))
				t.Log(source.lists, "lists,", source.watches, "watches")
				require.Less(t, source.lists, 90)
				require.Less(t, source.watches, 3700)
			})
		})
	}
}

// loginSource is a source whose credential expires with its first watch. A new credential takes ten
// minutes, and only for a caller that waits for it.
type loginSource struct {
	*countingSource
	out bool // logged out
}

func (s *loginSource) Prepare(ctx context.Context) error {
	if s.out {
		select {
		case <-time.After(10 * time.Minute):
			s.out = false
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

func (s *loginSource) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[*int], error) {
	if err := s.Prepare(ctx); err != nil {
		return nil, err
	}
	if s.watches == 0 {
		s.out = true
	} else {
		s.ends = nil
	}
	return s.countingSource.Watch(ctx, opts)
}

func TestPartMayLogInAgainForALongTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &loginSource{countingSource: &countingSource{lasts: time.Second, ends: io.ErrUnexpectedEOF}}
		inf, err := informer.New(sources.Merge[*int](source, &countingSource{lasts: time.Minute, ends: io.EOF}), informer.Options[*int]{
			Reflector: reflector.Options{WatchTimeout: time.Hour, WatchIdleTimeout: 3 * time.Minute},
		})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Minute)
		defer cancel()
		require.NoError(t, inf.Run(ctx))
		require.Equal(t, 2, source.watches)
		require.Empty(t, inf.Status().Parts)
	})
}

// A watch that sends only an undecodable object and ends counts as empty, because the next watch
// begins with the same object again.
func TestPartThatSendsOnlyUndecodableObjectsIsNotReopenedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newFake("10"), &endingSource{fake: newFake("10"), sends: &listwatch.ObjectError{
			Key: types.NamespacedName{Name: "bad"}, ResourceVersion: "11", Type: listwatch.Added, Err: io.EOF,
		}}
		inf := newInformer(t, sources.Merge[*obj](a, b), informer.Options[*obj]{Reflector: reflector.Options{SkipUndecodable: true}})
		start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		time.Sleep(10 * time.Minute)
		require.Less(t, b.watches.Load(), int32(200))
	})
}

// endingSource is a fake whose watches send one event and end.
type endingSource struct {
	*fake
	sends   any
	watches atomic.Int32
}

func (e *endingSource) Watch(context.Context, listwatch.WatchOptions) (listwatch.WatchStream[*obj], error) {
	if e.watches.Add(1) > 1_000 {
		return nil, io.ErrClosedPipe
	}
	time.Sleep(time.Millisecond)
	return &endingWatch{sends: []any{e.sends, io.EOF}}, nil
}

type endingWatch struct{ sends []any }

func (w *endingWatch) Next() (listwatch.Event[*obj], error) {
	next := w.sends[0]
	w.sends = w.sends[1:]
	if err, ok := next.(error); ok {
		return listwatch.Event[*obj]{}, err
	}
	return next.(listwatch.Event[*obj]), nil
}

func (w *endingWatch) Close() error { return nil }
