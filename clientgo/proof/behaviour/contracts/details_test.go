package contracts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/openapi"
	openapicached "k8s.io/client-go/openapi/cached"
	"k8s.io/client-go/openapi/openapitest"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/transport"
	"k8s.io/client-go/util/jsonpath"
	"k8s.io/klog/v2"
)

// lineLogger returns a logger that appends its lines to a slice, with options of package funcr.
func lineLogger(to *[]string, options funcr.Options) logr.Logger {
	return funcr.New(func(prefix, args string) { *to = append(*to, strings.TrimSpace(prefix+" "+args)) }, options)
}

// staticResponse is a round tripper with the same response body for every request.
type staticResponse string

func (a staticResponse) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader(string(a))),
		Header: http.Header{"Content-Type": {"application/json"}, "Warning": {"a", "b"}},
	}, nil
}

// {..} finds maps, slices and strings at any depth, but no numbers.
func TestRecursiveDescentFindsNestedValues(t *testing.T) {
	path := jsonpath.New("p")
	require.NoError(t, path.Parse("{..}"))
	results, err := path.FindResults(map[string]any{"a": []any{1, "s", map[string]any{"b": 2.5, "c": true}}})
	require.NoError(t, err)
	var kinds []string
	for _, v := range results[0] {
		kinds = append(kinds, reflect.ValueOf(v.Interface()).Kind().String())
	}
	require.Equal(t, []string{"map", "slice", "string", "map"}, kinds)
}

// After its context has ended, a pager still passes on the rest of the page.
func TestAPagerFinishesAPageAfterItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := pager.New(func(ctx context.Context, _ metav1.ListOptions) (kruntime.Object, error) {
		return &corev1.PodList{ListMeta: metav1.ListMeta{Continue: "more"}, Items: []corev1.Pod{*pod("a", "1"), *pod("b", "1")}}, ctx.Err()
	})
	var got []string
	err := p.EachListItem(ctx, metav1.ListOptions{}, func(obj kruntime.Object) error {
		got = append(got, obj.(*corev1.Pod).Name)
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"a", "b"}, got)
}

func TestEmbeddedOpenAPIDocumentsHavePaths(t *testing.T) {
	paths, err := openapitest.NewEmbeddedFileClient().Paths()
	require.NoError(t, err)
	data, err := paths["apis/apps/v1"].Schema("application/json")
	require.NoError(t, err)
	var document struct{ Paths map[string]any }
	require.NoError(t, json.Unmarshal(data, &document))
	require.Contains(t, document.Paths, "/apis/apps/v1/namespaces/{namespace}/deployments")
}

// noPaths is a server without OpenAPI documents.
type noPaths struct{ openapi.Client }

func (noPaths) Paths() (map[string]openapi.GroupVersion, error) {
	return map[string]openapi.GroupVersion{"api/v1": nil}, nil
}

func TestACachedOpenAPIClientReturnsTheSameMap(t *testing.T) {
	client := openapi.ToClientWithContext(openapicached.NewClient(noPaths{}))
	first, err := client.PathsWithContext(t.Context())
	require.NoError(t, err)
	second, err := client.PathsWithContext(t.Context())
	require.NoError(t, err)
	require.Equal(t, reflect.ValueOf(first).Pointer(), reflect.ValueOf(second).Pointer())
}

// Log lines about bodies have the source position of the program's call.
func TestBodyLogLinesHaveTheCallersPosition(t *testing.T) {
	config := &restclient.Config{Host: "http://server.example", Transport: staticResponse(`{}`)}
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	var logged []string
	logger := lineLogger(&logged, funcr.Options{Verbosity: 8, LogCaller: funcr.All})
	request := client.CoreV1().RESTClient().Post().AbsPath("/x").Body([]byte("told"))
	require.NoError(t, request.Do(klog.NewContext(t.Context(), logger)).Error())
	bodies := 0
	for _, line := range logged {
		if strings.Contains(line, `Body"`) {
			bodies++
			require.Contains(t, line, `"details_test.go"`)
		}
	}
	require.Equal(t, 2, bodies, "%q", logged)
}

// Headers are a separate field of a log line. The value of each header is a list.
func TestLoggedHeadersAreStructured(t *testing.T) {
	var logged []string
	logger := lineLogger(&logged, funcr.Options{Verbosity: 8})
	request, err := http.NewRequestWithContext(klog.NewContext(t.Context(), logger), http.MethodGet, "http://server.example/x", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer secret")
	request.Header["Accept"] = []string{"one", "two"}
	response, err := transport.NewDebuggingRoundTripper(staticResponse(""), transport.DebugByContext).RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	all := strings.Join(logged, "\n")
	require.Contains(t, all, `"Accept"`)
	require.Contains(t, all, `["one" "two"]`)
	require.Contains(t, all, `"level"=8`)
	require.NotContains(t, all, "secret")
}

// named is a DoneChecker with a name.
type named struct {
	name string
	done chan struct{}
}

func (n named) Name() string          { return n.name }
func (n named) Done() <-chan struct{} { return n.done }

func TestLogLinesOfWaitFor(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	ctx, cancel := context.WithCancelCause(t.Context())
	var logged []string
	ctx = klog.NewContext(ctx, lineLogger(&logged, funcr.Options{}))
	require.True(t, cache.WaitFor(ctx, "a cache", named{"one", closed}))
	cancel(errors.New("enough"))
	require.False(t, cache.WaitFor(ctx, "a cache", named{"two", make(chan struct{})}, named{"three", make(chan struct{})}))
	require.Equal(t, []string{
		`"level"=0 "msg"="Waiting" "for"="a cache"`,
		`"level"=0 "msg"="Done waiting" "for"="a cache" "instance"="one"`,
		`"level"=0 "msg"="Waiting" "for"="a cache"`,
		`"level"=0 "msg"="Timed out waiting" "for"="a cache" "cause"="enough" "instances"=["three" "two"]`,
	}, logged)
}

// A plugin may be a shell script that searches the text of its input, so the text must be
// client-go's.
func TestThePluginInputBeginsWithItsKind(t *testing.T) {
	dir := t.TempDir()
	input, plugin := filepath.Join(dir, "told"), filepath.Join(dir, "plugin")
	script := fmt.Sprintf(`#!/bin/sh
printf %%s "$KUBERNETES_EXEC_INFO" > %s
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t"}}'
`, input)
	require.NoError(t, os.WriteFile(plugin, []byte(script), 0o700))
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	rt, err := restclient.TransportFor(&restclient.Config{
		Host:         server.URL,
		ExecProvider: &clientcmdapi.ExecConfig{Command: plugin, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode},
	})
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	require.NoError(t, err)
	response, err := rt.RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	info, err := os.ReadFile(input)
	require.NoError(t, err)
	require.Equal(t, `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}}`, strings.TrimSpace(string(info)))
}
