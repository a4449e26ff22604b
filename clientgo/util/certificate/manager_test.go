//go:build !kinform_no_openapi

package certificate_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/util/certificate"
)

// metricRecorder is both a Histogram and a Counter.
type metricRecorder struct {
	count atomic.Int64
	last  atomic.Int64
}

func (n *metricRecorder) Observe(seconds float64) { n.count.Add(1); n.last.Store(int64(seconds)) }
func (n *metricRecorder) Inc()                    { n.count.Add(1) }

// managerFixture is a manager, an authority and a file store.
type managerFixture struct {
	*certificateAuthority
	certificate.Manager
	store              certificate.FileStore
	config             *certificate.Config
	client             *fake.Clientset
	template           atomic.Pointer[x509.CertificateRequest]
	rotations, renewal metricRecorder
	got                atomic.Pointer[tls.Certificate] // argument of the last ClientsetFn
}

// withManager starts a manager, and an authority whose certificates are valid for ten minutes.
func withManager(t *testing.T, change func(*managerFixture), test func(*testing.T, *managerFixture)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := &managerFixture{certificateAuthority: newCertificateAuthority(t, 10*time.Minute), client: fake.NewClientset()}
		r.template.Store(&x509.CertificateRequest{Subject: pkix.Name{CommonName: "me", Organization: []string{"us"}}, DNSNames: []string{"me.example"}})
		assignNames(r.client)
		var err error
		r.store, err = certificate.NewFileStore("client", dir, dir, "", "")
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		r.config = &certificate.Config{
			ClientsetFn: func(current *tls.Certificate) (kubernetes.Interface, error) {
				r.got.Store(current)
				return r.client, nil
			},
			GetTemplate: r.template.Load, SignerName: "example.com/signer", GetUsages: certificate.DefaultKubeletClientGetUsages,
			CertificateStore: r.store, CertificateRotation: &r.rotations, CertificateRenewFailure: &r.renewal, Ctx: &ctx,
		}
		if change != nil {
			change(r)
		}
		r.Manager, err = certificate.NewManager(r.config)
		require.NoError(t, err)
		var working sync.WaitGroup
		working.Go(func() { r.signRequests(ctx, r.client) })
		test(t, r)
		stop()
		working.Wait()
		time.Sleep(time.Minute)
	})
}

// assignNames makes a fake assign names and UIDs, as a server does.
func assignNames(client *fake.Clientset) {
	var made atomic.Int64
	client.PrependReactor("create", "certificatesigningrequests", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		r := action.(clientgotesting.CreateAction).GetObject().(*certificatesv1.CertificateSigningRequest)
		n := strconv.FormatInt(made.Add(1), 10)
		if r.Name == "" {
			r.Name = r.GenerateName + n
		}
		r.UID = types.UID("uid-" + n)
		return false, nil, nil
	})
}

// sleepAndSettle sleeps for d, and then until all goroutines are idle.
func sleepAndSettle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestACertificateIsRequestedAndRotatedBeforeItExpires(t *testing.T) {
	withManager(t, nil, func(t *testing.T, r *managerFixture) {
		require.Nil(t, r.Current())
		require.False(t, r.ServerHealthy())
		r.Start()
		sleepAndSettle(10 * time.Second)
		first := r.Current()
		require.NotNil(t, first)
		require.True(t, r.ServerHealthy())
		require.Equal(t, "me", first.Leaf.Subject.CommonName)
		require.IsType(t, &ecdsa.PrivateKey{}, first.PrivateKey)
		stored, err := r.store.Current()
		require.NoError(t, err)
		require.Equal(t, first.Certificate, stored.Certificate)
		require.Zero(t, r.rotations.count.Load())

		sleepAndSettle(7*time.Minute - 15*time.Second)
		require.Equal(t, int64(1), r.signed.Load(), "before 70 % of its lifetime, the certificate is not replaced")
		sleepAndSettle(2*time.Minute + 20*time.Second)
		require.Equal(t, int64(2), r.signed.Load(), "after 90 % of its lifetime, the certificate has been replaced")
		require.NotEqual(t, first.Certificate, r.Current().Certificate)
		require.Equal(t, int64(1), r.rotations.count.Load())
		require.InDelta(t, (8 * time.Minute).Seconds(), r.rotations.last.Load(), 75)
		require.NotNil(t, r.got.Load(), "ClientsetFn gets the valid certificate")

		r.Stop()
		sleepAndSettle(20 * time.Minute)
		require.Equal(t, int64(2), r.signed.Load())
		require.Nil(t, r.Current(), "the certificate has expired")
	})
}

func TestTheBootstrapCertificateIsReplacedAtOnce(t *testing.T) {
	withManager(t, func(r *managerFixture) {
		r.config.BootstrapCertificatePEM, r.config.BootstrapKeyPEM = r.pair("anybody")
	}, func(t *testing.T, r *managerFixture) {
		require.Equal(t, "anybody", r.Current().Leaf.Subject.CommonName)
		_, err := r.store.Current()
		require.NoError(t, err, "the bootstrap certificate is stored")
		r.Start()
		sleepAndSettle(10 * time.Second)
		require.Equal(t, "me", r.Current().Leaf.Subject.CommonName)
		require.Equal(t, "anybody", r.got.Load().Leaf.Subject.CommonName)
	})
}

func TestACertificateOfTheStoreIsUsed(t *testing.T) {
	withManager(t, func(r *managerFixture) {
		r.template.Store(&x509.CertificateRequest{Subject: pkix.Name{CommonName: "stored"}})
		_, err := r.store.Update(r.pair("stored"))
		require.NoError(r.t, err)
		r.config.BootstrapCertificatePEM, r.config.BootstrapKeyPEM = r.pair("anybody")
	}, func(t *testing.T, r *managerFixture) {
		require.Equal(t, "stored", r.Current().Leaf.Subject.CommonName)
		before := r.signed.Load()
		r.Start()
		sleepAndSettle(5 * time.Minute)
		require.Equal(t, before, r.signed.Load())
	})
}

func TestAChangedTemplateIsRequested(t *testing.T) {
	withManager(t, nil, func(t *testing.T, r *managerFixture) {
		r.Start()
		sleepAndSettle(10 * time.Second)
		for n, template := range []*x509.CertificateRequest{
			{Subject: pkix.Name{CommonName: "you"}},
			{Subject: pkix.Name{CommonName: "you"}, DNSNames: []string{"you.example"}},
			{Subject: pkix.Name{CommonName: "you"}, DNSNames: []string{"you.example"}, IPAddresses: []net.IP{net.IPv4(10, 0, 0, 1)}},
			{Subject: pkix.Name{CommonName: "you", Organization: []string{"them"}}, DNSNames: []string{"you.example"}},
		} {
			r.template.Store(template)
			sleepAndSettle(10 * time.Second)
			require.Equal(t, int64(n+2), r.signed.Load())
			require.Equal(t, template.DNSNames, r.Current().Leaf.DNSNames)
		}
		r.template.Store(&x509.CertificateRequest{Subject: pkix.Name{CommonName: "you"}})
		sleepAndSettle(5 * time.Minute)
		require.Equal(t, int64(5), r.signed.Load(), "the certificate has everything that the template requires")
		r.template.Store(nil)
		sleepAndSettle(5 * time.Minute)
		require.Equal(t, int64(5), r.signed.Load(), "without a template, no certificate is requested")
	})
}

func TestFailuresAreCountedAndRetried(t *testing.T) {
	withManager(t, nil, func(t *testing.T, r *managerFixture) {
		r.deny.Store(true)
		handledBefore := handled.Load()
		r.Start()
		sleepAndSettle(3 * time.Minute)
		denied := r.renewal.count.Load()
		require.Equal(t, handledBefore+denied, handled.Load(), "the program's error handlers get each failure")
		require.InDelta(t, 8, denied, 3, "requests follow after 2, 4, 8 and 16 s, and then every 32 s")
		require.Nil(t, r.Current())
		r.deny.Store(false)
		sleepAndSettle(time.Minute)
		require.NotNil(t, r.Current())
	})
}

func TestWithoutATemplateNothingIsRequested(t *testing.T) {
	withManager(t, func(r *managerFixture) { r.template.Store(nil) }, func(t *testing.T, r *managerFixture) {
		r.Start()
		sleepAndSettle(time.Minute)
		require.Zero(t, r.renewal.count.Load(), "a missing template is not a failure")
		require.Zero(t, r.signed.Load())
		r.template.Store(&x509.CertificateRequest{Subject: pkix.Name{CommonName: "me"}})
		sleepAndSettle(10 * time.Second)
		require.NotNil(t, r.Current())
	})
}

func TestAShortKeyIsNotUsed(t *testing.T) {
	for name, c := range map[string]struct {
		generate func() (crypto.Signer, error)
		used     bool
	}{
		"P-224":    {func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P224(), rand.Reader) }, false},
		"P-384":    {func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P384(), rand.Reader) }, true},
		"RSA 1024": {func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, 1024) }, false},
		"RSA 2048": {func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, 2048) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			withManager(t, func(r *managerFixture) { r.config.GenerateKey = c.generate }, func(t *testing.T, r *managerFixture) {
				r.Start()
				sleepAndSettle(time.Minute)
				require.Equal(t, c.used, r.Current() != nil)
				require.Equal(t, !c.used, r.renewal.count.Load() > 0)
			})
		})
	}
}

func TestInvalidConfigsAreRefused(t *testing.T) {
	store, err := certificate.NewFileStore("x", t.TempDir(), t.TempDir(), "", "")
	require.NoError(t, err)
	some := []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth}
	_, err = certificate.NewManager(&certificate.Config{CertificateStore: store})
	require.EqualError(t, err, "either GetUsages or Usages should be specified")
	_, err = certificate.NewManager(&certificate.Config{CertificateStore: store, Usages: some, GetUsages: certificate.DefaultKubeletClientGetUsages})
	require.EqualError(t, err, "cannot specify both GetUsages and Usages")
	_, err = certificate.NewManager(&certificate.Config{CertificateStore: store, Usages: some, BootstrapCertificatePEM: []byte("x"), BootstrapKeyPEM: []byte("y")})
	require.Error(t, err)
	_, err = certificate.NewManager(&certificate.Config{CertificateStore: brokenStore{}, Usages: some})
	require.EqualError(t, err, "disk full")
	m, err := certificate.NewManager(&certificate.Config{CertificateStore: store, Usages: some})
	require.NoError(t, err)
	m.Start() // does nothing without a ClientsetFn
	m.Stop()
}

type brokenStore struct{ certificate.Store }

func (brokenStore) Current() (*tls.Certificate, error) { return nil, errors.New("disk full") }

func TestUsagesOfAKubelet(t *testing.T) {
	require.Equal(t, []certificatesv1.KeyUsage{"digital signature", "client auth"}, certificate.DefaultKubeletClientGetUsages(&ecdsa.PrivateKey{}))
	require.Equal(t, []certificatesv1.KeyUsage{"digital signature", "key encipherment", "server auth"}, certificate.DefaultKubeletServingGetUsages(&rsa.PrivateKey{}))
}
