package resourcelock_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	typed "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	rl "k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kinform/kinform/apitest"
)

// events are the recorded events.
type events []string

func (e *events) Eventf(object runtime.Object, eventType, reason, message string, args ...any) {
	lease := object.(*coordinationv1.Lease)
	*e = append(*e, fmt.Sprintf("%s %s %s/%s labels %v: %s %s ", lease.APIVersion, lease.Kind, lease.Namespace, lease.Name, lease.Labels, eventType, reason)+
		fmt.Sprintf(message, args...))
}

func TestALeaseIsALock(t *testing.T) {
	ctx, recorded := t.Context(), events{}
	client := typed.NewForConfigOrDie(&rest.Config{Host: apitest.Start(t, apitest.Options{}).URL(), QPS: -1})
	lock, err := rl.NewWithLabels("leases", "ns", "n", nil, client, rl.ResourceLockConfig{Identity: "me", EventRecorder: &recorded}, map[string]string{"a": "b"})
	require.NoError(t, err)
	require.Equal(t, "ns/n", lock.Describe())
	require.Equal(t, "me", lock.Identity())
	lock.RecordEvent("has no lease")
	require.EqualError(t, lock.Update(ctx, rl.LeaderElectionRecord{}), "lease not initialized, call get or create first")
	_, _, err = lock.Get(ctx)
	require.True(t, apierrors.IsNotFound(err), "%v", err)

	at := metav1.NewTime(time.Unix(1000, 5000).UTC())
	record := rl.LeaderElectionRecord{HolderIdentity: "me", LeaseDurationSeconds: 15, AcquireTime: at, RenewTime: at}
	require.NoError(t, lock.Create(ctx, record))
	record.LeaderTransitions = 1
	require.NoError(t, lock.Update(ctx, record))
	found, raw, err := lock.Get(ctx)
	require.NoError(t, err)
	require.Equal(t, record.LeaderTransitions, found.LeaderTransitions)
	require.True(t, at.Equal(&found.RenewTime), "the Lease stores microseconds")
	require.Equal(t, `{"holderIdentity":"me","leaseDurationSeconds":15,"acquireTime":"1970-01-01T00:16:40Z",`+
		`"renewTime":"1970-01-01T00:16:40Z","leaderTransitions":1,"strategy":"","preferredHolder":""}`, string(raw), "as client-go")

	other, err := client.Leases("ns").Get(ctx, "n", metav1.GetOptions{})
	require.NoError(t, err)
	other.Labels = map[string]string{"a": "other", "c": "d"}
	_, err = client.Leases("ns").Update(ctx, other, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.True(t, apierrors.IsConflict(lock.Update(ctx, record)), "the Lease has changed since the last Get")
	_, _, err = lock.Get(ctx)
	require.NoError(t, err)
	require.NoError(t, lock.Update(ctx, record))
	lock.RecordEvent("leads")
	require.Equal(t, events{
		// in client-go this call panics
		`coordination.k8s.io/v1 Lease ns/n labels map[]: Normal LeaderElection me has no lease`,
		`coordination.k8s.io/v1 Lease ns/n labels map[a:b c:d]: Normal LeaderElection me leads`,
	}, recorded)
}

func TestAFailedCreateLeavesNoLease(t *testing.T) {
	client := typed.NewForConfigOrDie(&rest.Config{Host: apitest.Start(t, apitest.Options{}).URL(), QPS: -1})
	lock, err := rl.New("leases", "ns", "Not a name", nil, client, rl.ResourceLockConfig{Identity: "me"})
	require.NoError(t, err)
	require.Error(t, lock.Create(t.Context(), rl.LeaderElectionRecord{HolderIdentity: "me"}))
	require.EqualError(t, lock.Update(t.Context(), rl.LeaderElectionRecord{}), "lease not initialized, call get or create first")
	lock.RecordEvent("without a recorder")
}

func TestTypesOfLocks(t *testing.T) {
	// each text is client-go's, except the word "migrated" for configmapsleases
	for kind, text := range map[string]string{
		"endpoints": "endpoints lock is removed, migrate to leases", "configmaps": "configmaps lock is removed, migrate to leases",
		"endpointsleases": "endpointsleases lock is removed, migrate to leases", "": "Invalid lock-type ", "x": "Invalid lock-type x",
	} {
		_, err := rl.New(kind, "ns", "n", nil, nil, rl.ResourceLockConfig{})
		require.EqualError(t, err, text)
	}
}

func TestALockWithItsOwnClientHasAShortTimeout(t *testing.T) {
	asked := make(chan *http.Request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL, Timeout: time.Hour}
	for deadline, timeout := range map[time.Duration]string{10 * time.Second: "5s", time.Second: "1s", 0: "1s"} {
		lock, err := rl.NewFromKubeconfig("leases", "ns", "n", rl.ResourceLockConfig{}, config, deadline)
		require.NoError(t, err)
		_, _, err = lock.Get(context.WithoutCancel(t.Context()))
		require.True(t, apierrors.IsNotFound(err), "%v", err)
		r := <-asked
		require.Equal(t, "/apis/coordination.k8s.io/v1/namespaces/ns/leases/n?timeout="+timeout, r.URL.String())
		require.Regexp(t, "/leader-election$", r.UserAgent())
	}
	require.Equal(t, time.Hour, config.Timeout)
	require.Panics(t, func() {
		_, _ = rl.NewFromKubeconfig("leases", "ns", "n", rl.ResourceLockConfig{}, &rest.Config{Host: "http://x:1:::"}, time.Second)
	})
}
