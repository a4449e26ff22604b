package certificate_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/keyutil"
)

// certificateAuthority signs certificate requests like a signer in a cluster.
type certificateAuthority struct {
	t      *testing.T
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	life   time.Duration
	signed atomic.Int64
	deny   atomic.Bool
}

func newCertificateAuthority(t *testing.T, life time.Duration) *certificateAuthority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &certificateAuthority{t: t, cert: cert, key: key, life: life}
}

// issue returns the certificate for a request, in PEM.
func (a *certificateAuthority) issue(request []byte) []byte {
	block, _ := pem.Decode(request)
	r, err := x509.ParseCertificateRequest(block.Bytes)
	require.NoError(a.t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(1 + a.signed.Add(1)), Subject: r.Subject, DNSNames: r.DNSNames, IPAddresses: r.IPAddresses,
		NotBefore: time.Now(), NotAfter: time.Now().Add(a.life),
	}, a.cert, r.PublicKey, a.key)
	require.NoError(a.t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// pair returns a certificate and its key.
func (a *certificateAuthority) pair(name string) (cert, key []byte) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}, k)
	require.NoError(a.t, err)
	key, err = keyutil.MarshalPrivateKeyToPEM(k)
	require.NoError(a.t, err)
	return a.issue(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request})), key
}

// signRequests approves or denies all requests, once a second, until ctx ends.
func (a *certificateAuthority) signRequests(ctx context.Context, client kubernetes.Interface) {
	requests := client.CertificatesV1().CertificateSigningRequests()
	for tick := time.NewTicker(time.Second); ; {
		all, err := requests.List(ctx, metav1.ListOptions{})
		require.NoError(a.t, err)
		for _, r := range all.Items {
			if len(r.Status.Conditions) > 0 {
				continue
			}
			what := certificatesv1.CertificateApproved
			if a.deny.Load() {
				what = certificatesv1.CertificateDenied
			} else {
				r.Status.Certificate = a.issue(r.Spec.Request)
			}
			r.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: what, Status: "True", Reason: "Test", Message: "so"}}
			_, err := requests.Update(ctx, &r, metav1.UpdateOptions{})
			require.NoError(a.t, err)
		}
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
	}
}
