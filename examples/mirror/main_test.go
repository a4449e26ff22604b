package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var shop = types.NamespacedName{Namespace: "web", Name: "shop"}

// withServer runs a test in a bubble of testing/synctest, in which time advances as soon as all
// goroutines are blocked. The API server uses real HTTP, over a network in memory.
func withServer(t *testing.T, test func(t *testing.T, server *apitest.Server, user *rest.Client)) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(apitest.Options{})
		require.NoError(t, server.ListenMemory())
		defer server.Close()
		client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
		require.NoError(t, err)
		defer client.Close()
		m, err := newManager(client, controller.Options{})
		require.NoError(t, err)

		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()
		defer func() { // Even after a failure, because a bubble waits for all of its goroutines.
			stop()
			require.NoError(t, <-ended)
		}()
		test(t, server, client)
	})
}

func TestSecretHasTheDataOfItsConfigMap(t *testing.T) {
	withServer(t, func(t *testing.T, server *apitest.Server, user *rest.Client) {
		secrets := rest.Must(rest.For[*corev1.Secret](user, rest.ResourceOptions{}))
		configMaps := rest.Must(rest.For[*corev1.ConfigMap](user, rest.ResourceOptions{}))
		_, err := configMaps.Create(t.Context(), newConfigMap("blue"), metav1.CreateOptions{})
		require.NoError(t, err)
		requireSecret(t, secrets, "blue")

		_, err = configMaps.Patch(t.Context(), shop, types.MergePatchType, []byte(`{"data":{"color":"red"}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		requireSecret(t, secrets, "red")

		_, err = secrets.Patch(t.Context(), shop, types.MergePatchType, []byte(`{"data":{"color":null}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		// The ConfigMap owns the secret, so the change is reverted.
		requireSecret(t, secrets, "red")
	})
}

func TestFailedRequestsAreRetried(t *testing.T) {
	withServer(t, func(t *testing.T, server *apitest.Server, user *rest.Client) {
		server.Inject(apitest.Fault{Verb: "create", Resource: "secrets", Times: 3, Action: apitest.Fail(apierrors.NewServiceUnavailable("later"))})
		_, err := server.Create(newConfigMap("blue"))
		require.NoError(t, err)
		requireSecret(t, rest.Must(rest.For[*corev1.Secret](user, rest.ResourceOptions{})), "blue")
	})
}

func newConfigMap(color string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name, Labels: map[string]string{"mirror": "yes"}},
		Data:       map[string]string{"color": color},
	}
}

// requireSecret waits until everything has settled, and checks the secret.
func requireSecret(t *testing.T, secrets *rest.Resource[*corev1.Secret], color string) {
	t.Helper()
	time.Sleep(time.Minute)
	synctest.Wait()
	secret, err := secrets.Get(t.Context(), shop, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, color, string(secret.Data["color"]))
}
