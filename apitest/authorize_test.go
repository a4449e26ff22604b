package apitest_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
)

func TestRulesAuthorizeRequests(t *testing.T) {
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

// A user with the verb update or patch, but not create, cannot create an object by a PUT or an
// apply.
func TestCreateByUpdateNeedsTheVerbCreate(t *testing.T) {
	t.Parallel()
	const leases = "/apis/coordination.k8s.io/v1/namespaces/a/leases"
	rule := func(user string, verbs ...string) apitest.Rule {
		return apitest.Rule{Users: []string{user}, PolicyRule: rbacv1.PolicyRule{Verbs: verbs, APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}}}
	}
	_, c := start(t, apitest.Options{
		Tokens: map[string]apitest.User{"a": {Name: "alice"}, "b": {Name: "bob"}},
		Rules:  []apitest.Rule{rule("alice", "update", "patch"), rule("bob", "update", "patch", "create")},
	})
	const lease = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"}}`
	for _, write := range [][]string{{"PUT", leases + "/l", jsonType}, {"PATCH", leases + "/l?fieldManager=m", applyPatch}} {
		headers := func(token string) []string {
			return []string{"Authorization", "Bearer " + token, "Content-Type", write[2]}
		}
		status := c.fails(t, http.StatusForbidden, write[0], write[1], lease, headers("a")...)
		require.Equal(t, `leases.coordination.k8s.io "l" is forbidden: User "alice" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "a"`, status.Message)
	}
	c.do(t, http.StatusCreated, "PUT", leases+"/l", lease, "Authorization", "Bearer b")
	c.do(t, http.StatusOK, "PUT", leases+"/l", lease, "Authorization", "Bearer a")
	c.do(t, http.StatusOK, "PATCH", leases+"/l?fieldManager=m", lease, "Authorization", "Bearer a", "Content-Type", applyPatch)
}

func TestEmptyRulesForbidAndNilRulesAllow(t *testing.T) {
	t.Parallel()
	_, none := start(t, apitest.Options{Rules: []apitest.Rule{}})
	none.fails(t, http.StatusForbidden, "GET", podsPath, "")
	_, all := start(t, apitest.Options{Tokens: map[string]apitest.User{"a": {Name: "alice"}}})
	all.do(t, http.StatusOK, "GET", podsPath, "", "Authorization", "Bearer a")
	all.fails(t, http.StatusUnauthorized, "GET", podsPath, "")
}

// TestRequestThatSelectsByNameIsAuthorizedForThatName: a rule with a resource name allows a watch
// that selects only that object.
func TestRequestThatSelectsByNameIsAuthorizedForThatName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c := startMemory(t, apitest.Options{
			Tokens: map[string]apitest.User{"b": {Name: "bob"}},
			Rules: []apitest.Rule{{Users: []string{"bob"}, PolicyRule: rbacv1.PolicyRule{
				Verbs: []string{"list", "watch", "deletecollection"}, APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"mine"},
			}}},
		})
		const secrets = "/api/v1/namespaces/a/secrets"
		bob := []string{"Authorization", "Bearer b"}
		c.do(t, http.StatusOK, "GET", secrets+"?fieldSelector=metadata.name%3Dmine", "", bob...)
		c.do(t, http.StatusOK, "GET", secrets+"?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dmine", "", bob...)
		c.do(t, http.StatusOK, "DELETE", secrets+"?fieldSelector=metadata.name%3Dmine", "", bob...)
		for _, selector := range []string{"", "?fieldSelector=metadata.name%3Dother", "?fieldSelector=metadata.name%21%3Dmine", "?fieldSelector=type%3Dx", "?fieldSelector=%3D%3D%3D"} {
			c.fails(t, http.StatusForbidden, "GET", secrets+selector, "", bob...)
		}
		require.Contains(t, c.fails(t, http.StatusForbidden, "GET", secrets+"?fieldSelector=metadata.name%3Dother", "", bob...).Message, `secrets "other" is forbidden`)
	})
}

func TestImpersonation(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{
		Tokens: map[string]apitest.User{"r": {Name: "root", Groups: []string{"system:masters"}}, "b": {Name: "bob"}},
		Rules: []apitest.Rule{{Users: []string{"bob"}, Namespaces: []string{"a"}, PolicyRule: rbacv1.PolicyRule{
			Verbs: []string{"impersonate"}, APIGroups: []string{""}, Resources: []string{"serviceaccounts"},
		}}, {Groups: []string{"system:unauthenticated"}, PolicyRule: rbacv1.PolicyRule{
			Verbs: []string{"create"}, APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"selfsubjectreviews"},
		}}},
	})
	const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	who := func(token string, headers ...string) authenticationv1.UserInfo {
		t.Helper()
		answer := c.do(t, http.StatusCreated, "POST", reviews, `{}`, append(headers, "Authorization", "Bearer "+token)...)
		return decode[authenticationv1.SelfSubjectReview](t, answer).Status.UserInfo
	}
	const account = "system:serviceaccount:a:robot"
	groups := []string{"system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"}
	require.Equal(t, authenticationv1.UserInfo{Username: account, Groups: groups}, who("b", "Impersonate-User", account))
	require.Equal(t, []string{"dev", "system:authenticated"}, who("r", "Impersonate-User", account, "Impersonate-Group", "dev").Groups)
	require.Equal(t, []string{"system:authenticated"}, who("r", "Impersonate-User", "system:serviceaccount:a:b:c").Groups, "a user name with too many colons must not count as a service account")
	require.Equal(t, []string{"system:unauthenticated"}, who("r", "Impersonate-User", "system:anonymous").Groups)
	require.Equal(t, []string{"system:unauthenticated"}, who("r", "Impersonate-User", "eve", "Impersonate-Group", "system:unauthenticated").Groups)
	require.Equal(t, authenticationv1.UserInfo{
		Username: "eve", UID: "7", Groups: []string{"system:authenticated"}, Extra: map[string]authenticationv1.ExtraValue{"example.com/scope": {"all"}},
	}, who("r", "Impersonate-User", "eve", "Impersonate-Uid", "7", "Impersonate-Extra-Example.com%2fscope", "all"))

	for _, refused := range [][]string{
		{"Impersonate-User", "eve"}, {"Impersonate-User", "system:serviceaccount:b:robot"},
		{"Impersonate-User", account, "Impersonate-Uid", "7"}, {"Impersonate-User", account, "Impersonate-Extra-Scope", "all"},
		{"Impersonate-User", account, "Impersonate-Group", "dev"},
	} {
		c.fails(t, http.StatusForbidden, "POST", reviews, `{}`, append(refused, "Authorization", "Bearer b")...)
	}
	for _, nobody := range []string{"Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-Scope"} {
		status := c.fails(t, http.StatusBadRequest, "POST", reviews, `{}`, nobody, "x", "Authorization", "Bearer r")
		require.Contains(t, status.Message, "without")
	}
}

func TestUnknownTokenIsNotAnonymous(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{Rules: []apitest.Rule{}})
	c.fails(t, http.StatusUnauthorized, "GET", podsPath, "", "Authorization", "Bearer expired")
	c.fails(t, http.StatusForbidden, "GET", podsPath, "")
	c.do(t, http.StatusOK, "GET", "/healthz", "", "Authorization", "Bearer expired")
}
