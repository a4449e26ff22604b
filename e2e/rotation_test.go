package e2e_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/rest"
)

// whoami returns the user that the server has authenticated. The request is a POST, so the client
// does not repeat it after a lost connection.
func whoami(ctx context.Context, client *rest.Client) (string, error) {
	question, err := json.Marshal(&authenticationv1.SelfSubjectReview{TypeMeta: metav1.TypeMeta{
		APIVersion: authenticationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectReview",
	}})
	if err != nil {
		return "", err
	}
	response, err := client.Raw(ctx, http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", rest.RawOptions{Body: question})
	if err != nil {
		return "", err
	}
	var review authenticationv1.SelfSubjectReview
	err = json.Unmarshal(response, &review)
	return review.Status.UserInfo.Username, err
}

func requireUser(t *testing.T, want string, client *rest.Client) {
	t.Helper()
	user, err := whoami(t.Context(), client)
	require.NoError(t, err)
	require.Equal(t, want, user)
}

func writeFile(t *testing.T, name string, content []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(name+".new", content, 0o600))
	require.NoError(t, os.Rename(name+".new", name))
}

// The server checks a client certificate at every request, even on an open connection. After the
// certificate has expired, the server refuses requests with 401, but an open watch continues.
func TestClientCertificateIsRotatedUnderAnOpenWatch(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	issue := func(user string, lifetime time.Duration) {
		cert, key, err := kube.ClientCertificate(user, lifetime)
		require.NoError(t, err)
		writeFile(t, keyFile, key)
		writeFile(t, certFile, cert)
	}
	s := pods
	s.configure = func(config *rest.Config) {
		config.BearerTokenFile = ""
		config.TLS.CertFile, config.TLS.KeyFile, config.TLS.KeyPair = certFile, keyFile, tls.X509KeyPair
	}
	const lifetime = 15 * time.Second
	begin := time.Now()
	issue("alice", lifetime)
	p := startPipeline[*corev1.Pod](t, s)
	p.waitForSync(t)
	requireUser(t, "alice", p.client)
	changes := podChurn()
	stop := changes.start(t)
	issue("bob", time.Hour)
	requireUser(t, "alice", p.client)
	// Certificates have times in whole seconds.
	time.Sleep(time.Until(begin.Add(lifetime + 2*time.Second)))
	requireUser(t, "bob", p.client)
	require.NotZero(t, p.client.Stats().Retries, "the server must have refused the expired certificate with 401")
	stop()
	p.requireServerState(t)
	require.Empty(t, p.failures(), "the watch must continue")

	p.network.Cut()
	changes.steps(t, 50)
	p.network.Heal()
	p.requireServerState(t)
	require.Zero(t, p.count(apierrors.IsUnauthorized), "%v", p.failures())
	p.stop(t)
}

func TestServerRestartsWithACertificateOfANewCA(t *testing.T) {
	for _, s := range everyWay(pods) {
		t.Run(s.String(), func(t *testing.T) {
			s.configure = func(config *rest.Config) { config.TLS = rest.TLSConfig{CAFile: kube.CAFile()} }
			p := startPipeline[*corev1.Pod](t, s)
			p.waitForSync(t)
			stop := podChurn().start(t)
			time.Sleep(200 * time.Millisecond)
			require.NoError(t, kube.KillAPIServer())
			stop()
			require.NoError(t, kube.RotateCA())
			begin := time.Now()
			require.NoError(t, kube.StartAPIServer(t.Context()))
			podChurn().steps(t, 50)
			p.requireServerState(t)
			t.Logf("%v from the start of the server to its state in the store; %v", time.Since(begin), p.failures())
			requireUser(t, "system:serviceaccount:"+cluster.Namespace+":kinform", p.client)
			p.stop(t)
		})
	}
}

// The client trusts only the authorities that are in the file, even on a server that it trusted
// before.
func TestAServerOfAnUnknownCAIsNotTrusted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.crt")
	before, err := os.ReadFile(kube.CAFile())
	require.NoError(t, err)
	writeFile(t, file, before)
	config := kube.Config()
	config.TLS = rest.TLSConfig{CAFile: file}
	client := newClient(t, config)
	_, err = whoami(t.Context(), client)
	require.NoError(t, err)

	require.NoError(t, kube.KillAPIServer())
	require.NoError(t, kube.RotateCA())
	require.NoError(t, kube.StartAPIServer(t.Context()))
	var untrusted *tls.CertificateVerificationError
	for range 3 {
		_, err = whoami(t.Context(), client)
		require.Error(t, err)
	}
	require.ErrorAs(t, err, &untrusted)
	after, err := os.ReadFile(kube.CAFile())
	require.NoError(t, err)
	writeFile(t, file, append(before, after...))
	_, err = whoami(t.Context(), client)
	require.NoError(t, err, "the client must trust both authorities as soon as the file has them")
}
