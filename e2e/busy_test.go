package e2e_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
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
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// A server without priority and fairness handles one read and one write at a time. A read lasts
// until the client has read the whole response. A write lasts until the client has sent the whole
// body. Watches do not count.
func TestServerAtItsRequestLimit(t *testing.T) {
	useOwnCluster(t, cluster.Options{Flags: []string{
		"--enable-priority-and-fairness=false", "--max-requests-inflight=1", "--max-mutating-requests-inflight=1",
	}})
	large := strings.Repeat("more than the buffers of a connection hold. ", 20_000)
	require.NoError(t, cluster.Parallel(25, func(i int) error {
		return kube.Create(t.Context(), configMapsPath, &corev1.ConfigMap{
			ObjectMeta: inTheNamespace(fmt.Sprint("large-", i)), Data: map[string]string{"large": large},
		})
	}))
	requireBusy := func(err error) {
		t.Helper()
		require.True(t, apierrors.IsTooManyRequests(err), "%v", err)
		seconds, ok := apierrors.SuggestsClientDelay(err)
		require.True(t, ok)
		require.Positive(t, seconds)
	}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: "large-0"}

	for _, s := range everyWay(configMaps) {
		t.Run(s.String(), func(t *testing.T) {
			impatient, err := rest.NewClient(kube.Config(), rest.Options{MaxRetries: -1})
			require.NoError(t, err)
			defer impatient.Close()
			resource := newResource[*corev1.ConfigMap](impatient, s.resource, inNamespace(s.encoding))

			release := occupyReader(t)
			_, err = resource.List(t.Context(), listwatch.ListOptions{})
			requireBusy(err)
			_, err = resource.Get(t.Context(), key, metav1.GetOptions{})
			requireBusy(err)
			p := startPipeline[*corev1.ConfigMap](t, s)
			if s.mode == reflector.List {
				// A streaming list is a watch, so the limit does not apply to it.
				eventually(t, time.Minute, func() string {
					if n := p.count(apierrors.IsTooManyRequests); n < 2 {
						return fmt.Sprintf("%d refusals: %v", n, p.failures())
					}
					return ""
				})
			}
			release()
			p.waitForSync(t)
			p.requireServerState(t)
			p.stop(t)
		})
	}

	t.Run("verbs wait until the server accepts them", func(t *testing.T) {
		for name, test := range map[string]struct {
			occupy func(*testing.T) (release func())
			do     func(context.Context, *rest.Resource[*corev1.ConfigMap]) error
		}{
			"a read": {occupyReader, func(ctx context.Context, r *rest.Resource[*corev1.ConfigMap]) error {
				_, err := r.Get(ctx, key, metav1.GetOptions{})
				return err
			}},
			"a write": {occupyWriter, func(ctx context.Context, r *rest.Resource[*corev1.ConfigMap]) error {
				_, err := r.Patch(ctx, key, types.MergePatchType, []byte(`{"data":{"small":"yes"}}`), metav1.PatchOptions{})
				return err
			}},
		} {
			t.Run(name, func(t *testing.T) {
				release := test.occupy(t)
				refusals := 0
				client, err := rest.NewClient(kube.Config(), rest.Options{Observer: &rest.Observer{OnRetry: func(retry rest.RetryInfo) {
					requireBusy(retry.Err)
					require.GreaterOrEqual(t, retry.Wait, time.Second, "the client must wait for the second in Retry-After")
					if refusals++; refusals == 2 {
						release()
					}
				}}})
				require.NoError(t, err)
				defer client.Close()
				require.NoError(t, test.do(t.Context(), rest.Must(rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{}))))
				require.GreaterOrEqual(t, refusals, 2)
			})
		}
	})
}

// occupyReader keeps the server busy with a list whose response is not read, until release is
// called.
func occupyReader(t *testing.T) (release func()) {
	return occupy(t, "GET "+configMapsPath+" HTTP/1.1", "", "HTTP/1.1 200")
}

// occupyWriter keeps the server busy, because it waits for the body of a request, until release is
// called.
func occupyWriter(t *testing.T) (release func()) {
	return occupy(t, "POST "+configMapsPath+" HTTP/1.1", "Content-Type: application/json\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n", "HTTP/1.1 100")
}

// occupy sends a request over its own connection, and reads the beginning of the response. After a
// release, the server may still be busy with the previous request, so occupy retries.
func occupy(t *testing.T, request, header, response string) (release func()) {
	t.Helper()
	trusted := x509.NewCertPool()
	ca, err := os.ReadFile(kube.CAFile())
	require.NoError(t, err)
	require.True(t, trusted.AppendCertsFromPEM(ca))
	address := strings.TrimPrefix(kube.URL(), "https://")
	var conn net.Conn
	eventually(t, time.Minute, func() string {
		conn, err = tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", address, &tls.Config{RootCAs: trusted})
		require.NoError(t, err)
		_, err = fmt.Fprintf(conn, "%s\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s\r\n", request, address, currentToken(t), header)
		require.NoError(t, err)
		start := make([]byte, len(response))
		_, err = io.ReadFull(conn, start)
		require.NoError(t, err)
		if string(start) == response {
			return ""
		}
		_ = conn.Close()
		return fmt.Sprintf("%q instead of %q", start, response)
	})
	t.Cleanup(func() { _ = conn.Close() })
	return func() { _ = conn.Close() }
}

// With priority and fairness, a flow without a share may have one request at a time. Meanwhile the
// server refuses all other requests of the flow, including streaming lists.
func TestAFullPriorityLevelRejects(t *testing.T) {
	const (
		levels  = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"
		schemas = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
	)
	require.NoError(t, kube.Create(t.Context(), levels, map[string]any{
		"metadata": map[string]any{"name": "no-seats"},
		"spec": map[string]any{"type": "Limited", "limited": map[string]any{
			"nominalConcurrencyShares": 0, "lendablePercent": 0, "borrowingLimitPercent": 0,
			"limitResponse": map[string]any{"type": "Reject"},
		}},
	}))
	defer func() { require.NoError(t, kube.Delete(t.Context(), levels+"/no-seats")) }()
	user := map[string]any{"kind": "ServiceAccount", "serviceAccount": map[string]any{"namespace": cluster.Namespace, "name": "kinform"}}
	schema := map[string]any{
		"metadata": map[string]any{"name": "no-seats"},
		"spec": map[string]any{
			"priorityLevelConfiguration": map[string]any{"name": "no-seats"}, "matchingPrecedence": 2,
			"rules": []map[string]any{{
				"subjects": []map[string]any{user},
				"resourceRules": []map[string]any{{
					"verbs": []string{"*"}, "apiGroups": []string{""}, "resources": []string{"configmaps"}, "namespaces": []string{"*"},
				}},
			}},
		},
	}
	for _, s := range everyWay(configMaps) {
		t.Run(s.String(), func(t *testing.T) {
			require.NoError(t, kube.Create(t.Context(), schemas, schema))
			defer func() { require.NoError(t, kube.Delete(t.Context(), schemas+"/no-seats")) }()
			client, err := rest.NewClient(kube.Config(), rest.Options{MaxRetries: -1})
			require.NoError(t, err)
			maps := rest.Must(rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{}))
			var release func()
			eventually(t, time.Minute, func() string {
				// The server applies the flow schema some time after its creation.
				release = occupyWriter(t)
				_, err := maps.Get(t.Context(), types.NamespacedName{Namespace: cluster.Namespace, Name: "any"}, metav1.GetOptions{})
				if apierrors.IsTooManyRequests(err) {
					return ""
				}
				release()
				return fmt.Sprintf("the server lets everything through: %v", err)
			})
			client.Close()

			p := startPipeline[*corev1.ConfigMap](t, s)
			begin := time.Now()
			eventually(t, time.Minute, func() string {
				if n := p.count(apierrors.IsTooManyRequests); n < 3 {
					return fmt.Sprintf("%d refusals: %v", n, p.failures())
				}
				return ""
			})
			require.GreaterOrEqual(t, time.Since(begin), 2*time.Second, "the client must wait for the second in Retry-After")
			require.Zero(t, p.informer.Store().Len())
			release()
			p.waitForSync(t)
			p.requireServerState(t)
			p.stop(t)
		})
	}
}
