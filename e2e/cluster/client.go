package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/types"
)

// object is a Kubernetes object as JSON has it.
type object = map[string]any

// newClient returns a client that trusts the server. It speaks HTTP/1.1, so that
// parallel requests are parallel connections.
func (c *Cluster) newClient() *http.Client {
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(c.pki.certPEM)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: trusted},
		MaxIdleConnsPerHost: seedWorkers,
	}}
}

// Create posts an object to the path of its collection, such as
// /api/v1/namespaces/e2e/configmaps.
func (c *Cluster) Create(ctx context.Context, path string, obj any) error {
	return c.do(ctx, http.MethodPost, path, "application/json", obj, nil)
}

// Patch applies a JSON merge patch to the object at path.
func (c *Cluster) Patch(ctx context.Context, path string, patch any) error {
	return c.do(ctx, http.MethodPatch, path, "application/merge-patch+json", patch, nil)
}

// Delete deletes the object at path, at once.
func (c *Cluster) Delete(ctx context.Context, path string) error {
	return c.do(ctx, http.MethodDelete, path+"?gracePeriodSeconds=0", "", nil, nil)
}

// Get returns what the server has at path, in JSON.
func (c *Cluster) Get(ctx context.Context, path string) (body json.RawMessage, err error) {
	err = c.do(ctx, http.MethodGet, path, "", nil, &body)
	return body, err
}

// List returns the keys of all objects in the collection at path, each with its
// resourceVersion, as etcd has them now.
func (c *Cluster) List(ctx context.Context, path string) (map[types.NamespacedName]string, error) {
	var list struct {
		Items []struct {
			Metadata struct{ Namespace, Name, ResourceVersion string }
		}
	}
	if err := c.do(ctx, http.MethodGet, path, "", nil, &list); err != nil {
		return nil, err
	}
	versions := make(map[types.NamespacedName]string, len(list.Items))
	for _, item := range list.Items {
		m := item.Metadata
		versions[types.NamespacedName{Namespace: m.Namespace, Name: m.Name}] = m.ResourceVersion
	}
	return versions, nil
}

// CloseIdle closes the connections that the cluster's own client keeps for
// later, so that a test can count what is left.
func (c *Cluster) CloseIdle() { c.admin.CloseIdleConnections() }

// do sends a request as the administrator and decodes the answer into into,
// unless that is nil. A status other than 2xx is an error with the server's
// words.
func (c *Cluster) do(ctx context.Context, method, path, contentType string, body, into any) error {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.URL()+path, bytes.NewReader(payload))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := c.admin.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body) // to the end, or the connection can't be used again
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %.500s", method, path, resp.Status, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}
