package cluster_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kinform/kinform/e2e/cluster"
)

func TestClusterKeepsItsDataAcrossAKillAndItsPort(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := cluster.Start(ctx, cluster.Options{Uncached: []string{"configmaps"}})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Stop()) }()

	require.NoError(t, c.SeedPods(ctx, 0, 20))
	before, err := c.List(ctx, cluster.PodsPath)
	require.NoError(t, err)
	require.Len(t, before, 20)

	url := c.URL()
	require.NoError(t, c.KillAPIServer())
	_, err = c.List(ctx, cluster.PodsPath)
	require.Error(t, err)
	require.NoError(t, c.StartAPIServer(ctx))
	require.Equal(t, url, c.URL())

	after, err := c.List(ctx, cluster.PodsPath)
	require.NoError(t, err)
	require.Equal(t, before, after)

	compacted, err := c.Compact(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, compacted)

	begin := time.Now()
	old, err := c.RotateToken(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, old)
	t.Logf("the server refused the old token after %v", time.Since(begin))
}
