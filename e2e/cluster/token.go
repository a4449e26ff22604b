package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	serviceAccount   = "kinform"
	serviceAccountAt = "/api/v1/namespaces/" + Namespace + "/serviceaccounts"
	secretsAt        = "/api/v1/namespaces/" + Namespace + "/secrets"
)

// TokenFile is the path of a file with the token of a service account with all permissions.
// [Cluster.RotateToken] replaces the token.
func (c *Cluster) TokenFile() string { return filepath.Join(c.dir, "token") }

func (c *Cluster) createServiceAccount(ctx context.Context) error {
	if err := c.Create(ctx, serviceAccountAt, object{"metadata": object{"name": serviceAccount}}); err != nil {
		return err
	}
	if err := c.Create(ctx, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", object{
		"metadata": object{"name": serviceAccount},
		"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
		"subjects": []object{{"kind": "ServiceAccount", "namespace": Namespace, "name": serviceAccount}},
	}); err != nil {
		return err
	}
	_, err := c.RotateToken(ctx)
	return err
}

// RotateToken replaces the token in [Cluster.TokenFile] by renaming, like a kubelet, and makes the
// server refuse the old token with 401. It returns when the server refuses the old token. This
// takes up to ten seconds, because the server caches valid tokens for that long. Requests in
// progress, such as an open watch, continue.
func (c *Cluster) RotateToken(ctx context.Context) (old string, err error) {
	before, err := os.ReadFile(c.TokenFile())
	if err != nil && !os.IsNotExist(err) {
		return "", err
	}
	old = strings.TrimSpace(string(before))
	// A token that is bound to a secret is valid while the secret exists.
	secretBefore := c.tokenSecret
	c.tokenSecret = fmt.Sprintf("token-%d", c.tokens)
	c.tokens++
	token, err := c.requestToken(ctx, c.tokenSecret)
	if err != nil {
		return "", err
	}
	if err := replace(c.TokenFile(), []byte(token+"\n")); err != nil {
		return "", err
	}
	if secretBefore == "" {
		return "", nil
	}
	if err := c.Delete(ctx, secretsAt+"/"+secretBefore); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return old, eventually(ctx, func() error { return c.requireUnauthorized(ctx, old) }, nil)
}

// requestToken makes a secret and a token that is bound to it.
func (c *Cluster) requestToken(ctx context.Context, secret string) (string, error) {
	var created struct {
		Metadata struct{ UID string }
	}
	body := object{"metadata": object{"name": secret}}
	if err := c.do(ctx, http.MethodPost, secretsAt, "application/json", body, &created); err != nil {
		return "", err
	}
	var response struct {
		Status struct{ Token string }
	}
	err := c.do(ctx, http.MethodPost, serviceAccountAt+"/"+serviceAccount+"/token", "application/json", object{
		"apiVersion": "authentication.k8s.io/v1",
		"kind":       "TokenRequest",
		"spec": object{
			"boundObjectRef": object{"apiVersion": "v1", "kind": "Secret", "name": secret, "uid": created.Metadata.UID},
		},
	}, &response)
	return response.Status.Token, err
}

// requireUnauthorized returns nil if the server refuses the token with 401.
func (c *Cluster) requireUnauthorized(ctx context.Context, token string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL()+serviceAccountAt, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := c.admin.Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		return fmt.Errorf("the server still responds with %s to the old token", resp.Status)
	}
	return nil
}
