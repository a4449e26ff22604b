package apitest_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/apitest"
)

// The tests TestParity... in e2e compare these responses with the real server's.

func TestBindingAssignsAPodOnce(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"name":"p"}}`)
	binding := `{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`
	c.do(t, http.StatusCreated, "POST", podsPath+"/p/binding?dryRun=All", binding)
	require.Empty(t, get[corev1.Pod](t, c, podsPath+"/p").Spec.NodeName)
	c.do(t, http.StatusCreated, "POST", podsPath+"/p/binding", binding)
	bound := get[corev1.Pod](t, c, podsPath+"/p")
	require.Equal(t, "n", bound.Spec.NodeName)
	require.EqualValues(t, 1, bound.Generation, "a binding must not change the generation")
	require.Equal(t, corev1.PodScheduled, bound.Status.Conditions[0].Type)
	again := c.fails(t, http.StatusConflict, "POST", "/api/v1/namespaces/a/bindings", binding)
	require.Equal(t, `Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"`, again.Message)
	c.fails(t, http.StatusNotFound, "GET", "/api/v1/namespaces/a/bindings/p", "")
	c.fails(t, http.StatusMethodNotAllowed, "GET", "/api/v1/namespaces/a/bindings", "")
}

func TestSubresourcesSpeakProtobuf(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"name":"p"}}`)
	raw, err := (&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"}}).Marshal()
	require.NoError(t, err)
	body := string(protoBody(t, "policy/v1", "Eviction", raw))
	_, kind, _ := envelope(t, c.do(t, http.StatusCreated, "POST", podsPath+"/p/eviction", body, "Content-Type", protoType, "Accept", protoType))
	require.Equal(t, "Status", kind)
	c.fails(t, http.StatusNotFound, "GET", podsPath+"/p", "")

	c.do(t, http.StatusCreated, "POST", "/apis/apps/v1/namespaces/a/deployments", `{"metadata":{"name":"d"},"spec":{"replicas":2}}`)
	apiVersion, kind, _ := envelope(t, c.do(t, http.StatusOK, "GET", "/apis/apps/v1/namespaces/a/deployments/d/scale", "", "Accept", protoType))
	require.Equal(t, "autoscaling/v1 Scale", apiVersion+" "+kind)
}

func TestEvictionsRespectBudgets(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("a", "p", "app", "x"), pod("a", "q", "app", "x"))
	const budgets = "/apis/policy/v1/namespaces/a/poddisruptionbudgets"
	c.do(t, http.StatusCreated, "POST", budgets, `{"metadata":{"name":"b"},"spec":{"selector":{"matchLabels":{"app":"x"}}}}`)
	for _, name := range []string{"p", "q"} {
		c.do(t, http.StatusOK, "PATCH", podsPath+"/"+name+"/status", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, "Content-Type", mergePatch)
	}
	evict := func(code int, name string) []byte {
		return c.do(t, code, "POST", podsPath+"/"+name+"/eviction", `{"metadata":{"name":"`+name+`"}}`)
	}
	refused := decode[metav1.Status](t, evict(http.StatusTooManyRequests, "p"))
	require.EqualValues(t, 10, refused.Details.RetryAfterSeconds, "the client must wait until the controller has processed the budget")
	c.do(t, http.StatusOK, "PATCH", budgets+"/b/status", `{"status":{"observedGeneration":1,"disruptionsAllowed":1,"desiredHealthy":1,"currentHealthy":2}}`, "Content-Type", mergePatch)
	evict(http.StatusCreated, "p")
	refused = decode[metav1.Status](t, evict(http.StatusTooManyRequests, "q"))
	require.Equal(t, metav1.CauseType("DisruptionBudget"), refused.Details.Causes[0].Type)
	require.Contains(t, get[policyv1.PodDisruptionBudget](t, c, budgets+"/b").Status.DisruptedPods, "p")
	c.fails(t, http.StatusNotFound, "GET", podsPath+"/p", "")
	c.do(t, http.StatusOK, "GET", podsPath+"/q", "")
}

func TestTokensOfServiceAccounts(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{BearerToken: "admin", Rules: []apitest.Rule{{
		Users:      []string{"system:serviceaccount:a:reader"},
		Namespaces: []string{"a"},
		PolicyRule: rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}},
	}}})
	as := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	post := func(token, path, body string) []byte {
		return c.do(t, http.StatusCreated, "POST", path, body, as(token)...)
	}
	const accounts = "/api/v1/namespaces/a/serviceaccounts"
	post("admin", accounts, `{"metadata":{"name":"reader"}}`)
	post("admin", podsPath, `{"metadata":{"name":"p"}}`)
	post("admin", "/api/v1/namespaces/a/secrets", `{"metadata":{"name":"s"}}`)
	request := func(spec string) string {
		return decode[authenticationv1.TokenRequest](t, post("admin", accounts+"/reader/token", spec)).Status.Token
	}
	token := request(`{}`)
	c.do(t, http.StatusOK, "GET", podsPath+"/p", "", as(token)...)
	c.do(t, http.StatusForbidden, "DELETE", podsPath+"/p", "", as(token)...)
	c.do(t, http.StatusUnauthorized, "GET", podsPath+"/p", "", as(token+"x")...)
	c.do(t, http.StatusUnauthorized, "GET", podsPath+"/p", "", as(request(`{"spec":{"audiences":["elsewhere"]}}`))...)

	self := decode[authenticationv1.SelfSubjectReview](t, post(token, "/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`))
	require.Equal(t, "system:serviceaccount:a:reader", self.Status.UserInfo.Username)
	require.Contains(t, self.Status.UserInfo.Groups, "system:serviceaccounts:a")
	review := func(token string) authenticationv1.TokenReviewStatus {
		body, err := json.Marshal(authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}})
		require.NoError(t, err)
		return decode[authenticationv1.TokenReview](t, post("admin", "/apis/authentication.k8s.io/v1/tokenreviews", string(body))).Status
	}
	require.Equal(t, self.Status.UserInfo, review(token).User)
	require.True(t, review("admin").Authenticated)
	require.False(t, review("nobody's").Authenticated)
	bound := request(`{"spec":{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s"}}}`)
	require.True(t, review(bound).Authenticated)
	c.do(t, http.StatusOK, "DELETE", "/api/v1/namespaces/a/secrets/s", "", as("admin")...)
	require.False(t, review(bound).Authenticated, "a token must become invalid when its bound object is deleted")
	c.do(t, http.StatusOK, "DELETE", accounts+"/reader", "", as("admin")...)
	require.False(t, review(token).Authenticated)
}

func TestReviewsReportTheRules(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{
		Tokens: map[string]apitest.User{"t": {Name: "u"}, "root": {Name: "r", Groups: []string{"system:masters"}}},
		Rules: []apitest.Rule{{Users: []string{"u"}, Namespaces: []string{"a"}, PolicyRule: rbacv1.PolicyRule{
			Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}},
	})
	const authz = "/apis/authorization.k8s.io/v1/"
	allowed := func(token, resource, body string) bool {
		answer := c.do(t, http.StatusCreated, "POST", authz+resource, body, "Authorization", "Bearer "+token)
		return decode[authorizationv1.SubjectAccessReview](t, answer).Status.Allowed
	}
	require.True(t, allowed("t", "selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods","namespace":"a"}}}`))
	require.False(t, allowed("t", "selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods","namespace":"b"}}}`))
	require.True(t, allowed("t", "selfsubjectaccessreviews", `{"spec":{"nonResourceAttributes":{"verb":"get","path":"/version"}}}`))
	require.True(t, allowed("root", "subjectaccessreviews", `{"spec":{"user":"u","resourceAttributes":{"verb":"get","resource":"pods","namespace":"a"}}}`))
	require.False(t, allowed("root", "namespaces/a/localsubjectaccessreviews", `{"spec":{"user":"v","resourceAttributes":{"verb":"get","resource":"pods","namespace":"a"}}}`))
	c.fails(t, http.StatusForbidden, "POST", authz+"subjectaccessreviews", `{}`, "Authorization", "Bearer t")

	rules := decode[authorizationv1.SelfSubjectRulesReview](t, c.do(t, http.StatusCreated, "POST", authz+"selfsubjectrulesreviews", `{"spec":{"namespace":"a"}}`, "Authorization", "Bearer t"))
	require.Contains(t, rules.Status.ResourceRules, authorizationv1.ResourceRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}})
	require.NotEmpty(t, rules.Status.NonResourceRules)
	rules = decode[authorizationv1.SelfSubjectRulesReview](t, c.do(t, http.StatusCreated, "POST", authz+"selfsubjectrulesreviews", `{"spec":{"namespace":"b"}}`, "Authorization", "Bearer t"))
	require.NotContains(t, rules.Status.ResourceRules, authorizationv1.ResourceRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}})
}

func TestReviewsAreNotStored(t *testing.T) {
	t.Parallel()
	srv, _ := start(t, apitest.Options{})
	_, err := srv.Create(&corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}})
	require.Error(t, err)
	_, _, err = srv.List(corev1.SchemeGroupVersion.WithResource("bindings"), "a")
	require.Error(t, err)
}

// protoBody returns a protobuf body: an object in its envelope.
func protoBody(t *testing.T, apiVersion, kind string, raw []byte) []byte {
	t.Helper()
	body, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}).Marshal()
	require.NoError(t, err)
	return append([]byte("k8s\x00"), body...)
}
