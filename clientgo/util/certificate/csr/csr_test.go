//go:build !kinform_no_openapi

//lint:file-ignore SA1019 programs compare with wait.ErrWaitTimeout

package csr_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/certificate/csr"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

var usages = []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth}

// request generates a key and a PEM request.
func request(t *testing.T, name string) (crypto.Signer, []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	data, err := certutil.MakeCSRFromTemplate(key, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}})
	require.NoError(t, err)
	return key, data
}

func TestARequestThatV1RefusesIsMadeInV1beta1(t *testing.T) {
	key, data := request(t, "me")
	for _, signer := range []string{"", certificatesv1beta1.LegacyUnknownSignerName} {
		client := fake.NewClientset()
		_, _, err := csr.RequestCertificateWithContext(t.Context(), client, data, "mine", signer, nil, usages, key)
		require.NoError(t, err)
		require.Len(t, client.Actions(), 1)
		require.Equal(t, "v1beta1", client.Actions()[0].GetResource().Version, signer)
	}
}

func TestARequestIsMadeOnce(t *testing.T) {
	client := fake.NewClientset()
	key, data := request(t, "me")
	hour := time.Hour
	ask := func(key any, data []byte, signer string) error {
		name, _, err := csr.RequestCertificateWithContext(t.Context(), client, data, "mine", signer, &hour, usages, key)
		if err == nil {
			require.Equal(t, "mine", name)
		}
		return err
	}
	require.NoError(t, ask(key, data, "example.com/a"))
	made, err := client.CertificatesV1().CertificateSigningRequests().Get(t.Context(), "mine", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, int32(3600), *made.Spec.ExpirationSeconds)
	require.Equal(t, usages, made.Spec.Usages)
	require.Equal(t, "example.com/a", made.Spec.SignerName)

	require.NoError(t, ask(key, data, "example.com/a"), "a request from before a restart of the process is reused")
	require.ErrorContains(t, ask(key, data, "example.com/b"), `csr signerNames differ: new "example.com/b", orig: "example.com/a"`)
	otherKey, otherData := request(t, "me")
	require.ErrorContains(t, ask(otherKey, otherData, "example.com/a"), "another key")
	_, otherName := request(t, "you")
	require.ErrorContains(t, ask(key, otherName, "example.com/a"), "csr subjects differ")
	require.ErrorContains(t, ask("a key", data, "example.com/a"), "not a signer")
	require.ErrorContains(t, ask(key, []byte("x"), "example.com/a"), "PEM block type must be CERTIFICATE REQUEST")
}

func TestAnOldServerGetsV1beta1Requests(t *testing.T) {
	client := fake.NewClientset()
	gone := func(clientgotesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewGenericServerResponse(http.StatusNotFound, "", certificatesv1.Resource("certificatesigningrequests"), "", "", 0, true)
	}
	client.PrependReactor("*", "certificatesigningrequests", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		if action.GetResource().Version == "v1" {
			return gone(action)
		}
		return false, nil, nil
	})
	key, data := request(t, "me")
	_, _, err := csr.RequestCertificateWithContext(t.Context(), client, data, "mine", "example.com/a", nil, usages, key)
	require.NoError(t, err)
	made, err := client.CertificatesV1beta1().CertificateSigningRequests().Get(t.Context(), "mine", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "example.com/a", *made.Spec.SignerName)
	made.Status.Certificate = []byte("issued")
	made.Status.Conditions = []certificatesv1beta1.CertificateSigningRequestCondition{{Type: certificatesv1beta1.CertificateApproved}}
	_, err = client.CertificatesV1beta1().CertificateSigningRequests().Update(t.Context(), made, metav1.UpdateOptions{})
	require.NoError(t, err)
	got, err := csr.WaitForCertificate(t.Context(), client, "mine", "")
	require.NoError(t, err)
	require.Equal(t, "issued", string(got))
}

func TestWhichChangesEndTheWait(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*certificatesv1.CertificateSigningRequest)
		want   string
	}{
		"approved": {func(r *certificatesv1.CertificateSigningRequest) {
			r.Status.Certificate = []byte("issued")
			r.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved}}
		}, ""},
		"denied": {func(r *certificatesv1.CertificateSigningRequest) {
			r.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateDenied, Reason: "R", Message: "M"}}
		}, "certificate signing request is denied, reason: R, message: M"},
		"failed": {func(r *certificatesv1.CertificateSigningRequest) {
			r.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateFailed, Reason: "R", Message: "M"}}
		}, "certificate signing request failed, reason: R, message: M"},
		"another one": {func(r *certificatesv1.CertificateSigningRequest) { r.UID = "other" }, `csr "mine" changed UIDs`},
		"deleted":     {nil, `csr "mine" was deleted`},
		"unapproved":  {func(r *certificatesv1.CertificateSigningRequest) { r.Status.Certificate = []byte("x") }, wait.ErrWaitTimeout.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(&certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "mine", UID: "uid"}})
				requests := client.CertificatesV1().CertificateSigningRequests()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				go func() {
					time.Sleep(10 * time.Second)
					if c.change == nil {
						_ = requests.Delete(ctx, "mine", metav1.DeleteOptions{})
						return
					}
					r, _ := requests.Get(ctx, "mine", metav1.GetOptions{})
					c.change(r)
					_, _ = requests.Update(ctx, r, metav1.UpdateOptions{})
				}()
				got, err := csr.WaitForCertificate(ctx, client, "mine", "uid")
				if c.want == "" {
					require.NoError(t, err)
					require.Equal(t, "issued", string(got))
				} else {
					require.ErrorContains(t, err, c.want)
				}
			})
		})
	}
}

func TestSeconds(t *testing.T) {
	require.Equal(t, int32(90), *csr.DurationToExpirationSeconds(90*time.Second + time.Millisecond))
	require.Equal(t, 90*time.Second, csr.ExpirationSecondsToDuration(90))
}
