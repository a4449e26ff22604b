package informer_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// TestG1_AnUndecodableObjectReplacesThePreviousObject: if an object is recreated in undecodable
// form, the store drops the old object, even if its DELETED is lost. If an object becomes
// undecodable without being recreated, the store keeps its old state.
func TestG1_AnUndecodableObjectReplacesThePreviousObject(t *testing.T) {
	t.Parallel()
	added, modified, deleted := listwatch.Added, listwatch.Modified, listwatch.Deleted
	undecodable := func(uid uint64, kind listwatch.EventType, version string) error {
		return &listwatch.ObjectError{Key: types.NamespacedName{Name: "a"}, ResourceVersion: version, UIDHash: uid, Type: kind, Err: errors.New("garbage")}
	}
	for name, tt := range map[string]struct {
		events      []any
		want        []string
		undecodable bool
	}{
		"added":              {[]any{undecodable(2, added, "3")}, []string{"Deleted? watch A1"}, true},
		"modified":           {[]any{undecodable(2, modified, "3")}, []string{"Deleted? watch A1"}, true},
		"the same":           {[]any{undecodable(1, modified, "3")}, nil, true},
		"without a UID":      {[]any{undecodable(0, modified, "3")}, nil, true},
		"sent again":         {[]any{of(1, ev(modified, "a", "4", "A4")), undecodable(2, modified, "3")}, []string{"Updated watch A1>A4"}, false},
		"again":              {[]any{undecodable(2, added, "3"), undecodable(2, modified, "4")}, []string{"Deleted? watch A1"}, true},
		"the same, then not": {[]any{undecodable(1, modified, "3"), undecodable(2, modified, "4")}, []string{"Deleted? watch A1"}, true},
		"then read":          {[]any{undecodable(2, added, "3"), of(2, ev(modified, "a", "4", "B4"))}, []string{"Deleted? watch A1", "Added watch >B4"}, false},
		"the same, then read": {
			[]any{undecodable(1, modified, "3"), of(1, ev(modified, "a", "4", "A4"))}, []string{"Updated watch A1>A4"}, false,
		},
		"then deleted": {[]any{undecodable(2, added, "3"), of(2, ev(deleted, "a", "4", "B4"))}, []string{"Deleted? watch A1"}, false},
	} {
		for _, atOnce := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					f := newFake("1", of(1, ev(added, "a", "1", "A1")).Item)
					inf := newInformer(t, f, informer.Options[*obj]{})
					var d eventLines
					_, err := inf.AddHandler(func(e informer.Event[*obj]) { d.write(describeEvent(e)) }, informer.HandlerOptions{})
					require.NoError(t, err)
					start(t, inf)
					synctest.Wait()
					require.Equal(t, []string{"Added initial >A1"}, d.read())
					for _, e := range tt.events {
						f.Events <- e
						if !atOnce {
							synctest.Wait()
						}
					}
					synctest.Wait()
					require.Equal(t, tt.want, d.read())
					_, there := inf.Store().Entry(types.NamespacedName{Name: "a"})
					require.Equal(t, len(tt.want) == 0 || tt.want[len(tt.want)-1] != "Deleted? watch A1", there)
					if err := inf.Healthy(1 << 62); tt.undecodable {
						require.ErrorIs(t, err, reflector.ErrUndecodable)
						require.Len(t, inf.Status().Undecodable.Objects, 1)
					} else {
						require.NoError(t, err)
					}
				})
			})
		}
	}
}
