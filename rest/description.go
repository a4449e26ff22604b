package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/rest/internal/wire"
)

// Describe returns the identity of r as a source: the server, the user and the selection on which
// its objects depend. Package informer/warmstart stores the identity beside the objects, and does
// not use the objects for any other source.
//
//   - "server" is the address.
//   - "cluster" is the UID of the namespace kube-system. It is "" if the client may not read this
//     namespace (403), or if it does not exist.
//   - "user" is a hash of the name and the UID that the server has for the client's user. It is ""
//     if the server does not support SelfSubjectReview, which exists since Kubernetes 1.28.
//   - "resource" is group, version and resource.
//   - "namespace", "labelSelector", "fieldSelector" and "projection" are the values of
//     [ResourceOptions], or "" if not set.
//
// The description has no secrets. Describe requests cluster and user from the server. Except in the
// cases above, a failure, such as refused credentials (401), is an error.
func (r *Resource[T]) Describe(ctx context.Context) (map[string]string, error) {
	description, err := r.client.describe(ctx)
	if err != nil {
		return nil, err
	}
	description["resource"] = strings.Join([]string{r.gvr.Group, r.gvr.Version, r.gvr.Resource}, "/")
	description["namespace"] = r.opts.Namespace
	description["labelSelector"], description["fieldSelector"] = r.opts.LabelSelector, r.opts.FieldSelector
	description["projection"] = ""
	if r.opts.Project != nil {
		description["projection"] = fmt.Sprintf("%T%+v", r.opts.Project, r.opts.Project)
	}
	return description, nil
}

// describe returns the part of Describe that is about server, cluster and user.
func (c *Client) describe(ctx context.Context) (map[string]string, error) {
	var system, review struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
		Status struct {
			UserInfo struct {
				Username string `json:"username"`
				UID      string `json:"uid"`
			} `json:"userInfo"`
		} `json:"status"`
	}
	if err := c.getOptional(ctx, http.MethodGet, "/api/v1/namespaces/kube-system", "", &system); err != nil {
		return nil, err
	}
	const reviewBody = `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`
	if err := c.getOptional(ctx, http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", reviewBody, &review); err != nil {
		return nil, err
	}
	description := map[string]string{"server": strings.TrimSuffix(c.base.String(), "/"), "cluster": system.Metadata.UID, "user": ""}
	if user := review.Status.UserInfo; user.Username != "" {
		sum := sha256.Sum256([]byte(user.Username + "\x00" + user.UID))
		description["user"] = hex.EncodeToString(sum[:])
	}
	return description, nil
}

// getOptional requests path and decodes the response into the argument out. If the resource does
// not exist (404), or the request is forbidden (403), the argument stays unchanged, and the error
// is nil.
func (c *Client) getOptional(ctx context.Context, method, path, body string, out any) error {
	var opts RawOptions
	if body != "" {
		opts.Body = []byte(body)
	}
	data, err := c.Raw(ctx, method, path, opts)
	switch code := statusCode(err); {
	case code == http.StatusForbidden, code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		return nil
	case err != nil:
		return err
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, out); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, wire.Malformed("%w", err))
	}
	return nil
}

// statusCode returns the code of the response that err is about, or 0.
func statusCode(err error) int {
	if failed, ok := errors.AsType[*Error](err); ok {
		return failed.StatusCode
	}
	return 0
}
