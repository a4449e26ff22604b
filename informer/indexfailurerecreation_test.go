package informer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// TestG1_AnObjectThatCannotBeIndexedReplacesThePreviousObject: an object that an index function
// refuses is not stored. The stored object of its name is deleted if it has another UID. An index
// function refuses an object by an error or a panic.
func TestG1_AnObjectThatCannotBeIndexedReplacesThePreviousObject(t *testing.T) {
	t.Parallel()
	added, modified, deleted := listwatch.Added, listwatch.Modified, listwatch.Deleted
	for name, tt := range map[string]struct {
		events  []any
		list    []listwatch.Event[*obj] // a relist instead
		want    []string
		stored  string // "" means nothing
		refused bool
	}{
		"added":              {events: []any{of(2, ev(added, "a", "3", "bad3"))}, want: []string{"Deleted? watch A1"}, refused: true},
		"modified":           {events: []any{of(2, ev(modified, "a", "3", "bad3"))}, want: []string{"Deleted? watch A1"}, refused: true},
		"the same":           {events: []any{of(1, ev(modified, "a", "3", "bad3"))}, stored: "A1", refused: true},
		"without a UID":      {events: []any{ev(modified, "a", "3", "bad3")}, stored: "A1", refused: true},
		"seen":               {events: []any{of(1, ev(deleted, "a", "2", "A2")), of(2, ev(added, "a", "3", "bad3"))}, want: []string{"Deleted watch A1 last A2"}, refused: true},
		"again":              {events: []any{of(2, ev(added, "a", "3", "bad3")), of(2, ev(modified, "a", "4", "bad4"))}, want: []string{"Deleted? watch A1"}, refused: true},
		"the same, then not": {events: []any{of(1, ev(modified, "a", "3", "bad3")), of(2, ev(modified, "a", "4", "bad4"))}, want: []string{"Deleted? watch A1"}, refused: true},
		"then deleted":       {events: []any{of(2, ev(added, "a", "3", "bad3")), of(2, ev(deleted, "a", "4", "bad4"))}, want: []string{"Deleted? watch A1"}},
		"then good":          {events: []any{of(2, ev(added, "a", "3", "bad3")), of(2, ev(modified, "a", "4", "good4"))}, want: []string{"Deleted? watch A1", "Added watch >good4"}, stored: "good4"},
		"then another":       {events: []any{of(2, ev(added, "a", "3", "bad3")), of(3, ev(added, "a", "4", "good4"))}, want: []string{"Deleted? watch A1", "Added watch >good4"}, stored: "good4"},
		"listed":             {list: []listwatch.Event[*obj]{of(2, ev(added, "a", "3", "bad3"))}, want: []string{"Deleted? relist A1"}, refused: true},
		"the same, listed":   {list: []listwatch.Event[*obj]{of(1, ev(added, "a", "3", "bad3"))}, stored: "A1", refused: true},
		"gone, listed":       {events: []any{of(2, ev(added, "a", "3", "bad3"))}, list: []listwatch.Event[*obj]{}, want: []string{"Deleted? watch A1"}},
	} {
		for _, how := range []string{"error", "panic"} {
			for _, atOnce := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%v", name, how, atOnce), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						f := newFake("1", of(1, ev(added, "a", "1", "A1")).Item)
						refuse := func(o *obj) ([]string, error) {
							switch {
							case !strings.HasPrefix(o.v, "bad"):
								return []string{o.v}, nil
							case how == "panic":
								panic("it is bad")
							}
							return nil, errors.New("it is bad")
						}
						opts := informer.Options[*obj]{}
						opts.Store.Indexes = map[string]indexer.IndexFunc[*obj]{"v": refuse}
						inf := newInformer(t, f, opts)
						var d eventLines
						_, err := inf.AddHandler(func(e informer.Event[*obj]) { d.write(describeEvent(e)) }, informer.HandlerOptions{})
						require.NoError(t, err)
						start(t, inf)
						synctest.Wait()
						d.read()
						for _, e := range tt.events {
							f.Events <- e
							if !atOnce {
								synctest.Wait()
							}
						}
						if tt.list != nil {
							var items []listwatch.Item[*obj]
							for _, e := range tt.list {
								items = append(items, e.Item)
							}
							f.Set("9", items...)
							f.Events <- expired
							time.Sleep(time.Hour)
						}
						synctest.Wait()
						received := d.read()
						if !atOnce {
							// Intermediate states in one batch are reported, but not indexed.
							require.Equal(t, tt.want, received)
						}
						key := types.NamespacedName{Name: "a"}
						entry, there := inf.Store().Entry(key)
						require.Equal(t, tt.stored != "", there)
						if there {
							require.Equal(t, tt.stored, entry.Object.v)
						}
						found, err := inf.Store().ByIndex("v", tt.stored)
						require.NoError(t, err)
						n := 0
						for range found {
							n++
						}
						require.Equal(t, tt.stored != "", n == 1)
						if err := inf.Healthy(1 << 62); tt.refused {
							require.ErrorIs(t, err, reflector.ErrUndecodable)
							require.ErrorContains(t, err, "object a could not be read: ")
							require.ErrorContains(t, inf.Store().Undecodable(key), "it is bad")
						} else {
							require.NoError(t, err)
							require.NoError(t, inf.Store().Undecodable(key))
						}
					})
				})
			}
		}
	}
}
