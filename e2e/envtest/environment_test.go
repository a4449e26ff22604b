package envtest_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func init() { ctrl.SetLogger(logr.Discard()) }

// environment returns an Environment that uses kinform's programs.
func environment() *envtest.Environment {
	return &envtest.Environment{BinaryAssetsDirectory: assets, UseExistingCluster: ptr.To(false)}
}

// begin starts an Environment that runs until the test ends.
func begin(t *testing.T, env *envtest.Environment) client.Client {
	t.Helper()
	config, err := env.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, env.Stop()) })
	return open(t, config)
}

func open(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{})
	require.NoError(t, err)
	return c
}

// warnings collects the warnings of a server.
type warnings struct {
	mu   sync.Mutex // guards following
	seen []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, text)
}

func TestDefinitionsAndWebhooks(t *testing.T) {
	env := environment()
	env.CRDDirectoryPaths, env.ErrorIfCRDPathMissing = []string{filepath.Join(guestbook, "config", "crd", "bases")}, true
	hook := admissionv1.ValidatingWebhook{
		Name: "deny.example.com", SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Name: "nowhere", Namespace: "default", Path: ptr.To("/deny")}},
		Rules: []admissionv1.RuleWithOperations{{
			Operations: []admissionv1.OperationType{admissionv1.OperationAll},
			Rule:       admissionv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}},
		}},
	}
	env.WebhookInstallOptions.ValidatingWebhooks = []*admissionv1.ValidatingWebhookConfiguration{
		{ObjectMeta: metav1.ObjectMeta{Name: "deny"}, Webhooks: []admissionv1.ValidatingWebhook{hook}},
	}
	begin(t, env)
	said := &warnings{}
	config := rest.CopyConfig(env.Config)
	config.WarningHandler = said
	c := open(t, config)

	// The server validates the schema. It does not call the webhook, which would refuse every
	// request, and sends a warning about this.
	kind := schema.GroupVersionKind{Group: "web.example.com", Version: "v1", Kind: "Guestbook"}
	book := &unstructured.Unstructured{}
	book.SetGroupVersionKind(kind)
	book.SetNamespace("default")
	book.SetName("book")
	require.NoError(t, unstructured.SetNestedField(book.Object, int64(1), "spec", "foo"))
	require.True(t, apierrors.IsInvalid(c.Create(t.Context(), book)), "the server must refuse a number for foo, which is a string")
	require.NoError(t, unstructured.SetNestedField(book.Object, "bar", "spec", "foo"))
	require.NoError(t, c.Create(t.Context(), book))
	var stored admissionv1.ValidatingWebhookConfiguration
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "deny"}, &stored))
	require.NotEmpty(t, stored.Webhooks[0].ClientConfig.CABundle, "envtest must have set the CA bundle")
	require.NoError(t, c.Update(t.Context(), &stored))
	require.Equal(t, []string{"ValidatingWebhookConfiguration is stored and has no effect: kinform's API server has no admission"}, said.seen)
}

func TestUsers(t *testing.T) {
	env := environment()
	begin(t, env)
	jane, err := env.AddUser(envtest.User{Name: "jane", Groups: []string{"developers"}}, nil)
	require.NoError(t, err)
	c := open(t, jane.Config())
	self := &authenticationv1.SelfSubjectReview{}
	require.NoError(t, c.Create(t.Context(), self))
	require.Equal(t, "jane", self.Status.UserInfo.Username)
	require.ElementsMatch(t, []string{"developers", "system:authenticated"}, self.Status.UserInfo.Groups)
	require.NoError(t, c.List(t.Context(), &corev1.SecretList{}), "the server must not check permissions")

	nobody := rest.AnonymousClientConfig(env.Config)
	require.True(t, apierrors.IsForbidden(open(t, nobody).List(t.Context(), &corev1.SecretList{})))

	kubectl, err := jane.Kubectl()
	require.NoError(t, err)
	_, stderr, err := kubectl.Run("get", "pods")
	require.Error(t, err)
	text, err := io.ReadAll(stderr)
	require.NoError(t, err)
	require.Equal(t, "kubectl: kinform has no kubectl: name a real one with TEST_ASSET_KUBECTL=/path/of/kubectl\n", string(text))
}

// Two control planes run at once, and each listens at its configured address. A control plane
// always starts empty: after a stop, and with files of another etcd in its directory.
func TestTwoControlPlanesRestart(t *testing.T) {
	other := begin(t, environment())
	env := environment()
	left := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(left, "member"), []byte("of another etcd"), 0o600))
	env.ControlPlane.Etcd = &envtest.Etcd{DataDir: left}
	server := env.ControlPlane.GetAPIServer()
	server.Configure().Set("runtime-config", "api/all=true").Append("feature-gates", "AllAlpha=false").Set("v", "2").
		Set("enable-admission-plugins", "NamespaceLifecycle")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server.SecureServing.Address, server.SecureServing.Port = "127.0.0.1", strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	require.NoError(t, l.Close())
	marker := client.ObjectKey{Namespace: "default", Name: "mark"}
	for range 2 {
		config, err := env.Start()
		require.NoError(t, err)
		require.Equal(t, "https://"+l.Addr().String()+"/", config.Host)
		c := open(t, config)
		require.NoError(t, c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: marker.Namespace, Name: marker.Name}}))
		require.True(t, apierrors.IsNotFound(other.Get(t.Context(), marker, &corev1.ConfigMap{})))
		watching, err := client.NewWithWatch(config, client.Options{})
		require.NoError(t, err)
		watch, err := watching.Watch(context.Background(), &corev1.ConfigMapList{})
		require.NoError(t, err, "an open watch must not keep the control plane from stopping")
		require.NoError(t, env.Stop())
		for range watch.ResultChan() {
		}
		require.Error(t, c.Get(t.Context(), marker, &corev1.ConfigMap{}))
	}
}

func TestUnknownFlagsAreErrors(t *testing.T) {
	var said bytes.Buffer
	env := environment()
	env.ControlPlane.GetAPIServer().Configure().Set("no-such-flag", "x")
	env.ControlPlane.GetAPIServer().Err = &said
	_, err := env.Start()
	require.ErrorContains(t, err, "kube-apiserver")
	require.Contains(t, said.String(), "kube-apiserver: unknown flag: --no-such-flag: kube-apiserver --help lists the flags\n")
}
