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

// Describe asks the server who it is and who we are, and returns what makes the objects
// of r those that they are: "server" is the address, "cluster" the UID of the namespace
// kube-system, "user" a hash of the name and UID under which the server knows us,
// "resource" group, version and resource, and "namespace", "labelSelector",
// "fieldSelector" and "projection" are the choices of [ResourceOptions]. What is not
// set is "". There are no secrets in it.
//
// "cluster" is "" where we may not read that namespace (403), or there is none, and
// "user" where the server does not tell (SelfSubjectReview, in Kubernetes since 1.28).
// Any other failure, such as credentials that the server refuses (401), is an error.
// Package informer/warmstart keeps all of it beside objects, so that they are
// used for nothing else.
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

// describe is what Describe says of server and user.
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

// ask decodes an answer into out, which stays as it is where the server does not have
// it, or does not let us have it.
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

// statusCode is the code of the answer that was an error, or 0.
func statusCode(err error) int {
	if failed, ok := errors.AsType[*Error](err); ok {
		return failed.StatusCode
	}
	return 0
}
