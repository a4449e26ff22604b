package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Namespace is the namespace in which the helpers of this package create objects. [Start] creates
// it.
const Namespace = "e2e"

// Cluster is one running API server with its etcd. Its methods may be called concurrently, except
// the methods that start and stop processes.
type Cluster struct {
	opts Options
	dir  string
	pki  credentials

	etcd        *process
	etcdURL     string
	etcdPeerURL string
	apiserver   *process
	port        int

	admin *http.Client

	// tokenSecret is the secret to which the current token is bound. tokens is the number of tokens
	// so far.
	tokenSecret string
	tokens      int
}

// Start starts etcd and kube-apiserver on free ports of 127.0.0.1, and returns when the server is
// ready. Call Stop when done.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kinform-e2e-")
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	c := &Cluster{opts: opts, dir: dir}
	if err := c.start(ctx); err != nil {
		logs := c.Logs(40)
		return nil, errors.Join(fmt.Errorf("cluster: %w\n%s", err, logs), c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	var err error
	if c.pki, err = newCredentials(c.dir); err != nil {
		return err
	}
	c.admin = c.newClient()
	if err := c.startEtcd(); err != nil {
		return err
	}
	if c.port, err = freePort(); err != nil {
		return err
	}
	if err := c.writeKubeconfig(); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	if err := c.Create(ctx, "/api/v1/namespaces", object{"metadata": object{"name": Namespace}}); err != nil {
		return err
	}
	return c.createServiceAccount(ctx)
}

// Stop ends both processes, waits for them and removes their files. It may be
// called again.
func (c *Cluster) Stop() error {
	if c.admin != nil {
		c.admin.CloseIdleConnections()
	}
	return errors.Join(c.apiserver.kill(), c.etcd.kill(), os.RemoveAll(c.dir))
}

// URL is the address of the API server. It stays the same after a restart of the server.
func (c *Cluster) URL() string { return fmt.Sprintf("https://127.0.0.1:%d", c.port) }

// Logs returns the last lines of each process's output.
func (c *Cluster) Logs(lines int) string {
	var b strings.Builder
	for _, name := range []string{"etcd", "kube-apiserver"} {
		text, err := os.ReadFile(filepath.Join(c.dir, name+".log"))
		if err != nil {
			continue // not started yet
		}
		all := strings.Split(strings.TrimSpace(string(text)), "\n")
		fmt.Fprintf(&b, "--- the last lines of %s\n%s\n", name, strings.Join(all[max(0, len(all)-lines):], "\n"))
	}
	return b.String()
}

// eventually calls try every 100 ms until it returns nil, or ctx ends, or stop returns an error.
// stop may be nil.
func eventually(ctx context.Context, try func() error, stop func() error) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		if stop != nil {
			if over := stop(); over != nil {
				return errors.Join(over, err)
			}
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}
