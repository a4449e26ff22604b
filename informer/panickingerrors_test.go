package informer_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
)

// panickingError is an error whose Unwrap panics.
type panickingError struct{}

func (panickingError) Error() string { return "odd" }
func (panickingError) Unwrap() error { panic("a bug") }

// panickingErrorSource fails once in each of its methods, with an error that panics when it is
// examined.
type panickingErrorSource struct {
	listwatch.Source[*obj]

	mu     sync.Mutex // guards following
	failed map[string]bool
}

func (s *panickingErrorSource) first(call string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.failed[call]
	s.failed[call] = true
	return !before
}

func (s *panickingErrorSource) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[*obj], error) {
	if s.first("list") {
		return nil, panickingError{}
	}
	stream, err := s.Source.List(ctx, opts)
	return panickingErrorList{stream, s}, err
}

func (s *panickingErrorSource) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[*obj], error) {
	if s.first("watch") {
		return nil, panickingError{}
	}
	return s.Source.Watch(ctx, opts)
}

type panickingErrorList struct {
	listwatch.ListStream[*obj]
	source *panickingErrorSource
}

func (l panickingErrorList) Next() (listwatch.Item[*obj], error) {
	if l.source.first("next") {
		return listwatch.Item[*obj]{}, panickingError{}
	}
	return l.ListStream.Next()
}

// A source, a transform and an index function may fail with an error that panics when it is
// examined. As after any other failure, the source is retried, and the store reports the objects as
// undecodable.
func TestErrorsThatPanicWhenExaminedAreFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("3", item("a", "1", "x"), item("b", "2", "x"), item("c", "3", "x"))
		odd := &panickingErrorSource{Source: f, failed: map[string]bool{}}
		source := sources.Transform(odd, func(o *obj) (*obj, error) {
			if o.n == "b" {
				return nil, panickingError{}
			}
			return o, nil
		})
		inf := newInformer(t, source, informer.Options[*obj]{
			Logger:    slog.New(slog.DiscardHandler),
			Reflector: reflector.Options{SkipUndecodable: true},
			Store: indexer.Options[*obj]{Indexes: map[string]indexer.IndexFunc[*obj]{"v": func(o *obj) ([]string, error) {
				if o.n == "c" {
					return nil, panickingError{}
				}
				return []string{o.v}, nil
			}}},
		})
		stop := start(t, inf)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, map[string]bool{"list": true, "next": true, "watch": true}, odd.failed)
		require.Equal(t, 1, inf.Store().Len())
		for _, name := range []string{"b", "c"} {
			err := inf.Store().Undecodable(types.NamespacedName{Name: name})
			require.ErrorContains(t, err, "Unwrap of an error of type informer_test.panickingError panicked")
			require.False(t, errors.Is(err, context.Canceled))
		}
		stop()
	})
}
