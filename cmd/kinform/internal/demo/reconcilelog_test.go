package demo

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
)

func TestStaleKeysAreCounted(t *testing.T) {
	t.Parallel()
	key := types.NamespacedName{Namespace: "ns", Name: "a"}
	put := func(version string) indexer.Op[*pod] {
		return indexer.Op[*pod]{Key: key, Object: &pod{}, ResourceVersion: version}
	}
	deleted := indexer.Op[*pod]{Key: key, ResourceVersion: "9", Delete: true}

	tests := []struct {
		name string
		// reconciled are operations on the store. The key is reconciled after each of them.
		reconciled []indexer.Op[*pod]
		// server is the version on the server, or "" if the server has no such pod.
		server string
		stale  int
	}{
		{"nothing anywhere", nil, "", 0},
		{"never reconciled", nil, "1", 1},
		{"reconciled in the last state", []indexer.Op[*pod]{put("1")}, "1", 0},
		{"changed since", []indexer.Op[*pod]{put("1")}, "2", 1},
		{"reconciled again", []indexer.Op[*pod]{put("1"), put("2")}, "2", 0},
		{"deleted since", []indexer.Op[*pod]{put("1")}, "", 1},
		{"the deletion was reconciled", []indexer.Op[*pod]{put("1"), deleted}, "", 0},
		{"created again since", []indexer.Op[*pod]{put("1"), deleted}, "10", 1},
		{"reconciled before it came", []indexer.Op[*pod]{deleted}, "1", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store, err := indexer.New(indexer.Options[*pod]{})
			require.NoError(t, err)
			l := newReconcileLog(func(key types.NamespacedName) string {
				entry, _ := store.Entry(key)
				return entry.ResourceVersion
			})
			for _, op := range tt.reconciled {
				_, err := store.Apply([]indexer.Op[*pod]{op}, op.ResourceVersion)
				require.NoError(t, err)
				require.NoError(t, l.reconcile(t.Context(), key))
			}
			last := map[types.NamespacedName]string{}
			if tt.server != "" {
				last[key] = tt.server
			}
			require.Equal(t, tt.stale, l.stale(last))
		})
	}
}
