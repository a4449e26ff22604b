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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// metadataOnly is the media type of a list without specs and statuses.
const metadataOnly = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// object is a decoded JSON object of Kubernetes.
type object = map[string]any

// newClient returns a client that trusts the server. It uses HTTP/1.1, so that parallel requests
// use parallel connections.
func (c *Cluster) newClient() *http.Client {
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(c.pki.caPEM)
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

// Delete deletes the object at path immediately.
func (c *Cluster) Delete(ctx context.Context, path string) error {
	return c.do(ctx, http.MethodDelete, path+"?gracePeriodSeconds=0", "", nil, nil)
}

// Get returns the server's object at path, in JSON.
func (c *Cluster) Get(ctx context.Context, path string) ([]byte, error) {
	return c.send(ctx, http.MethodGet, path, http.Header{}, nil)
}

// List returns the keys of all objects in the collection at path, each with its resourceVersion, by
// a quorum read. It requests only metadata, in protobuf, because tests list often.
func (c *Cluster) List(ctx context.Context, path string) (map[types.NamespacedName]string, error) {
	body, err := c.send(ctx, http.MethodGet, path, http.Header{"Accept": {metadataOnly}}, nil)
	if err != nil {
		return nil, err
	}
	var (
		envelope runtime.Unknown
		list     metav1.PartialObjectMetadataList
	)
	raw, ok := bytes.CutPrefix(body, []byte("k8s\x00"))
	if !ok {
		return nil, fmt.Errorf("list %s: the response is not protobuf", path)
	}
	if err := envelope.Unmarshal(raw); err != nil {
		return nil, fmt.Errorf("list %s: %w", path, err)
	}
	if err := list.Unmarshal(envelope.Raw); err != nil {
		return nil, fmt.Errorf("list %s: %w", path, err)
	}
	versions := make(map[types.NamespacedName]string, len(list.Items))
	for _, item := range list.Items {
		versions[types.NamespacedName{Namespace: item.Namespace, Name: item.Name}] = item.ResourceVersion
	}
	return versions, nil
}

// CloseIdle closes the idle connections of the cluster's own client, so that a test can count the
// connections of other clients.
func (c *Cluster) CloseIdle() { c.admin.CloseIdleConnections() }

// do sends an object as the administrator. It decodes the response into into, unless into is nil.
func (c *Cluster) do(ctx context.Context, method, path, contentType string, obj, into any) error {
	var payload []byte
	header := http.Header{}
	if obj != nil {
		var err error
		if payload, err = json.Marshal(obj); err != nil {
			return err
		}
		header.Set("Content-Type", contentType)
	}
	response, err := c.send(ctx, method, path, header, payload)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(response, into)
}

// send sends a request as the administrator and returns the body of the response. A status other
// than 2xx is an error with the server's message.
func (c *Cluster) send(ctx context.Context, method, path string, header http.Header, payload []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.URL()+path, bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	req.Header = header
	req.Header.Set("Authorization", "Bearer "+adminToken)
	resp, err := c.admin.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body) // read to the end, so that the connection can be reused
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s: %.500s", method, path, resp.Status, data)
	}
	return data, nil
}
