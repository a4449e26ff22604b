package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/rest"
)

// lines is a log for concurrent writers.
type lines struct {
	mu   sync.Mutex // guards following
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Two managers share a lease. Each reconcile of a key writes with another verb than the previous
// reconcile, and must see the earlier write. Otherwise the log would report a conflict, or an
// object that exists already.
func TestManagersOnARealServer(t *testing.T) {
	const wanted = 60
	client := newClient(t, kube.Config())
	log := &lines{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	started := make(chan string, 2)
	manager := func(identity string) *controller.Manager {
		elector, err := lease.New(client, types.NamespacedName{Namespace: cluster.Namespace, Name: "managers"}, lease.Options{Identity: identity, RetryPeriod: 200 * time.Millisecond})
		require.NoError(t, err)
		m, err := controller.New(client, controller.Options{Name: "managers", Namespaces: []string{cluster.Namespace}, Elector: elector, Logger: logger})
		require.NoError(t, err)
		m.Add("started", func(context.Context) error { started <- identity; return nil }, controller.PartOptions{Stage: controller.Leading})
		maps := controller.Select(m, controller.Selection[*corev1.ConfigMap]{ResourceOptions: rest.ResourceOptions{LabelSelector: "managers=yes"}})
		secrets := controller.Select(m, controller.Selection[*corev1.Secret]{ResourceOptions: rest.ResourceOptions{LabelSelector: "managers=yes"}})
		c := controller.Manage(m, "copies", maps, func(ctx context.Context, wanted *corev1.ConfigMap) (controller.Result, error) {
			have, exists := secrets.Get(keyOf(wanted))
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: wanted.Namespace, Name: wanted.Name, Labels: wanted.Labels}}
			secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(wanted, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
			if !exists {
				_, err := secrets.Create(ctx, secret)
				return controller.Done, err
			}
			var err error
			switch len(have.Annotations) {
			case 0:
				changed := have.DeepCopy()
				changed.Annotations = map[string]string{"updated": "yes"}
				_, err = secrets.Update(ctx, changed)
			case 1:
				_, err = secrets.Modify(ctx, keyOf(have), func(s *corev1.Secret) error { s.Annotations["modified"] = "yes"; return nil })
			case 2:
				changed := have.DeepCopy()
				changed.Annotations["merged"] = "yes"
				_, err = secrets.Merge(ctx, have, changed)
			case 3:
				_, err = secrets.Patch(ctx, keyOf(have), types.StrategicMergePatchType, []byte(`{"metadata":{"annotations":{"patched":"yes"}}}`))
			case 4:
				secret.Annotations = map[string]string{"applied": "yes"}
				_, err = secrets.Apply(ctx, secret)
			}
			return controller.Done, err
		}, controller.Settings[*corev1.ConfigMap]{Workers: 4})
		controller.Owns(c, secrets, nil)
		return m
	}
	begin := func(identity string) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- manager(identity).Run(ctx) }()
		stop = sync.OnceFunc(func() { cancel(); require.NoError(t, <-ended) })
		t.Cleanup(stop)
		return stop
	}
	maps := rest.Must(rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{}))
	secrets := rest.Must(rest.For[*corev1.Secret](client, rest.ResourceOptions{}))
	create := func(from, to int) {
		for n := from; n < to; n++ {
			_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
				Namespace: cluster.Namespace, Name: fmt.Sprint("managed-", n), Labels: map[string]string{"managers": "yes"},
			}}, metav1.CreateOptions{})
			require.NoError(t, err)
		}
	}
	complete := func(to int) {
		for n := range to {
			require.Eventually(t, func() bool {
				secret, err := secrets.Get(t.Context(), types.NamespacedName{Namespace: cluster.Namespace, Name: fmt.Sprint("managed-", n)}, metav1.GetOptions{})
				return err == nil && len(secret.Annotations) == 5
			}, time.Minute, 50*time.Millisecond, n)
		}
	}
	create(0, wanted/2)
	stopFirst := begin("first")
	require.Equal(t, "first", <-started)
	begin("second")
	create(wanted/2, wanted*3/4)
	complete(wanted * 3 / 4)
	stopped := time.Now()
	stopFirst()
	require.Equal(t, "second", <-started)
	t.Logf("taken over after %v", time.Since(stopped))
	create(wanted*3/4, wanted)
	complete(wanted)
	require.Empty(t, log.String(), "there must be no conflict, and no repeated write")

	secret, err := secrets.Get(t.Context(), types.NamespacedName{Namespace: cluster.Namespace, Name: "managed-0"}, metav1.GetOptions{})
	require.NoError(t, err)
	applied := false
	for _, entry := range secret.ManagedFields {
		require.Equal(t, "managers", entry.Manager)
		applied = applied || entry.Operation == metav1.ManagedFieldsOperationApply
	}
	require.True(t, applied)
}
