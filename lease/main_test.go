package lease_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/rest"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // These tests lose leases on purpose.
	goleak.VerifyTestMain(m)
}

var (
	leases = coordinationv1.SchemeGroupVersion.WithResource("leases")
	key    = types.NamespacedName{Namespace: "default", Name: "greeter"}
)

// newServer starts a server.
func newServer(t *testing.T) *apitest.Server {
	t.Helper()
	server := apitest.New(apitest.Options{})
	t.Cleanup(server.Close)
	require.NoError(t, server.ListenMemory())
	return server
}

// newClient returns a new client for a server.
func newClient(t *testing.T, server *apitest.Server, opts rest.Options) *rest.Client {
	t.Helper()
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, opts)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// newElector returns a candidate with a client of its own.
func newElector(t *testing.T, server *apitest.Server, identity string, opts lease.Options) *lease.Elector {
	t.Helper()
	opts.Identity = identity
	e, err := lease.New(newClient(t, server, rest.Options{}), key, opts)
	require.NoError(t, err)
	return e
}

// stored returns the server's Lease.
func stored(t *testing.T, server *apitest.Server) *coordinationv1.Lease {
	t.Helper()
	object, err := server.Get(leases, key)
	require.NoError(t, err)
	return object.(*coordinationv1.Lease)
}

// change edits the Lease like an administrator.
func change(t *testing.T, server *apitest.Server, edit func(*coordinationv1.Lease)) {
	t.Helper()
	object := stored(t, server)
	edit(object)
	_, err := server.Update(object)
	require.NoError(t, err)
}

// run is a call of Run in progress.
type run struct {
	elector *lease.Elector
	leads   chan context.Context // the context of each call of the function
	end     chan error           // results for the function to return
	stop    context.CancelFunc
	result  chan error
}

// start runs a candidate. Its function returns a value from end, or the cause of its context when
// the context ends.
func start(t *testing.T, e *lease.Elector) *run {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := &run{elector: e, leads: make(chan context.Context, 10), end: make(chan error), stop: stop, result: make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.result <- e.Run(ctx, func(ctx context.Context) error {
			r.leads <- ctx
			select {
			case err := <-r.end:
				return err
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return r
}

// killLeader starts a leader and a candidate with these options. After a minute, the leader
// ends as if it was killed. killLeader returns the candidate, and the time of the leader's last
// renewal.
func killLeader(t *testing.T, server *apitest.Server, opts lease.Options) (candidate *run, renewed time.Time) {
	t.Helper()
	leader := start(t, newElector(t, server, "first", lease.Options{KeepOnEnd: true}))
	receiveWithin(t, time.Second, leader.leads)
	candidate = start(t, newElector(t, server, "second", opts))
	time.Sleep(time.Minute)
	leader.stop()
	require.NoError(t, <-leader.result)
	return candidate, stored(t, server).Spec.RenewTime.Time
}

// receiveWithin returns the next value from a channel, and fails the test if none arrives in time.
func receiveWithin[V any](t *testing.T, d time.Duration, from <-chan V) (value V) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(d):
		require.Fail(t, "no value arrived in time", "%v", d)
	}
	return value
}

func meta() metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name} }

func leaseKey(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: key.Namespace, Name: name}
}
