package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
)

func (c *Cluster) startEtcd() error {
	client, err := freePort()
	if err != nil {
		return err
	}
	peer, err := freePort()
	if err != nil {
		return err
	}
	c.etcdURL = fmt.Sprintf("http://127.0.0.1:%d", client)
	c.etcdPeerURL = fmt.Sprintf("http://127.0.0.1:%d", peer)
	return c.runEtcd()
}

// runEtcd starts etcd with its ports and data.
func (c *Cluster) runEtcd() (err error) {
	c.etcd, err = startProcess(c.opts.Bin, c.dir, "etcd",
		"-client", c.etcdURL,
		"-peer", c.etcdPeerURL,
		"-data-dir", c.etcdData(),
	)
	return err
}

func (c *Cluster) etcdData() string { return filepath.Join(c.dir, "etcd") }

// StartAPIServer starts the API server on the same port as before, and returns when /readyz answers
// with 200 (OK). [Start] calls it for the first start.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	if c.apiserver != nil && !c.apiserver.done {
		return errors.New("cluster: the API server is running")
	}
	var err error
	c.apiserver, err = startProcess(c.opts.Bin, c.dir, "kube-apiserver", c.apiserverFlags()...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.opts.ReadyTimeout, errors.New("kube-apiserver is not ready in time"))
	defer cancel()
	ready := func() error { return c.do(ctx, http.MethodGet, "/readyz", "", nil, nil) }
	return eventually(ctx, ready, c.apiserver.exited)
}

// KillAPIServer kills the API server like kill -9, and returns when it is gone. Its connections
// break; etcd keeps its data.
func (c *Cluster) KillAPIServer() error { return c.apiserver.kill() }

func (c *Cluster) apiserverFlags() []string {
	flags := []string{
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.port),
		"--etcd-servers=" + c.etcdURL,
		"--tls-cert-file=" + c.pki.certFile,
		"--tls-private-key-file=" + c.pki.keyFile,

		// The server needs an address to announce. Without this flag it would use the address of
		// the machine's network, which may not exist. No client uses the announced address.
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/24",

		"--token-auth-file=" + c.pki.tokensFile,
		"--client-ca-file=" + c.pki.clientCAFile,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.pki.accountKeyFile,
		"--service-account-signing-key-file=" + c.pki.accountKeyFile,

		// This plugin refuses pods in a namespace without a default service account. The
		// controller that makes these accounts doesn't run here.
		"--disable-admission-plugins=ServiceAccount",

		// Otherwise the server would compact etcd every five minutes. Only tests may compact it.
		"--etcd-compaction-interval=0",
	}
	if len(c.opts.Uncached) > 0 {
		flags = append(flags, "--watch-cache-sizes="+strings.Join(c.opts.Uncached, "#0,")+"#0")
	}
	return append(flags, c.opts.Flags...)
}

// Compact makes etcd drop all history before its current revision. It returns this revision, which
// is the oldest resourceVersion that etcd can still serve.
func (c *Cluster) Compact(ctx context.Context) (resourceVersion string, err error) {
	var now struct {
		Header struct{ Revision string }
	}
	if err := c.etcdCall(ctx, "/v3/kv/range", `{"key": "AA=="}`, &now); err != nil {
		return "", err
	}
	revision := now.Header.Revision
	return revision, c.etcdCall(ctx, "/v3/kv/compaction", fmt.Sprintf(`{"revision": %q, "physical": true}`, revision), nil)
}

// etcdCall posts to etcd's JSON gateway, which requires no client library.
func (c *Cluster) etcdCall(ctx context.Context, path, body string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.etcdURL+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := c.admin.Do(req)
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd: %s: %s", path, resp.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
