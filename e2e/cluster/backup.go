package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Backup copies etcd's data while both servers are down, and returns when they are up again.
func (c *Cluster) Backup(ctx context.Context) error {
	err := c.whileDown(func() error { return os.CopyFS(c.backup(), os.DirFS(c.etcdData())) })
	return errors.Join(err, c.StartAPIServer(ctx))
}

// Restore kills both servers and starts etcd with the data of the last Backup, so that etcd's
// revision goes back. The API server stays down.
func (c *Cluster) Restore() error {
	return c.whileDown(func() error {
		if err := os.RemoveAll(c.etcdData()); err != nil {
			return err
		}
		return os.CopyFS(c.etcdData(), os.DirFS(c.backup()))
	})
}

// Advance raises etcd's revision by n, as writes to other resources would.
func (c *Cluster) Advance(ctx context.Context, n int) error {
	put := func() error { return c.etcdCall(ctx, "/v3/kv/put", `{"key": "b3RoZXI=", "value": ""}`, nil) }
	if err := eventually(ctx, put, c.etcd.exited); err != nil { // etcd may still be starting
		return err
	}
	for range n - 1 {
		if err := put(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) backup() string { return filepath.Join(c.dir, "backup") }

// whileDown calls do while neither server runs, and starts etcd again.
func (c *Cluster) whileDown(do func() error) error {
	if err := errors.Join(c.KillAPIServer(), c.etcd.kill()); err != nil {
		return err
	}
	if err := do(); err != nil {
		return fmt.Errorf("cluster: backup: %w", err)
	}
	return c.runEtcd()
}
