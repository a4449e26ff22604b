package leaderelection_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/coordination/v1"
	"k8s.io/api/coordination/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	typed "k8s.io/client-go/kubernetes/typed/coordination/v1beta1"
	"k8s.io/client-go/rest"
	le "k8s.io/client-go/tools/leaderelection"

	"github.com/kinform/kinform/apitest"
)

// candidates returns clients for a server and for its candidates.
func candidates(t *testing.T, opts apitest.Options) (kubernetes.Interface, typed.LeaseCandidateInterface) {
	server := apitest.Start(t, opts)
	clientset := kubernetes.NewForConfigOrDie(&rest.Config{Host: server.URL(), QPS: -1})
	return clientset, clientset.CoordinationV1beta1().LeaseCandidates("ns")
}

// runCandidate runs a candidate until the test ends.
func runCandidate(t *testing.T, clientset kubernetes.Interface) le.CacheSyncWaiter {
	candidate, list, err := le.NewCandidate(clientset, "ns", "me", "lease", "1.2.3", "1.2.0", v1.OldestEmulationVersion)
	require.NoError(t, err)
	require.Empty(t, list.WaitForCacheSync(nil), "as with client-go, no watch runs yet")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	t.Cleanup(func() { cancel(); <-ended })
	go func() {
		defer close(ended)
		candidate.Run(ctx)
	}()
	return list
}

// waitForCandidate waits until the function ok returns true for the candidate's object.
func waitForCandidate(t *testing.T, client typed.LeaseCandidateInterface, ok func(*v1beta1.LeaseCandidate) bool) (c *v1beta1.LeaseCandidate) {
	require.Eventually(t, func() bool {
		var err error
		c, err = client.Get(t.Context(), "me", metav1.GetOptions{})
		return err == nil && ok(c)
	}, 30*time.Second, 10*time.Millisecond)
	return c
}

func TestACandidateIsCreatedAndRenewedOnRequest(t *testing.T) {
	var refused atomic.Int32
	clientset, client := candidates(t, apitest.Options{Admit: func(r *http.Request) error {
		if r.Method == http.MethodPost && refused.Add(1) <= 2 {
			return errors.New("not yet")
		}
		return nil
	}})
	list := runCandidate(t, clientset)
	made := waitForCandidate(t, client, func(*v1beta1.LeaseCandidate) bool { return true })
	require.Equal(t, map[reflect.Type]bool{reflect.TypeFor[*v1beta1.LeaseCandidate](): true}, list.WaitForCacheSync(t.Context().Done()))
	require.EqualValues(t, 3, refused.Load())
	require.Equal(t, v1beta1.LeaseCandidateSpec{
		LeaseName: "lease", BinaryVersion: "1.2.3", EmulationVersion: "1.2.0", Strategy: v1.OldestEmulationVersion, RenewTime: made.Spec.RenewTime,
	}, made.Spec)
	require.WithinDuration(t, time.Now(), made.Spec.RenewTime.Time, time.Hour)

	now := metav1.NewMicroTime(made.Spec.RenewTime.Add(time.Microsecond))
	made.Spec.PingTime, made.Labels = &now, map[string]string{"a": "b"}
	_, err := client.Update(t.Context(), made, metav1.UpdateOptions{})
	require.NoError(t, err)
	renewed := waitForCandidate(t, client, func(c *v1beta1.LeaseCandidate) bool { return c.Spec.RenewTime.After(made.Spec.RenewTime.Time) })
	require.Equal(t, "b", renewed.Labels["a"], "the other fields are unchanged")
	require.True(t, now.Equal(renewed.Spec.PingTime))
	require.Equal(t, "lease", renewed.Spec.LeaseName)
}

func TestAnExistingCandidateIsRenewed(t *testing.T) {
	clientset, client := candidates(t, apitest.Options{})
	long := metav1.NewMicroTime(time.Now().Add(-time.Hour))
	_, err := client.Create(t.Context(), &v1beta1.LeaseCandidate{
		ObjectMeta: metav1.ObjectMeta{Name: "me", Namespace: "ns"},
		Spec:       v1beta1.LeaseCandidateSpec{LeaseName: "other", RenewTime: &long},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	runCandidate(t, clientset)
	renewed := waitForCandidate(t, client, func(c *v1beta1.LeaseCandidate) bool { return c.Spec.RenewTime.After(long.Time) })
	require.Equal(t, "other", renewed.Spec.LeaseName, "as with client-go, the lease name is not changed")
}

func TestACandidateIsRenewedPeriodically(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clientset := fake.NewSimpleClientset()
		client := clientset.CoordinationV1beta1().LeaseCandidates("ns")
		begin := time.Now()
		candidate, _, err := le.NewCandidate(clientset, "ns", "me", "lease", "1", "1", "")
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			candidate.Run(ctx)
		}()
		renewed := func() time.Duration {
			c, err := client.Get(t.Context(), "me", metav1.GetOptions{})
			require.NoError(t, err)
			return c.Spec.RenewTime.Sub(begin).Truncate(time.Minute)
		}
		time.Sleep(time.Minute)
		require.Zero(t, renewed())
		time.Sleep(5 * time.Minute)
		require.Equal(t, 5*time.Minute, renewed(), "the control plane deletes candidates that do not renew")

		require.NoError(t, client.Delete(t.Context(), "me", metav1.DeleteOptions{}))
		time.Sleep(5 * time.Minute)
		require.Equal(t, 10*time.Minute, renewed(), "the candidate creates its object again")
		cancel()
		<-ended
	})
}

func TestACandidateWithoutAServerEndsWithItsContext(t *testing.T) {
	clientset := kubernetes.NewForConfigOrDie(&rest.Config{Host: "http://127.0.0.1:1"})
	candidate, _, err := le.NewCandidate(clientset, "ns", "me", "lease", "1", "1", "")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	candidate.Run(ctx)
}
