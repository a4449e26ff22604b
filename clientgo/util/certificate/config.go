package certificate

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"time"

	certificates "k8s.io/api/certificates/v1"
	clientset "k8s.io/client-go/kubernetes"
)

// Manager has a certificate, and replaces it before it expires. Its methods may be called from several goroutines.
type Manager interface {
	// Start begins to replace certificates, in a goroutine, until Stop. It is called once.
	Start()
	// Stop ends that. It does not wait for a request that is under way, which ends soon.
	Stop()
	// Current returns the certificate, nil if there is none or it has expired.
	Current() *tls.Certificate
	// ServerHealthy reports whether the server answered the last request as one that works does.
	ServerHealthy() bool
}

// Config is what a Manager works with. CertificateStore, and Usages or GetUsages, are needed.
type Config struct {
	// ClientsetFn returns the client for requests. It gets the certificate, if there is one that is valid, and is not
	// called twice at the same time.
	ClientsetFn ClientsetFunc
	// Template is what certificates are for, as of x509.CreateCertificateRequest.
	Template *x509.CertificateRequest
	// GetTemplate, if it is set, is asked instead, also whether the certificate still fits. While it returns nil, no
	// certificate is requested.
	GetTemplate func() *x509.CertificateRequest
	// SignerName is the name of the signer.
	SignerName string
	// RequestedCertificateLifetime is a wish, which the signer may ignore. Nil means none.
	RequestedCertificateLifetime *time.Duration
	// Usages are those of certificates. It excludes GetUsages.
	Usages []certificates.KeyUsage
	// GetUsages returns them for a key. It excludes Usages.
	GetUsages func(privateKey interface{}) []certificates.KeyUsage
	// CertificateStore keeps the certificate and its key.
	CertificateStore Store
	// BootstrapCertificatePEM and BootstrapKeyPEM are used if the store has nothing, and are replaced at once.
	BootstrapCertificatePEM []byte
	BootstrapKeyPEM         []byte `datapolicy:"security-key"`
	// CertificateRotation is told how many seconds old a certificate was when it was replaced. May be nil.
	CertificateRotation Histogram
	// CertificateRenewFailure counts failures. May be nil.
	CertificateRenewFailure Counter
	// GenerateKey makes a key, of ECDSA with 256 bits or RSA with 2048 bits at least. Defaults to ECDSA P-256.
	GenerateKey func() (crypto.Signer, error)
	// Name is that of the logs. Defaults to SignerName, or to a word about Usages.
	Name string
	// Ctx, if it is set, ends the Manager like Stop, and has its logger.
	Ctx *context.Context
}

// Store keeps a certificate and its key.
type Store interface {
	// Current returns them. If there are none, the error is a *NoCertKeyError.
	Current() (*tls.Certificate, error)
	// Update takes others, in PEM, and returns them as Current does from now on.
	Update(cert, key []byte) (*tls.Certificate, error)
}

// Gauge is told a number.
type Gauge interface {
	Set(float64)
}

// Histogram is told numbers.
type Histogram interface {
	Observe(float64)
}

// Counter counts.
type Counter interface {
	Inc()
}

// NoCertKeyError says that there is no certificate with a key.
type NoCertKeyError string

func (e *NoCertKeyError) Error() string { return string(*e) }

// ClientsetFunc returns a client, which may use the certificate, if that is not nil.
type ClientsetFunc func(current *tls.Certificate) (clientset.Interface, error)

// The usages of a kubelet's certificates. Keys of RSA encipher keys as well.
var (
	DefaultKubeletServingGetUsages = func(privateKey interface{}) []certificates.KeyUsage {
		return usages(privateKey, certificates.UsageServerAuth)
	}
	DefaultKubeletClientGetUsages = func(privateKey interface{}) []certificates.KeyUsage {
		return usages(privateKey, certificates.UsageClientAuth)
	}
)

func usages(key any, of certificates.KeyUsage) []certificates.KeyUsage {
	if _, ok := key.(*rsa.PrivateKey); ok {
		return []certificates.KeyUsage{certificates.UsageDigitalSignature, certificates.UsageKeyEncipherment, of}
	}
	return []certificates.KeyUsage{certificates.UsageDigitalSignature, of}
}

// usages returns the function that says the usages.
func (c *Config) usages() (func(any) []certificates.KeyUsage, error) {
	switch {
	case c.GetUsages != nil && c.Usages != nil:
		return nil, errors.New("cannot specify both GetUsages and Usages")
	case c.GetUsages != nil:
		return c.GetUsages, nil
	case c.Usages != nil:
		return func(any) []certificates.KeyUsage { return c.Usages }, nil
	default:
		return nil, errors.New("either GetUsages or Usages should be specified")
	}
}

// name returns that of logs.
func (c *Config) name(usages func(any) []certificates.KeyUsage) string {
	switch {
	case c.Name != "":
		return c.Name
	case c.SignerName != "":
		return c.SignerName
	case slices.Contains(usages(nil), certificates.UsageClientAuth):
		return string(certificates.UsageClientAuth)
	default:
		return "certificate"
	}
}
