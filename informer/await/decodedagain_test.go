package await_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/await"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// An object that could not be decoded does not count as deleted until the store has its current
// state: decoded, or deleted.
func TestObjectDecodedAgainIsNotTakenForDeleted(t *testing.T) { // G2
	for _, relisted := range []bool{false, true} {
		for _, ends := range []string{"readable", "deleted", "deleted, and nothing else in the batch"} {
			for _, kind := range []string{"", "merged", "preloaded"} {
				name := "watched"
				if relisted {
					name = "relisted"
				}
				t.Run(name+"/"+ends+"/"+kind, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { testDecodedAgain(t, relisted, ends, kind) })
				})
			}
		}
	}
}

func testDecodedAgain(t *testing.T, relisted bool, ends, kind string) {
	server := apitest.New(apitest.Options{BookmarkInterval: 10 * time.Second})
	require.NoError(t, server.ListenMemory())
	defer server.Close()
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
	require.NoError(t, err)
	defer client.Close()
	errBad := errors.New("it is bad")
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	source := sources.Transform(rest.Must(rest.For[*corev1.Pod](client, rest.ResourceOptions{Namespace: web.Namespace})), func(pod *corev1.Pod) (*corev1.Pod, error) {
		if pod.Labels["bad"] != "" {
			return pod, errBad
		}
		return pod, nil
	})
	held := make(chan struct{})
	var inf *informer.Informer[*corev1.Pod]
	var whenApplied error
	opts := informer.Options[*corev1.Pod]{Observer: &informer.Observer{OnApplied: func(info informer.AppliedInfo) {
		if slices.Contains(info.Keys, web) {
			whenApplied = inf.Healthy(time.Hour)
		}
		if len(info.Keys) == 1 && info.Keys[0].Name == "slow" {
			<-held
		}
	}}}
	switch kind {
	case "merged":
		source = sources.Merge(source, rest.Must(rest.For[*corev1.Pod](client, rest.ResourceOptions{Namespace: "elsewhere"})))
	case "preloaded":
		opts.Preload = func(i *informer.Informer[*corev1.Pod]) error {
			return informer.Preload(i, slices.Values([]indexer.Entry[*corev1.Pod]{}), server.ResourceVersion())
		}
	}
	inf, err = informer.New[*corev1.Pod](source, opts)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- inf.Run(ctx) }()
	require.NoError(t, inf.WaitForSync(ctx))
	pod := func(key types.NamespacedName, labels map[string]string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: labels}}
	}
	requireUndecodable := func() {
		t.Helper()
		_, err := await.Until(ctx, inf.Store(), web, await.Deleted[*corev1.Pod](""))
		_, isUndecodable := errors.AsType[*listwatch.ObjectError](err)
		require.True(t, isUndecodable, "%v", err)
		require.ErrorIs(t, inf.Healthy(time.Hour), reflector.ErrUndecodable)
		require.Equal(t, 1, inf.Status().Undecodable.Count)
		require.Len(t, inf.Status().Undecodable.Objects, 1)
	}
	_, err = server.Create(pod(web, map[string]string{"bad": "yes"}))
	require.NoError(t, err)
	synctest.Wait()
	requireUndecodable()
	_, err = server.Create(pod(types.NamespacedName{Namespace: web.Namespace, Name: "slow"}, nil))
	require.NoError(t, err)
	synctest.Wait() // Now the consumer is blocked.

	if relisted {
		server.Inject(apitest.Fault{Verb: "watch", Times: 2, Action: apitest.Expired()})
		server.DropWatches("")
	}
	if ends == "readable" {
		_, err = server.Update(pod(web, nil))
		require.NoError(t, err)
	} else {
		require.NoError(t, server.Delete(pods, web))
	}
	if ends == "deleted" {
		_, err = server.Create(pod(types.NamespacedName{Namespace: web.Namespace, Name: "other"}, nil))
		require.NoError(t, err)
	}
	if relisted {
		server.Compact()
	}
	time.Sleep(5 * time.Second)
	synctest.Wait()
	// For the reflector, the object is not undecodable any more, but the store does not have its
	// new state yet.
	require.Zero(t, inf.Status().Reflector.Undecodable.Count)
	requireUndecodable()

	close(held)
	synctest.Wait()
	require.NoError(t, whenApplied, "the informer is healthy when the store has the object's new state")
	require.NoError(t, inf.Healthy(time.Hour))
	require.Zero(t, inf.Status().Undecodable.Count)
	if ends == "readable" {
		_, err = await.Until(ctx, inf.Store(), web, await.Exists[*corev1.Pod]())
	} else {
		_, err = await.Until(ctx, inf.Store(), web, await.Deleted[*corev1.Pod](""))
	}
	require.NoError(t, err)
	cancel()
	require.NoError(t, <-ended)
}
