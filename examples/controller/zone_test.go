package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// TestRecordsStayInTheZone: the name of an object cannot be used as a path to files outside of the
// zone.
func TestRecordsStayInTheZone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	zone := zone(filepath.Join(dir, "zone"))
	require.NoError(t, os.Mkdir(string(zone), 0o755))
	for _, key := range []types.NamespacedName{
		{Namespace: "a", Name: "/../../escaped"}, {Namespace: "..", Name: "b"}, {Namespace: "../a", Name: "b"}, {Name: ".."},
	} {
		require.NoError(t, zone.set(key, "host"))
		require.NoError(t, zone.remove(key))
		require.NoError(t, zone.set(key, "host"))
	}
	records, err := os.ReadDir(string(zone))
	require.NoError(t, err)
	require.Len(t, records, 4)
	outside, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, outside, 1)
}
