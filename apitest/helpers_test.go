package apitest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
)

const (
	jsonType  = "application/json"
	protoType = "application/vnd.kubernetes.protobuf"
)

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// widgets is a custom resource.
var widgets = apitest.Resource{
	Group: "example.com", Version: "v1", Plural: "widgets", Kind: "Widget", ShortNames: []string{"wd"},
	Status: true, SelectableFields: []string{"spec.color"},
}

// client sends plain HTTP requests to a server.
type client struct {
	http *http.Client
	base string
}

// newClient returns a client of a listening server. When the test ends, the client is closed.
func newClient(t *testing.T, srv *apitest.Server) *client {
	transport := &http.Transport{}
	if srv.URL() == "http://apitest" {
		transport.DialContext = srv.DialContext
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{&http.Client{Transport: transport}, srv.URL()}
}

// start returns a server, and a client of it.
func start(t *testing.T, opts apitest.Options) (*apitest.Server, *client) {
	srv := apitest.Start(t, opts)
	return srv, newClient(t, srv)
}

// startMemory is like start, but the server listens in memory, for synctest bubbles.
func startMemory(t *testing.T, opts apitest.Options) (*apitest.Server, *client) {
	srv := apitest.New(opts)
	t.Cleanup(srv.Close)
	require.NoError(t, srv.ListenMemory())
	return srv, newClient(t, srv)
}

// send sends a request. The headers are pairs of name and value.
func (c *client) send(t *testing.T, method, path, body string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, c.base+path, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.http.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// do sends a request, requires the status code, and returns the body.
func (c *client) do(t *testing.T, code int, method, path, body string, headers ...string) []byte {
	t.Helper()
	resp := c.send(t, method, path, body, headers...)
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, code, resp.StatusCode, "%s %s: %s", method, path, data)
	return data
}

// get sends a GET request and decodes the JSON body.
func get[T any](t *testing.T, c *client, path string, headers ...string) T {
	t.Helper()
	return decode[T](t, c.do(t, http.StatusOK, http.MethodGet, path, "", headers...))
}

// fails sends a request, and requires a Status with this code.
func (c *client) fails(t *testing.T, code int, method, path, body string, headers ...string) metav1.Status {
	t.Helper()
	status := decode[metav1.Status](t, c.do(t, code, method, path, body, headers...))
	require.Equal(t, "Status", status.Kind)
	require.Equal(t, metav1.StatusFailure, status.Status)
	require.EqualValues(t, code, status.Code)
	return status
}

func decode[T any](t *testing.T, data []byte) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal(data, &v), "%s", data)
	return v
}

// envelope splits a protobuf body into its parts.
func envelope(t *testing.T, body []byte) (apiVersion, kind string, raw []byte) {
	t.Helper()
	data, ok := bytes.CutPrefix(body, []byte("k8s\x00"))
	require.True(t, ok, "%q must begin with the magic number", body)
	var u runtime.Unknown
	require.NoError(t, u.Unmarshal(data))
	return u.APIVersion, u.Kind, u.Raw
}

func pod(namespace, name string, labels ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}}}
	for i := 0; i < len(labels); i += 2 {
		p.Labels[labels[i]] = labels[i+1]
	}
	return p
}

func key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

func create(t *testing.T, srv *apitest.Server, objects ...apitest.Object) {
	t.Helper()
	for _, obj := range objects {
		_, err := srv.Create(obj)
		require.NoError(t, err)
	}
}

func names[T any, P interface {
	*T
	metav1.Object
}](items []T) []string {
	out := make([]string, len(items))
	for i := range items {
		out[i] = P(&items[i]).GetNamespace() + "/" + P(&items[i]).GetName()
	}
	return out
}
