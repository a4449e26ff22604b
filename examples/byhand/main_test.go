package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// fixture is a server in a bubble. Tests start replicas that use it.
type fixture struct {
	t      *testing.T
	server *apitest.Server

	mu     sync.Mutex // guards following
	log    bytes.Buffer
	writes map[string]int // number of writes to ConfigMaps, by verb
}

func newFixture(t *testing.T) *fixture {
	r := &fixture{t: t, writes: map[string]int{}}
	r.server = apitest.New(apitest.Options{OnRequest: func(q apitest.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if q.Resource == "configmaps" {
			r.writes[q.Verb]++
		}
	}})
	require.NoError(t, r.server.ListenMemory())
	t.Cleanup(r.server.Close)
	return r
}

// Write collects the logs of the replicas.
func (r *fixture) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(line)
}

func (r *fixture) logText() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

// start starts a replica. It returns a function that ends the replica, like SIGTERM.
func (r *fixture) start(identity string) (stop func() error) {
	r.t.Helper()
	client, err := rest.NewClient(rest.Config{Host: r.server.URL(), DialContext: r.server.DialContext}, rest.Options{Limit: lease.Check})
	require.NoError(r.t, err)
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, client, identity, slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelWarn})))
		client.Close()
	}()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	r.t.Cleanup(func() { _ = stop() })
	return stop
}

func (r *fixture) namespace(name string, labels map[string]string) {
	r.t.Helper()
	_, err := r.server.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	require.NoError(r.t, err)
}

// set writes the settings of a namespace.
func (r *fixture) set(namespace, value string) {
	r.t.Helper()
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: original.Name}, Data: map[string]string{"value": value}}
	_, err := r.server.Create(settings)
	if apierrors.IsAlreadyExists(err) {
		_, err = r.server.Update(settings)
	}
	require.NoError(r.t, err)
}

// copies waits until everything has settled, and returns the copies in all namespaces.
func (r *fixture) copies() (found []string) {
	r.t.Helper()
	time.Sleep(5 * time.Second)
	objects, _, err := r.server.List(configMaps, "")
	require.NoError(r.t, err)
	for _, object := range objects {
		found = append(found, object.GetNamespace()+"="+object.(*corev1.ConfigMap).Data["value"])
	}
	slices.Sort(found)
	return found
}

func TestSettingsAreCopied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		shared := map[string]string{"settings": "shared"}
		r.set("default", "1")
		r.namespace("a", shared)
		r.namespace("b", shared)
		r.namespace("c", nil)
		stop := r.start("first")
		require.Equal(t, []string{"a=1", "b=1", "default=1"}, r.copies())
		r.start("second")

		r.set("default", "2")
		require.Equal(t, []string{"a=2", "b=2", "default=2"}, r.copies())
		r.namespace("d", shared)
		require.Equal(t, []string{"a=2", "b=2", "d=2", "default=2"}, r.copies())
		r.set("a", "mine")
		require.NoError(t, r.server.Delete(configMaps, types.NamespacedName{Namespace: "b", Name: original.Name}))
		require.Equal(t, []string{"a=2", "b=2", "d=2", "default=2"}, r.copies())

		require.NoError(t, stop())
		r.set("default", "3")
		require.Equal(t, []string{"a=3", "b=3", "d=3", "default=3"}, r.copies(), "the other replica must take over")
		require.Empty(t, r.logText(), "there must be no conflict, and no repeated write")
		require.Equal(t, map[string]int{"list": 2, "watch": 2, "create": 4, "update": 6}, r.writes)
	})
}

// The test runs the real program as a process, and sends it SIGTERM.
func TestProgramEndsOnSIGTERM(t *testing.T) {
	t.Parallel()
	server := apitest.Start(t, apitest.Options{})
	_, err := server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: original.Namespace, Name: original.Name}})
	require.NoError(t, err)
	_, err = server.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"settings": "shared"}}})
	require.NoError(t, err)
	dir := t.TempDir()
	config, binary := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "byhand")
	require.NoError(t, kubeconfig.Write(config, kubeconfig.Connection{Config: rest.Config{Host: server.URL()}}))
	built, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(built))
	var said bytes.Buffer
	// The context kills the process if the test fails.
	process := exec.CommandContext(t.Context(), binary, "-identity", "one")
	process.Env = append(os.Environ(), "KUBECONFIG="+config)
	process.Stdout, process.Stderr = &said, &said
	require.NoError(t, process.Start())
	require.Eventually(t, func() bool {
		_, err := server.Get(configMaps, types.NamespacedName{Namespace: "a", Name: original.Name})
		return err == nil
	}, time.Minute, 20*time.Millisecond)
	require.NoError(t, process.Process.Signal(syscall.SIGTERM))
	require.NoError(t, process.Wait(), said.String())
	require.NotContains(t, said.String(), "WARN")
	object, err := server.Get(coordinationv1.SchemeGroupVersion.WithResource("leases"), types.NamespacedName{Namespace: original.Namespace, Name: "settings-controller"})
	require.NoError(t, err)
	require.Empty(t, *object.(*coordinationv1.Lease).Spec.HolderIdentity, "the replica must release the lease")
	recorded, _, err := server.List(eventsv1.SchemeGroupVersion.WithResource("events"), "")
	require.NoError(t, err)
	require.Len(t, recorded, 1)
}

func TestQueuedKeysAreProcessedBeforeTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		stop := r.start("first")
		time.Sleep(time.Second)
		r.server.Inject(apitest.Fault{Verb: "create", Resource: "configmaps", Action: apitest.Delay(time.Second)})
		for n := range 12 {
			r.namespace(fmt.Sprint("n", n), map[string]string{"settings": "shared"})
		}
		r.set("default", "1")
		synctest.Wait() // Now four workers are busy, and the other keys wait.
		require.NoError(t, stop())
		require.Len(t, r.copies(), 13)
		recorded, _, err := r.server.List(eventsv1.SchemeGroupVersion.WithResource("events"), "")
		require.NoError(t, err)
		require.Len(t, recorded, 12, "the events of the last reconcile must be sent")
	})
}

func TestAForbiddenNamespaceDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		refused := r.server.Inject(apitest.Fault{
			Verb: "create", Resource: "configmaps", Match: func(q apitest.Request) bool { return q.Namespace == "a" },
			Action: apitest.Fail(apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "settings", errors.New("no role"))),
		})
		r.set("default", "1")
		r.start("first")
		for _, name := range []string{"a", "b"} {
			r.namespace(name, map[string]string{"settings": "shared"})
		}
		require.Equal(t, []string{"b=1", "default=1"}, r.copies())
		require.Contains(t, r.logText(), "namespace a")
		recorded, _, err := r.server.List(eventsv1.SchemeGroupVersion.WithResource("events"), "")
		require.NoError(t, err)
		require.Len(t, recorded, 2, "there must be an event for the copy, and an event for the failure")
		refused.Remove()
		time.Sleep(time.Minute)
		require.Equal(t, []string{"a=1", "b=1", "default=1"}, r.copies())
	})
}
