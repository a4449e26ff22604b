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

// Manager holds a certificate and replaces it before it expires. It is safe for concurrent use.
type Manager interface {
	// Start starts a goroutine that replaces certificates until Stop. It may be called once.
	Start()
	// Stop ends the goroutine. It does not wait for the goroutine, which ends soon.
	Stop()
	// Current returns the certificate, or nil if there is no valid certificate.
	Current() *tls.Certificate
	// ServerHealthy reports whether the last response came from a working server.
	ServerHealthy() bool
}

// Config configures a Manager. CertificateStore, and either Usages or GetUsages, are required.
type Config struct {
	// ClientsetFn returns the client for requests. Its argument is the certificate, or nil if there
	// is no valid certificate. It is not called concurrently.
	ClientsetFn ClientsetFunc
	// Template is the template of certificate requests, as for x509.CreateCertificateRequest.
	Template *x509.CertificateRequest
	// GetTemplate, if set, replaces Template. It is also called to check whether the current
	// certificate still matches the template. As long as it returns nil, no certificate is
	// requested.
	GetTemplate func() *x509.CertificateRequest
	// SignerName is the name of the signer.
	SignerName string
	// RequestedCertificateLifetime is the lifetime to request, which the signer may ignore. nil
	// means that no lifetime is requested.
	RequestedCertificateLifetime *time.Duration
	// Usages are the usages of certificates. It cannot be combined with GetUsages.
	Usages []certificates.KeyUsage
	// GetUsages returns the usages for a key. It cannot be combined with Usages.
	GetUsages func(privateKey interface{}) []certificates.KeyUsage
	// CertificateStore stores the certificate and its key.
	CertificateStore Store
	// BootstrapCertificatePEM and BootstrapKeyPEM are used if the store is empty. The Manager then
	// requests another certificate at once.
	BootstrapCertificatePEM []byte
	BootstrapKeyPEM         []byte `datapolicy:"security-key"`
	// CertificateRotation observes the age of a certificate at its replacement, in seconds. May be
	// nil.
	CertificateRotation Histogram
	// CertificateRenewFailure counts failed renewals. May be nil.
	CertificateRenewFailure Counter
	// GenerateKey generates an ECDSA key of at least 256 bits or an RSA key of at least 2048 bits.
	// Defaults to ECDSA P-256.
	GenerateKey func() (crypto.Signer, error)
	// Name is the name of the Manager in logs. Defaults to SignerName, or to a word that describes
	// Usages.
	Name string
	// Ctx, if set, supplies the logger. When the context ends, the Manager stops, as after Stop.
	Ctx *context.Context
}

// Store stores a certificate and its key.
type Store interface {
	// Current returns the stored certificate. If the store is empty, the error is a
	// *NoCertKeyError.
	Current() (*tls.Certificate, error)
	// Update stores a new certificate and key in PEM, and returns them. From then on, Current
	// returns the same certificate.
	Update(cert, key []byte) (*tls.Certificate, error)
}

// Gauge is a value that can be set.
type Gauge interface {
	Set(float64)
}

// Histogram records observations.
type Histogram interface {
	Observe(float64)
}

// Counter is a value that only increases.
type Counter interface {
	Inc()
}

// NoCertKeyError means that the store has no certificate and key.
type NoCertKeyError string

func (e *NoCertKeyError) Error() string { return string(*e) }

// ClientsetFunc returns a client. The client may use the certificate current, unless it is nil.
type ClientsetFunc func(current *tls.Certificate) (clientset.Interface, error)

// Usages of a kubelet's certificates. RSA keys also get the usage key encipherment.
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

// usages returns the function GetUsages, or a function that returns Usages.
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

// name returns the name for logs.
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
