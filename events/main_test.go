package events_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/events"
	"github.com/kinform/kinform/rest"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // These tests drop events on purpose.
	goleak.VerifyTestMain(m)
}

const controller = "example.com/websites"

var (
	eventsGVR = eventsv1.SchemeGroupVersion.WithResource("events")
	coreGVR   = corev1.SchemeGroupVersion.WithResource("events")
)

// rig is a server and a Recorder for it.
type rig struct {
	*events.Recorder
	server *apitest.Server
	stop   context.CancelFunc
	ended  chan error
}

// newRig makes a server and a Recorder that does not run yet.
func newRig(t testing.TB, opts events.Options) *rig {
	t.Helper()
	server := apitest.New(apitest.Options{})
	t.Cleanup(server.Close)
	require.NoError(t, server.ListenMemory())
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	if opts.Instance == "" {
		opts.Instance = "websites-1"
	}
	recorder, err := events.New(client, controller, opts)
	require.NoError(t, err)
	return &rig{Recorder: recorder, server: server, ended: make(chan error, 1)}
}

// run calls Run in a goroutine, and ends it with the test.
func (r *rig) run(t *testing.T) *rig {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.ended <- r.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return r
}

// stored returns the server's Events of events.k8s.io/v1.
func (r *rig) stored(t *testing.T) (found []*eventsv1.Event) {
	t.Helper()
	objects, _, err := r.server.List(eventsGVR, "")
	require.NoError(t, err)
	for _, object := range objects {
		found = append(found, object.(*eventsv1.Event))
	}
	return found
}

// counted returns the number of events that the server has counted.
func (r *rig) counted(t *testing.T) (n uint64) {
	t.Helper()
	for _, e := range r.stored(t) {
		if e.Series == nil {
			n++
		} else {
			n += uint64(e.Series.Count)
		}
	}
	return n
}

// balanced checks that each event was sent, waits or was dropped.
func (r *rig) balanced(t *testing.T) events.Stats {
	t.Helper()
	stats := r.Stats()
	require.Equal(t, stats.Recorded, stats.Sent+stats.Waiting+stats.DroppedTotal(), "%+v", stats)
	return stats
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "a-uid", ResourceVersion: "7"}}
}
