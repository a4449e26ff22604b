package tracing

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

type (
	configMap = corev1.ConfigMap
	keyed     = types.NamespacedName
)

var silent = slog.New(slog.DiscardHandler)

func keyOf(name string) keyed { return keyed{Namespace: "web", Name: name} }

// rig is a manager with one controller, and an API server that it reaches over HTTP. It records all
// spans.
type rig struct {
	t         *testing.T
	server    *apitest.Server
	recorder  *tracetest.SpanRecorder
	tracing   *Tracing
	client    *rest.Client
	manager   *controller.Manager
	maps      *controller.Client[*configMap]
	secrets   *controller.Client[*corev1.Secret]
	reconcile func(context.Context, *configMap) (controller.Result, error)
	stop      func() error
}

func newRig(t *testing.T, opts Options, client rest.Options) *rig {
	r := &rig{t: t, server: apitest.Start(t, apitest.Options{}), recorder: tracetest.NewSpanRecorder()}
	r.reconcile = func(context.Context, *configMap) (controller.Result, error) { return controller.Done, nil }
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(r.recorder))
	var err error
	r.tracing, err = New(provider, opts)
	require.NoError(t, err)
	client.Logger, client.Observer = silent, r.tracing.ClientObserver(client.Observer)
	r.client, err = rest.NewClient(rest.Config{Host: r.server.URL()}, client)
	require.NoError(t, err)
	t.Cleanup(r.client.Close)
	r.manager, err = controller.New(r.client, controller.Options{Name: "greeter", Logger: silent, Observer: r.tracing.ControllerObserver(nil)})
	require.NoError(t, err)
	r.maps = controller.For[*configMap](r.manager, rest.ResourceOptions{})
	r.secrets = controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{})
	c := controller.Manage(r.manager, "greet", r.maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
		return r.reconcile(ctx, m)
	}, controller.Settings[*configMap]{Workers: 2, Queue: workqueue.Options[keyed]{DrainTimeout: 50 * time.Millisecond}})
	controller.Owns(c, r.secrets, nil)
	return r
}

// run starts the program. It returns when the watches are open, so that all later changes come as
// events.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.manager.Run(ctx) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	r.t.Cleanup(func() { _ = r.stop() })
	r.eventually(func() bool {
		caches := r.manager.Status().Clusters[0].Caches
		for _, c := range caches {
			if c.Status.Reflector.Phase.String() != "watching" {
				return false
			}
		}
		return len(caches) == 2
	})
}

func (r *rig) eventually(is func() bool) {
	r.t.Helper()
	require.Eventually(r.t, is, time.Minute, time.Millisecond)
}

func (r *rig) create(name string) *configMap {
	made, err := r.server.Create(&configMap{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name}})
	require.NoError(r.t, err)
	return made.(*configMap)
}

// ended returns the spans of this name that have ended.
func (r *rig) ended(name string) (spans []sdk.ReadOnlySpan) {
	for _, s := range r.recorder.Ended() {
		if s.Name() == name {
			spans = append(spans, s)
		}
	}
	return spans
}

// waitForSpans waits until n spans of this name have ended.
func (r *rig) waitForSpans(name string, n int) []sdk.ReadOnlySpan {
	r.t.Helper()
	r.eventually(func() bool { return len(r.ended(name)) >= n })
	spans := r.ended(name)
	require.Len(r.t, spans, n, name)
	return spans
}

// requireAllEnded ends the program, and checks that every started span has ended.
func (r *rig) requireAllEnded() {
	r.t.Helper()
	_ = r.stop()
	ended := map[string]bool{}
	for _, s := range r.recorder.Ended() {
		ended[s.SpanContext().SpanID().String()] = true
		require.False(r.t, s.EndTime().Before(s.StartTime()), s.Name())
	}
	require.NotEmpty(r.t, ended)
	for _, s := range r.recorder.Started() {
		require.True(r.t, ended[s.SpanContext().SpanID().String()], "%s has not ended", s.Name())
	}
}
