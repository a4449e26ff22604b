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

// Describe returns the identity of the source r, on which its objects depend. Package
// informer/warmstart stores the identity beside the objects, and does not use them for any other
// source.
//
//   - "server" is the address.
//   - "cluster" is the UID of the namespace kube-system. It is "" if the client may not read this
//     namespace (403), or if it does not exist.
//   - "user" is a hash of the name and the UID that the server has for the client's user. It is ""
//     if the server does not answer a SelfSubjectReview, which exists since Kubernetes 1.28.
//   - "resource" is group, version and resource.
//   - "namespace", "labelSelector", "fieldSelector" and "projection" are the values of
//     [ResourceOptions], or "" if not set.
//
// The description has no secrets. Describe asks the server for cluster and user. Except in the
// cases above, a failure, such as refused credentials (401), is an error.
func (r *Resource[T]) Describe(ctx context.Context) (map[string]string, error) {
	about, err := r.client.describe(ctx)
	if err != nil {
		return nil, err
	}
	about["resource"] = strings.Join([]string{r.gvr.Group, r.gvr.Version, r.gvr.Resource}, "/")
	about["namespace"] = r.opts.Namespace
	about["labelSelector"], about["fieldSelector"] = r.opts.LabelSelector, r.opts.FieldSelector
	about["projection"] = ""
	if r.opts.Project != nil {
		about["projection"] = fmt.Sprintf("%T%+v", r.opts.Project, r.opts.Project)
	}
	return about, nil
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
	if err := c.ask(ctx, http.MethodGet, "/api/v1/namespaces/kube-system", "", &system); err != nil {
		return nil, err
	}
	const ask = `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`
	if err := c.ask(ctx, http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", ask, &review); err != nil {
		return nil, err
	}
	about := map[string]string{"server": strings.TrimSuffix(c.base.String(), "/"), "cluster": system.Metadata.UID, "user": ""}
	if user := review.Status.UserInfo; user.Username != "" {
		sum := sha256.Sum256([]byte(user.Username + "\x00" + user.UID))
		about["user"] = hex.EncodeToString(sum[:])
	}
	return about, nil
}

// ask requests path and decodes the response into out. If the resource does not exist (404), or the
// request is forbidden (403), out stays unchanged, and the error is nil.
func (c *Client) ask(ctx context.Context, method, path, body string, out any) error {
	var opts RawOptions
	if body != "" {
		opts.Body = []byte(body)
	}
	answer, err := c.Raw(ctx, method, path, opts)
	switch code := statusCode(err); {
	case code == http.StatusForbidden, code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		return nil
	case err != nil:
		return err
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(answer, out); err != nil {
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
