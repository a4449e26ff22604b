package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

var encodings = []rest.Encoding{rest.JSON, rest.Protobuf}

func inNamespace(encoding rest.Encoding) rest.ResourceOptions {
	return rest.ResourceOptions{Namespace: cluster.Namespace, Encoding: encoding}
}

func TestAWrittenObjectCanBeReadFromTheStore(t *testing.T) {
	for _, encoding := range encodings {
		t.Run(encoding.String(), func(t *testing.T) {
			s := configMaps
			s.encoding = encoding
			p := startPipeline[*corev1.ConfigMap](t, s)
			p.waitForSync(t)
			resource := rest.Must(rest.NewResource[*corev1.ConfigMap](p.client, s.resource, inNamespace(encoding)))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for i := range 50 {
				written, err := resource.Create(ctx, &corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: fmt.Sprintf("written-%s-%d", strings.ToLower(encoding.String()), i)},
					Data:       map[string]string{"i": fmt.Sprint(i)},
				}, metav1.CreateOptions{})
				require.NoError(t, err)
				requireReadable(ctx, t, p, written)

				patch := []byte(`{"data": {"patched": "yes"}}`)
				written, err = resource.Patch(ctx, keyOf(written), types.MergePatchType, patch, metav1.PatchOptions{})
				require.NoError(t, err)
				requireReadable(ctx, t, p, written)
			}
			p.requireServerState(t)
			p.stop(t)
		})
	}
}

func requireReadable(ctx context.Context, t *testing.T, p *pipeline[*corev1.ConfigMap], written *corev1.ConfigMap) {
	t.Helper()
	require.NoError(t, p.informer.Store().WaitRV(ctx, written.ResourceVersion))
	read, ok := p.informer.Store().Get(keyOf(written))
	require.True(t, ok)
	require.Equal(t, written, read)
}

func TestVerbsReturnWhatTheServerReturns(t *testing.T) {
	for _, encoding := range encodings {
		t.Run(encoding.String(), func(t *testing.T) {
			client := newClient(t, kube.Config())
			resource := rest.Must(rest.NewResource[*corev1.Pod](client, pods.resource, inNamespace(encoding)))
			key := types.NamespacedName{Namespace: cluster.Namespace, Name: "verbs-" + strings.ToLower(encoding.String())}
			ctx := t.Context()

			_, err := resource.Get(ctx, key, metav1.GetOptions{})
			require.True(t, apierrors.IsNotFound(err), "%v", err)

			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "example.com/app"}}},
			}
			created, err := resource.Create(ctx, pod, metav1.CreateOptions{})
			require.NoError(t, err)
			require.NotEmpty(t, created.UID)
			_, err = resource.Create(ctx, pod, metav1.CreateOptions{})
			require.True(t, apierrors.IsAlreadyExists(err), "%v", err)

			invalid := pod.DeepCopy()
			invalid.Name, invalid.Spec.Containers = "invalid", nil
			_, err = resource.Create(ctx, invalid, metav1.CreateOptions{})
			require.True(t, apierrors.IsInvalid(err), "%v", err)

			running := created.DeepCopy()
			running.Status.Phase = corev1.PodRunning
			running, err = resource.UpdateStatus(ctx, running, metav1.UpdateOptions{})
			require.NoError(t, err)
			require.Equal(t, corev1.PodRunning, running.Status.Phase)

			// The version of created is older than the status.
			_, err = resource.Update(ctx, created, metav1.UpdateOptions{})
			require.True(t, apierrors.IsConflict(err), "%v", err)

			require.NoError(t, resource.Delete(ctx, key, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
			err = resource.Delete(ctx, key, metav1.DeleteOptions{})
			require.True(t, apierrors.IsNotFound(err), "%v", err)
		})
	}
}

func TestServerRefusesAnUnknownToken(t *testing.T) {
	config := kube.Config()
	config.BearerTokenFile, config.BearerToken = "", rest.NewSecret("unknown")
	resource := rest.Must(rest.NewResource[*corev1.Pod](newClient(t, config), pods.resource, inNamespace(rest.Automatic)))
	_, err := resource.List(t.Context(), listwatch.ListOptions{})
	require.True(t, apierrors.IsUnauthorized(err), "%v", err)
}

func TestTheNextPageExpiresAfterACompaction(t *testing.T) {
	configMapChurn().steps(t, 100)
	for _, encoding := range encodings {
		t.Run(encoding.String(), func(t *testing.T) {
			resource := rest.Must(rest.NewResource[*corev1.ConfigMap](newClient(t, kube.Config()), configMaps.resource, inNamespace(encoding)))
			first := readPage(t, resource, listwatch.ListOptions{Limit: 10})
			require.NotEmpty(t, first.Continue)
			require.NotZero(t, first.RemainingItemCount)
			readPage(t, resource, listwatch.ListOptions{Limit: 10, Continue: first.Continue})

			configMapChurn().steps(t, 10)
			_, err := kube.Compact(t.Context())
			require.NoError(t, err)

			_, err = resource.List(t.Context(), listwatch.ListOptions{Limit: 10, Continue: first.Continue})
			require.True(t, apierrors.IsResourceExpired(err), "%v", err)
			err = watchFrom(t, resource, first.ResourceVersion)
			require.True(t, apierrors.IsResourceExpired(err), "%v", err)
		})
	}
}

// readPage reads ten config maps.
func readPage(t *testing.T, resource *rest.Resource[*corev1.ConfigMap], opts listwatch.ListOptions) listwatch.ListMeta {
	t.Helper()
	stream, err := resource.List(t.Context(), opts)
	require.NoError(t, err)
	defer stream.Close()
	n := 0
	for {
		if _, err = stream.Next(); err != nil {
			break
		}
		n++
	}
	require.True(t, errors.Is(err, io.EOF), "%v", err)
	require.EqualValues(t, opts.Limit, n)
	return stream.Meta()
}

// watchFrom returns the first error of a watch. The server may send the error as its response or as
// the first event.
func watchFrom(t *testing.T, resource *rest.Resource[*corev1.ConfigMap], resourceVersion string) error {
	t.Helper()
	stream, err := resource.Watch(t.Context(), listwatch.WatchOptions{ResourceVersion: resourceVersion, Timeout: time.Second})
	if err != nil {
		return err
	}
	defer stream.Close()
	for err == nil {
		_, err = stream.Next()
	}
	return err
}

func newClient(t *testing.T, config rest.Config) *rest.Client {
	t.Helper()
	client, err := rest.NewClient(config, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}
