package managedfields

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

func withData(name string, value any) document {
	return document{"apiVersion": "v1", "kind": "ConfigMap", "metadata": document{"name": "m"}, "data": document{name: value}}
}

// TestOldestUpdatersAreMerged: for each version, the oldest entries are merged into one entry,
// so that no ownership is lost.
func TestOldestUpdatersAreMerged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		live := document{"apiVersion": "v1", "kind": "ConfigMap", "metadata": document{"name": "m"}, "data": document{}}
		var owned []metav1.ManagedFieldsEntry
		for i := range 30 {
			time.Sleep(time.Second)
			next := withData("", "")
			data := next["data"].(document)
			for name, value := range live["data"].(document) {
				data[name] = value
			}
			data[fmt.Sprint("k", i)] = "v"
			op := Operation{Manager: fmt.Sprint("m", i), APIVersion: []string{"v1", "v2"}[i%2]}
			var err error
			owned, err = Type{}.Update(live, next, owned, op)
			require.NoError(t, err)
			live = next
			require.LessOrEqual(t, len(owned), 10)
		}
		fields := map[string]bool{}
		managers := map[string]bool{}
		for _, e := range owned {
			managers[e.Manager+" "+e.APIVersion] = true
			all, err := decodeEntries([]metav1.ManagedFieldsEntry{e})
			require.NoError(t, err)
			for _, set := range all.fields {
				set.Set().Leaves().Iterate(func(p fieldpath.Path) { fields[p.String()] = true })
			}
		}
		require.Len(t, owned, 10)
		for i := range 30 {
			require.True(t, fields[fmt.Sprintf(".data.k%d", i)], i)
		}
		for _, m := range []string{"ancient-changes v1", "ancient-changes v2", "m29 v2", "m22 v1"} {
			require.True(t, managers[m], "%s in %v", m, managers)
		}
	})
}

// TestTimeOfAnUpdate: an entry has the time of the last change, even if the set of its fields stays
// the same.
func TestTimeOfAnUpdate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		op := Operation{Manager: "me", APIVersion: "v1"}
		owned, err := Type{}.Update(nil, withData("x", "1"), nil, op)
		require.NoError(t, err)
		first := owned[0].Time.Time
		time.Sleep(time.Minute)
		owned, err = Type{}.Update(withData("x", "1"), withData("x", "1"), owned, op)
		require.NoError(t, err)
		require.Equal(t, first, owned[0].Time.Time, "the time must stay the same if nothing changes")
		owned, err = Type{}.Update(withData("x", "1"), withData("x", "2"), owned, op)
		require.NoError(t, err)
		require.Equal(t, first.Add(time.Minute), owned[0].Time.Time)
	})
}

func TestApplyDoesNotChangeItsInput(t *testing.T) {
	t.Parallel()
	wanted := withData("x", "1")
	live := withData("y", "2")
	live["metadata"].(document)["managedFields"] = []any{document{"manager": "me"}}
	merged, owned, err := Type{}.Apply(live, wanted, nil, Operation{Manager: "me", APIVersion: "v1"})
	require.NoError(t, err)
	require.Equal(t, withData("x", "1"), wanted)
	require.Equal(t, document{"x": "1", "y": "2"}, merged["data"])
	require.Equal(t, document{"name": "m"}, merged["metadata"])
	require.Len(t, owned, 2)
	again, _, err := Type{}.Apply(merged, wanted, owned, Operation{Manager: "me", APIVersion: "v1"})
	require.NoError(t, err)
	require.Equal(t, document{"x": "1", "y": "2"}, again["data"])
}
