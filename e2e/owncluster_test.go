package e2e_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/e2e/cluster"
)

// useOwnCluster gives a test an empty cluster of its own, until the test ends.
func useOwnCluster(t *testing.T, opts cluster.Options) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all := kube
	other, err := cluster.Start(ctx, opts)
	require.NoError(t, err)
	kube = other
	t.Cleanup(func() {
		kube = all
		if t.Failed() {
			t.Log(other.Logs(60))
		}
		require.NoError(t, other.Stop())
	})
}
