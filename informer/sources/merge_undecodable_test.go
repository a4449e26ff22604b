package sources_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
)

// unlistableSource is a fake that cannot be listed while its field fails is set.
type unlistableSource struct {
	*fake
	fails atomic.Bool
}

func (l *unlistableSource) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[*obj], error) {
	if l.fails.Load() {
		return nil, io.ErrUnexpectedEOF
	}
	return l.fake.List(ctx, opts)
}

func TestAListWithoutAPartReportsItsKnownUndecodableObjects(t *testing.T) {
	undecodable := func(name, version string, kind listwatch.EventType) error {
		return &listwatch.ObjectError{Key: types.NamespacedName{Name: name}, ResourceVersion: version, Type: kind, Err: errors.New("no object")}
	}
	for name, c := range map[string]struct {
		events      []any
		undecodable map[string]bool // by name; the value says whether the object is stored
		count       int
		gone        string
	}{
		"a change":            {events: []any{undecodable("b", "11", listwatch.Modified)}, undecodable: map[string]bool{"b": true}, count: 1},
		"a new one":           {events: []any{undecodable("new", "11", listwatch.Added)}, undecodable: map[string]bool{"new": false}, count: 1},
		"one without a name":  {events: []any{undecodable("", "11", listwatch.Added)}, count: 1},
		"two without a name":  {events: []any{undecodable("", "11", listwatch.Added), undecodable("", "12", listwatch.Added)}, count: 2},
		"any of them":         {events: []any{undecodable("", "11", listwatch.Added), undecodable("", "12", listwatch.Modified)}, count: 1},
		"a deletion":          {events: []any{undecodable("b", "11", listwatch.Deleted)}, gone: "b"},
		"a change, then gone": {events: []any{undecodable("b", "11", listwatch.Modified), undecodable("b", "12", listwatch.Deleted)}, gone: "b"},
		"readable again":      {events: []any{undecodable("b", "11", listwatch.Modified), ev(listwatch.Modified, "b", "12", "b12")}},
		"sent again":          {events: []any{ev(listwatch.Modified, "b", "12", "b12"), undecodable("b", "11", listwatch.Deleted)}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := newFake("10", item("a", "9", "a9")), newFake("10", item("b", "8", "b8"))
				part := &unlistableSource{fake: b}
				inf := newInformer(t, sources.Merge[*obj](a, part), informer.Options[*obj]{})
				start(t, inf)
				require.NoError(t, inf.WaitForSync(t.Context()))
				check := func() {
					t.Helper()
					require.Equal(t, c.count, inf.Status().Undecodable.Count)
					for name, stored := range c.undecodable {
						key := types.NamespacedName{Name: name}
						require.Error(t, inf.Store().Undecodable(key))
						_, ok := inf.Store().Get(key)
						require.Equal(t, stored, ok, name)
					}
					_, ok := inf.Store().Get(types.NamespacedName{Name: "b"})
					require.Equal(t, c.gone != "b", ok)
				}
				for _, event := range c.events {
					b.Events <- event
					synctest.Wait()
				}
				check()
				part.fails.Store(true)
				a.Set("20", item("a", "9", "a9"))
				for range 2 {
					lists := inf.Status().Reflector.Lists
					a.Events <- apierrors.NewResourceExpired("too old resource version")
					time.Sleep(time.Minute)
					synctest.Wait()
					require.Greater(t, inf.Status().Reflector.Lists, lists)
					require.Len(t, inf.Status().Parts, 1)
					check()
				}
			})
		})
	}
}
