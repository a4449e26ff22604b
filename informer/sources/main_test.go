package sources_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/testing/fakesource"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // In these tests, sources fail on purpose.
	goleak.VerifyTestMain(m)
}

type obj struct{ n, v string }

// fake is a source that lists given items. Its watches return the events that a test sends.
type fake = fakesource.Script[*obj]

func newFake(rv string, items ...listwatch.Item[*obj]) *fake {
	return fakesource.NewScript(rv, items...)
}

func item(n, rv, v string) listwatch.Item[*obj] {
	return listwatch.Item[*obj]{Key: types.NamespacedName{Name: n}, Object: &obj{n, v}, ResourceVersion: rv}
}

func ev(t listwatch.EventType, n, rv, v string) listwatch.Event[*obj] {
	return listwatch.Event[*obj]{Type: t, Item: item(n, rv, v)}
}

func newInformer(t *testing.T, source listwatch.Source[*obj], opts informer.Options[*obj]) *informer.Informer[*obj] {
	inf, err := informer.New(source, opts)
	require.NoError(t, err)
	return inf
}

// start runs an informer until the function stop is called, or the test ends.
func start[T any](t *testing.T, inf *informer.Informer[T]) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = inf.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// newServer starts a server, and returns it and its pods as a source.
func newServer(t *testing.T, which rest.ResourceOptions) (*apitest.Server, listwatch.Source[*corev1.Pod]) {
	server := apitest.New(apitest.Options{BookmarkInterval: 10 * time.Second})
	require.NoError(t, server.ListenMemory())
	t.Cleanup(server.Close)
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return server, rest.Must(rest.NewResource[*corev1.Pod](client, pods, which))
}

func newPod(key types.NamespacedName) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example/web:1"}}},
	}
}

func key(n int) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: fmt.Sprintf("pod-%d", n)}
}
