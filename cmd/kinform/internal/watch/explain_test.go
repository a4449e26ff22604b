package watch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
)

// fails runs "kinform watch". The command must fail with one short line, long before the
// --connect-timeout that start sets.
func fails(t *testing.T, args ...string) string {
	t.Helper()
	began := time.Now()
	w := start(t, args...)
	err := w.wait()
	require.Error(t, err)
	require.Less(t, time.Since(began), 40*time.Second)
	require.NotContains(t, err.Error(), "\n")
	require.Less(t, len(err.Error()), 300, err.Error())
	require.Empty(t, w.out.String())
	require.Empty(t, w.errOut.String(), "the command must leave the line to main")
	return err.Error()
}

func TestErrorsOfTheCluster(t *testing.T) {
	t.Parallel()
	// This listener accepts no connection, so no response comes.
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { nobody.Close() })
	left, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, left.Close())
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "<html>Sign in</html>")
	}))
	t.Cleanup(proxy.Close)
	secured := apitest.Start(t, apitest.Options{TLS: true, ClientCertificates: true})
	stranger := certified(secured)
	stranger.TLS.CAData = nil
	anonymous := certified(secured)
	anonymous.TLS.CertData, anonymous.TLS.KeyData = nil, rest.Secret{}
	guarded := apitest.Start(t, apitest.Options{BearerToken: "right"})

	for _, tt := range []struct {
		name   string
		config rest.Config
		want   []string
	}{
		{"nothing listens", rest.Config{Host: "http://" + left.Addr().String()},
			[]string{"the cluster at http://" + left.Addr().String() + " cannot be reached, nothing listens there: is it running", "connection refused"}},
		{"no answer", rest.Config{Host: "http://" + nobody.Addr().String()},
			[]string{"cannot be reached, it does not answer: check your network", "no response within --connect-timeout"}},
		{"unknown authority", stranger,
			[]string{" shows a certificate that your kubeconfig does not trust: check its server and certificate-authority: ", "unknown authority"}},
		{"client certificate missing", anonymous, []string{secured.URL()}},
		{"wrong token", rest.Config{Host: guarded.URL(), BearerToken: rest.NewSecret("wrong-token")},
			[]string{guarded.URL() + " does not accept your credentials: log in again, or check the user in your kubeconfig: ", "Unauthorized"}},
		{"the page of a proxy", rest.Config{Host: proxy.URL},
			[]string{proxy.URL + " does not answer as an API server does: check the server in your kubeconfig, and proxies on the way: malformed"}},
		{"no TLS", rest.Config{Host: strings.Replace(proxy.URL, "http", "https", 1)},
			[]string{" does not answer as an API server does: ", "TLS handshake"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"pods", "--kubeconfig", save(t, tt.config)}
			if tt.name == "no answer" {
				args = append(args, "--connect-timeout", "500ms")
			}
			got := fails(t, args...)
			for _, want := range tt.want {
				require.Contains(t, got, want)
			}
			require.Equal(t, 1, strings.Count(got, "://"), "the line must have the address only once: %s", got)
			require.NotContains(t, got, "wrong-token")
		})
	}
}

func TestErrorsOfTheResource(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	config := connect(t, s)
	onList := func(resource string, action apitest.Action) {
		s.Inject(apitest.Fault{Verb: "list", Resource: resource, Action: action})
	}
	onList("secrets", apitest.Fail(apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", errors.New("no role"))))
	onList("configmaps", apitest.Code(http.StatusServiceUnavailable, 0))
	onList("services", apitest.HTML())
	onList("nodes", apitest.Fail(apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, "")))
	onList("events", apitest.Drop())

	for want, args := range map[string][]string{
		`the server has no resource "podz": did you mean pods or nodes?`:                                                              {"podz"},
		`the server has no resource "gizmos.example.com": kubectl api-resources lists all resources`:                                  {"gizmos.example.com"},
		"you may not list and watch secrets in namespace x at " + s.URL() + ": ask for a role with these verbs, or try another":       {"secrets", "-n", "x"},
		s.URL() + " cannot answer now: try again later, or look into the logs of its API server: the server is currently":             {"cm"},
		s.URL() + " does not answer as an API server does: ":                                                                          {"svc"},
		s.URL() + " has no resource nodes any more: kubectl api-resources lists all resources: ":                                      {"nodes"},
		"cannot watch events in namespace home at " + s.URL():                                                                         {"events"},
		s.URL() + " refuses to list pods in namespace home that match: check your selectors: field label not supported: spec.unknown": {"pods", "--field-selector", "spec.unknown=1"},
	} {
		require.Contains(t, fails(t, append(args, "--kubeconfig", config)...), want)
	}
}

func TestForbiddenDiscoveryIsExplained(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	s.Inject(apitest.Fault{
		Match:  func(r apitest.Request) bool { return strings.HasPrefix(r.HTTP.URL.Path, "/api") },
		Action: apitest.Fail(apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no role"))),
	})
	got := fails(t, "pods", "--kubeconfig", connect(t, s))
	require.Contains(t, got, s.URL()+` does not let you list its resources, so the resource "pods" is unknown: `)
	require.NotContains(t, got, "list and watch", "the line must not name permissions of a request that was not sent")
}

func TestResourceWithoutWatches(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	const document = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{},"versions":[{"version":"v1","freshness":"Current","resources":[
		{"resource":"componentstatuses","responseKind":{"group":"","version":"v1","kind":"ComponentStatus"},"scope":"Cluster","singularResource":"componentstatus","verbs":["get","list"]}]}]}]}`
	s.Inject(apitest.Fault{
		Match:  func(r apitest.Request) bool { return r.HTTP.URL.Path == "/api" },
		Action: apitest.Body(200, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", document),
	})
	require.Equal(t, "componentstatuses cannot be watched: the server allows only get, list",
		fails(t, "componentstatus", "--kubeconfig", connect(t, s)))
}

// If discovery fails for a part of the API, this matters only if the resource may be in that part.
func TestIncompleteDiscovery(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	put(t, s, pod("home", "a"))
	s.Inject(apitest.Fault{
		Match:  func(r apitest.Request) bool { return r.HTTP.URL.Path == "/apis" },
		Action: apitest.Code(http.StatusServiceUnavailable, 0),
	})
	w := start(t, "pods", "--kubeconfig", connect(t, s))
	w.next()
	require.Contains(t, w.next(), " a ")
	require.NoError(t, w.stop())
	got := fails(t, "gadgets.example.com", "--kubeconfig", connect(t, s))
	require.Contains(t, got, `the server has no resource "gadgets.example.com"`)
	require.Contains(t, got, "API discovery is incomplete: /apis: ")
}

func TestCtrlCBeforeTheClusterResponds(t *testing.T) {
	t.Parallel()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer nobody.Close()
	w := start(t, "pods", "--kubeconfig", save(t, rest.Config{Host: "http://" + nobody.Addr().String()}))
	require.ErrorContains(t, w.stop(), "context canceled")
}

// A test on loopback cannot cause these errors.
func TestExplanationsOfNetworkErrors(t *testing.T) {
	t.Parallel()
	dial := func(err error) error {
		failed := &rest.Error{Method: "GET", URL: "https://h/api", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}}
		return &discovery.Error{Failures: []discovery.Failure{{Path: "/api", Err: failed}, {Path: "/apis", Err: failed}}}
	}
	for want, err := range map[string]error{
		"the cluster at https://h cannot be reached, its name is unknown: check the server in your kubeconfig: dial tcp: lookup h: no such host":                    dial(&net.DNSError{Err: "no such host", Name: "h"}),
		"the cluster at https://h cannot be reached: check your network and the server in your kubeconfig: dial tcp: no route to host":                              dial(syscall.EHOSTUNREACH),
		"the cluster at https://h cannot be reached, it does not answer: check your network and the server in your kubeconfig: dial tcp: context deadline exceeded": dial(context.DeadlineExceeded),
		"https://h does not accept your credentials: log in again, or check the user in your kubeconfig: remote error: tls: certificate required":                   &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")},
		"cannot watch pods at https://h: the server has neither /api nor /apis: is this the address of an API server?":                                              &discovery.Error{Failures: []discovery.Failure{{Path: "/api", Err: errors.New("the server has neither /api nor /apis: is this the address of an API server?")}}},
	} {
		require.EqualError(t, explain(err, "https://h", "pods"), want)
	}
	require.NoError(t, explain(nil, "https://h", "pods"))
}

func TestFailuresAreOneLineWithoutTheRequest(t *testing.T) {
	t.Parallel()
	var out buffer
	request := &rest.Error{Method: "GET", URL: "https://h/api/v1/pods?watch=true", Err: errors.New("cut off")}
	printFailure(&out, reflector.Error{Phase: reflector.Watching, Err: request, Failures: 1, RetryIn: 1234567 * time.Microsecond})
	printFailure(&out, reflector.Error{Phase: reflector.Listing, Err: &listwatch.ObjectError{Key: types.NamespacedName{Namespace: "a", Name: "b"}, Err: request}})
	require.Equal(t, "kinform: watching failed, next attempt in 1.235s: cut off\nkinform: listing failed: object a/b could not be read: cut off\n", out.String())
	require.ErrorContains(t, request, "https://", "printFailure must not change the error")
}
