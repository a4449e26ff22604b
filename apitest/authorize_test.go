package apitest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
)

func TestRulesSayWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{
		BearerToken: "master",
		Tokens: map[string]apitest.User{
			"a": {Name: "alice", Groups: []string{"dev"}},
			"b": {Name: "bob"},
			"r": {Name: "root", Groups: []string{"system:masters"}},
		},
		Rules: []apitest.Rule{
			{Groups: []string{"dev"}, Namespaces: []string{"a"}, PolicyRule: rbacv1.PolicyRule{Verbs: []string{"get", "list", "create"}, APIGroups: []string{""}, Resources: []string{"pods", "pods/status"}}},
			{Users: []string{"bob"}, PolicyRule: rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"secrets"}, ResourceNames: []string{"mine"}}},
			{Users: []string{"bob"}, PolicyRule: rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/metrics*"}}},
			{Users: []string{"bob"}, PolicyRule: rbacv1.PolicyRule{Verbs: []string{"impersonate"}, APIGroups: []string{""}, Resources: []string{"users"}, ResourceNames: []string{"alice"}}},
			{Users: []string{"bob"}, PolicyRule: rbacv1.PolicyRule{Verbs: []string{"impersonate"}, APIGroups: []string{""}, Resources: []string{"groups"}}},
		},
	})
	as := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	forbidden := func(message, method, path, token string, more ...string) {
		t.Helper()
		headers := more
		if token != "" {
			headers = append(headers, as(token)...)
		}
		status := c.fails(t, http.StatusForbidden, method, path, "", headers...)
		require.Equal(t, message, status.Message)
		require.Equal(t, metav1.StatusReasonForbidden, status.Reason)
	}
	c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"name":"p"}}`, as("a")...)
	c.do(t, http.StatusOK, "GET", podsPath+"/p", "", as("a")...)
	c.do(t, http.StatusOK, "GET", podsPath+"/p/status", "", as("a")...)
	for _, token := range []string{"master", "r"} {
		c.do(t, http.StatusOK, "GET", "/api/v1/nodes", "", as(token)...)
	}
	for _, path := range []string{"/api", "/apis", "/apis/apps/v1", "/version", "/openapi/v3", "/healthz"} {
		c.do(t, http.StatusOK, "GET", path, "", as("a")...)
	}
	c.do(t, http.StatusNotFound, "GET", "/metrics", "", as("b")...)
	c.do(t, http.StatusNotFound, "GET", "/api/v1/namespaces/x/secrets/mine", "", as("b")...)
	c.do(t, http.StatusOK, "GET", "/version", "")

	forbidden(`pods "p" is forbidden: User "alice" cannot delete resource "pods" in API group "" in the namespace "a"`, "DELETE", podsPath+"/p", "a")
	forbidden(`pods is forbidden: User "alice" cannot list resource "pods" in API group "" at the cluster scope`, "GET", "/api/v1/pods", "a")
	forbidden(`pods is forbidden: User "alice" cannot watch resource "pods" in API group "" in the namespace "a"`, "GET", podsPath+"?watch=1", "a")
	forbidden(`pods "p" is forbidden: User "alice" cannot create resource "pods/eviction" in API group "" in the namespace "a"`, "POST", podsPath+"/p/eviction", "a")
	forbidden(`deployments.apps is forbidden: User "alice" cannot list resource "deployments" in API group "apps" in the namespace "b"`, "GET", "/apis/apps/v1/namespaces/b/deployments", "a")
	forbidden(`namespaces "x" is forbidden: User "alice" cannot get resource "namespaces" in API group "" in the namespace "x"`, "GET", "/api/v1/namespaces/x", "a")
	forbidden(`secrets is forbidden: User "bob" cannot list resource "secrets" in API group "" at the cluster scope`, "GET", "/api/v1/secrets", "b")
	forbidden(`forbidden: User "alice" cannot get path "/metrics"`, "GET", "/metrics", "a")
	forbidden(`pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "a"`, "GET", podsPath, "")
	c.fails(t, http.StatusUnauthorized, "GET", podsPath, "", as("nobody")...)

	c.do(t, http.StatusOK, "GET", podsPath+"/p", "", append(as("b"), "Impersonate-User", "alice", "Impersonate-Group", "dev")...)
	forbidden(`users "eve" is forbidden: User "bob" cannot impersonate resource "users" in API group "" at the cluster scope`, "GET", podsPath, "b", "Impersonate-User", "eve")
	srv.SetBearerToken("other")
	c.fails(t, http.StatusUnauthorized, "GET", podsPath, "", as("master")...)
}

func TestNoRuleAllowsNothingAndNoRulesEverything(t *testing.T) {
	t.Parallel()
	_, none := start(t, apitest.Options{Rules: []apitest.Rule{}})
	none.fails(t, http.StatusForbidden, "GET", podsPath, "")
	_, all := start(t, apitest.Options{Tokens: map[string]apitest.User{"a": {Name: "alice"}}})
	all.do(t, http.StatusOK, "GET", podsPath, "", "Authorization", "Bearer a")
	all.fails(t, http.StatusUnauthorized, "GET", podsPath, "")
}
