package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	testclock "k8s.io/utils/clock/testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/util/flowcontrol"
)

// A proxy may return errors in a JSON format of its own.
func TestAnErrorWithoutAStatusFollowsFromTheCode(t *testing.T) {
	for _, body := range []string{`{"error":"no such backend"}`, `{}`, `{"kind":"Status","apiVersion":"v1"}`, `{"apiVersion":"v1","status":"Failure","code":403}`} {
		client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, body)
		})
		of := func() *rest.Request { return client.Get().Resource("pods").Name("web") }
		err := of().Do(t.Context()).Error()
		require.True(t, apierrors.IsNotFound(err), "%s: %v", body, err)
		require.True(t, apierrors.IsUnexpectedServerError(err))
		_, err = of().DoRaw(t.Context())
		require.True(t, apierrors.IsNotFound(err), "%s: %v", body, err)
		_, err = of().Watch(t.Context())
		require.True(t, apierrors.IsNotFound(err), "%s: %v", body, err)
		_, err = of().Stream(t.Context())
		require.True(t, apierrors.IsNotFound(err), "%s: %v", body, err)
	}
}

func TestDoRawReturnsTheBodyWithAnError(t *testing.T) {
	warnings := &warningRecorder{}
	rest.SetDefaultWarningHandler(warnings)
	t.Cleanup(func() { rest.SetDefaultWarningHandler(rest.WarningLogger{}) })
	const status = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`
	client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Add("Warning", `299 - "old"`)
		w.Header().Set("Content-Type", req.URL.Query().Get("type"))
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, status)
	})
	for _, contentType := range []string{"application/json", "a/b; c"} {
		body, err := client.Get().AbsPath("/x").Param("type", contentType).DoRaw(t.Context())
		require.True(t, apierrors.IsNotFound(err), "%v", err)
		require.Equal(t, status, string(body))
	}
	require.Empty(t, warnings.texts)
}

func TestTheErrorOfTheRateLimiterNamesTheClientsLimit(t *testing.T) {
	config := configOf("http://localhost", "")
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(0.001, 1)
	require.True(t, config.RateLimiter.TryAccept())
	client := clientOf(t, config)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	err := client.Get().AbsPath("/x").Do(ctx).Error()
	require.ErrorContains(t, err, "client rate limiter Wait returned an error: ")
	cancel()
	require.Equal(t, context.Canceled, client.Get().AbsPath("/x").Do(ctx).Error(), "the limiter's error text is not added after the end of the caller's context")
}

// As in client-go, a watch is not retried after this error.
func TestAWatchWhoseHTTP2ConnectionIsLostFails(t *testing.T) {
	lost := errors.New("http2: client connection lost")
	config := configOf("http://localhost", "")
	calls := 0
	config.Transport = roundTripper(func(*http.Request) (*http.Response, error) {
		calls++
		return nil, lost
	})
	client, err := rest.RESTClientFor(config)
	require.NoError(t, err)
	_, err = client.Get().AbsPath("/x").Watch(t.Context())
	require.ErrorIs(t, err, lost)
	require.Equal(t, 1, calls)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestURLBackoffSleepsByItsClock(t *testing.T) {
	clock := testclock.NewFakeClock(time.Now())
	b := &rest.URLBackoff{Backoff: flowcontrol.NewFakeBackOff(time.Second, time.Minute, clock)}
	slept := make(chan struct{})
	go func() {
		b.Sleep(time.Hour)
		close(slept)
	}()
	for !clock.HasWaiters() {
		select {
		case <-t.Context().Done():
		case <-time.After(time.Millisecond):
		}
	}
	clock.Step(time.Hour)
	<-slept
}

// metricsRecorder records the labels with which metrics are called.
type metricsRecorder struct {
	mu       sync.Mutex // guards following
	urls     []string
	sizes    []float64
	resolved []string
}

func (s *metricsRecorder) Observe(_ context.Context, _ string, u url.URL, _ time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.Scheme, u.Host = "", ""
	text, _ := url.PathUnescape(u.String())
	s.urls = append(s.urls, text)
}

type sizeRecorder struct{ *metricsRecorder }

func (s sizeRecorder) Observe(_ context.Context, _ string, _ string, size float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sizes = append(s.sizes, size)
}

type hostRecorder struct{ *metricsRecorder }

func (h hostRecorder) Observe(_ context.Context, host string, _ time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.resolved = append(h.resolved, host)
}

// If names of objects were in labels, metrics would have a series for each object.
func TestMetricsHaveNoNamesOfObjects(t *testing.T) {
	s := &metricsRecorder{}
	latency, size, resolver := metrics.RequestLatency, metrics.RequestSize, metrics.ResolverLatency
	metrics.RequestLatency, metrics.RequestSize, metrics.ResolverLatency = s, sizeRecorder{s}, hostRecorder{s}
	t.Cleanup(func() {
		metrics.RequestLatency, metrics.RequestSize, metrics.ResolverLatency = latency, size, resolver
	})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	config := configOf(strings.Replace(server.URL, "127.0.0.1", "localhost", 1)+"/root", "")
	client := clientOf(t, config)
	get := client.Get
	for _, r := range []*rest.Request{
		get().Namespace("ns").Resource("pods").Name("web").Param("a", "secret").Timeout(time.Minute),
		get().Namespace("ns").Resource("pods"),
		get().Resource("nodes"),
		get().Resource("nodes").Name("n"),
		get().Resource("nodes").Name("n").SubResource("status"),
		get().Namespace("ns").Resource("pods").Name("web").SubResource("log"),
		get().Resource("namespaces").Name("ns").SubResource("a", "finalize"),
		get().AbsPath("/apis/apps/v1/namespaces/ns/deployments/web"),
		get().AbsPath("/apis/apps"),
		get().AbsPath("/healthz"),
		get().AbsPath("/elsewhere/of/somebody").Param("a", "b"),
		client.Post().AbsPath("/").Body([]byte("four")),
		client.Post().AbsPath("/").Body(io.MultiReader(strings.NewReader("of unknown length"))),
	} {
		require.NoError(t, r.Do(t.Context()).Error())
	}
	events, err := get().AbsPath("/watch").Watch(t.Context())
	require.NoError(t, err)
	events.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Equal(t, []string{
		"/root/api/v1/namespaces/{namespace}/pods/{name}?a={value}&timeout=1m0s",
		"/root/api/v1/namespaces/{namespace}/pods",
		"/root/api/v1/nodes",
		"/root/api/v1/nodes/{name}",
		"/root/api/v1/nodes/{name}/status",
		"/root/api/v1/namespaces/{namespace}/pods/{name}/log",
		"/root/api/v1/namespaces/{namespace}/a/finalize",
		"/root/apis/apps/v1/namespaces/{namespace}/deployments/{name}",
		"/root/apis/apps",
		"/root/healthz",
		"/{prefix}",
		"/root/",
		"/root/",
	}, s.urls)
	require.Equal(t, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4}, s.sizes, "neither a body of unknown length nor a watch records a size")
	require.Contains(t, s.resolved, "localhost")
}

func TestBodiesAreLoggedForVerbosity8(t *testing.T) {
	client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) { _, _ = io.WriteString(w, strings.Repeat("a", 2000)) })
	for verbosity, want := range map[int]string{7: "", 8: "[truncated 976 chars]", 10: strings.Repeat("a", 2000)} {
		var lines []string
		log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{Verbosity: verbosity})
		_, err := client.Post().AbsPath("/x").Body([]byte("\x00sent")).DoRaw(klog.NewContext(t.Context(), log))
		require.NoError(t, err)
		text := fmt.Sprint(lines)
		require.Contains(t, text, want)
		require.Equal(t, verbosity >= 8, strings.Contains(text, "Response Body"), text)
		require.Equal(t, verbosity >= 8, strings.Contains(text, "|.sent|"), "a body that is not text is logged as a hex dump: %s", text)
	}
}

func TestBodiesWithSecretsAreNotLogged(t *testing.T) {
	client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) { _, _ = io.WriteString(w, "password") })
	for path, secret := range map[string]bool{
		"/api/v1/namespaces/n/secrets/web":                 true,
		"/api/v1/namespaces/n/serviceaccounts/build/token": true,
		"/apis/authentication.k8s.io/v1/tokenreviews":      true,
		"/api/v1/namespaces/n/serviceaccounts/build":       false,
	} {
		var lines []string
		log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{Verbosity: 10})
		_, err := client.Put().AbsPath(path).Body([]byte("password")).DoRaw(klog.NewContext(t.Context(), log))
		require.NoError(t, err)
		text := fmt.Sprint(lines)
		require.Equal(t, !secret, strings.Contains(text, "password"), text)
		require.Equal(t, secret, strings.Contains(text, "8 bytes, not logged"), text)
	}
}

func TestBackoffOfTheEnvironmentIsThatOfOneRequest(t *testing.T) {
	t.Setenv("KUBE_CLIENT_BACKOFF_BASE", "3600")
	t.Setenv("KUBE_CLIENT_BACKOFF_DURATION", "3600")
	client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 3 {
		require.True(t, apierrors.IsInternalError(client.Get().AbsPath("/x").Do(ctx).Error()))
	}
	// The attempts of one request do wait.
	client = newTestClient(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusInternalServerError)
	})
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, client.Get().AbsPath("/x").Do(ctx).Error(), context.DeadlineExceeded)
}
