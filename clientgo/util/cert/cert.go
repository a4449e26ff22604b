// Package cert makes, writes and reads PEM certificates, and fetches the certificates of servers.
package cert

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/util/keyutil"
)

const year = 365 * 24 * time.Hour

// Config describes a new certificate.
type Config struct {
	CommonName   string
	Organization []string
	AltNames     AltNames
	Usages       []x509.ExtKeyUsage
	NotBefore    time.Time // defaults to now
}

// AltNames are the names and addresses for which a certificate is valid.
type AltNames struct {
	DNSNames []string
	IPs      []net.IP
}

// NewSelfSignedCACert returns the certificate of a new CA, valid for ten years.
func NewSelfSignedCACert(cfg Config, key crypto.Signer) (*x509.Certificate, error) {
	begin := time.Now().UTC()
	if !cfg.NotBefore.IsZero() {
		begin = cfg.NotBefore.UTC()
	}
	template, err := caTemplate(begin, time.Now().UTC().Add(10*year))
	if err != nil {
		return nil, err
	}
	template.Subject = pkix.Name{CommonName: cfg.CommonName, Organization: cfg.Organization}
	template.DNSNames = []string{cfg.CommonName}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// caTemplate returns the template of a CA certificate.
func caTemplate(begin, end time.Time) (*x509.Certificate, error) {
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber:          serial,
		NotBefore:             begin,
		NotAfter:              end,
		KeyUsage:              x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}, nil
}

// newSerial returns a random number other than 0.
func newSerial() (*big.Int, error) {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 63))
	if err != nil {
		return nil, err
	}
	return n.Add(n, big.NewInt(1)), nil
}

// SelfSignedCertKeyOptions are the options of a new server certificate.
type SelfSignedCertKeyOptions struct {
	// Host is the server's name or address. Required.
	Host string
	// AlternateIPs and AlternateDNS are further addresses and names of the server.
	AlternateIPs []net.IP
	AlternateDNS []string
	// MaxAge is the lifetime of the certificate. Defaults to one year. It is ignored if
	// FixtureDirectory is set.
	MaxAge time.Duration
	// FixtureDirectory is a folder for tests. If the folder has the files HOST_IP-IP_NAME-NAME.crt
	// and .key, the certificate in them is reused. Otherwise a new certificate, valid for a hundred
	// years, is written to these files.
	FixtureDirectory string
}

// GenerateSelfSignedCertKey returns a certificate that is valid for a year, followed by its CA
// certificate. The second result is the key of the certificate.
func GenerateSelfSignedCertKey(host string, alternateIPs []net.IP, alternateDNS []string) ([]byte, []byte, error) {
	return GenerateSelfSignedCertKeyWithOptions(SelfSignedCertKeyOptions{Host: host, AlternateIPs: alternateIPs, AlternateDNS: alternateDNS})
}

// GenerateSelfSignedCertKeyWithFixtures is GenerateSelfSignedCertKey with a FixtureDirectory.
func GenerateSelfSignedCertKeyWithFixtures(host string, alternateIPs []net.IP, alternateDNS []string, fixtureDirectory string) ([]byte, []byte, error) {
	return GenerateSelfSignedCertKeyWithOptions(SelfSignedCertKeyOptions{Host: host, AlternateIPs: alternateIPs, AlternateDNS: alternateDNS, FixtureDirectory: fixtureDirectory})
}

// GenerateSelfSignedCertKeyWithOptions returns a certificate, followed by its CA certificate. The
// second result is the key of the certificate.
func GenerateSelfSignedCertKeyWithOptions(opts SelfSignedCertKeyOptions) ([]byte, []byte, error) {
	if opts.FixtureDirectory == "" {
		age := opts.MaxAge
		if age == 0 {
			age = year
		}
		return selfSigned(opts, age)
	}
	file := filepath.Join(opts.FixtureDirectory, opts.fixture())
	certificate, certErr := os.ReadFile(file + ".crt")
	key, keyErr := os.ReadFile(file + ".key")
	if certErr == nil && keyErr == nil {
		return certificate, key, nil
	}
	certificate, key, err := selfSigned(opts, 100*year)
	if err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(file+".crt", certificate, 0o644); err != nil {
		return nil, nil, fmt.Errorf("failed to write cert fixture to %s: %w", file+".crt", err)
	}
	if err := os.WriteFile(file+".key", key, 0o600); err != nil {
		return nil, nil, fmt.Errorf("failed to write key fixture to %s: %w", file+".key", err)
	}
	return certificate, key, nil
}

// fixture returns the base name of the files in the FixtureDirectory.
func (o SelfSignedCertKeyOptions) fixture() string {
	var ips []string
	for _, ip := range o.AlternateIPs {
		ips = append(ips, ip.String())
	}
	return strings.Join([]string{o.Host, strings.Join(ips, "-"), strings.Join(o.AlternateDNS, "-")}, "_")
}

func selfSigned(opts SelfSignedCertKeyOptions, age time.Duration) (certificates, keyPEM []byte, err error) {
	// Valid from an hour ago, because the clocks of other machines may be behind.
	begin := time.Now().Add(-time.Hour)
	end := begin.Add(age)
	root, rootKey, err := newRoot(opts.Host, begin, end)
	if err != nil {
		return nil, nil, err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, nil, err
	}
	serial, err := newSerial()
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: fmt.Sprintf("%s@%d", opts.Host, time.Now().Unix())},
		NotBefore:             begin,
		NotAfter:              end,
		KeyUsage:              x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IPAddresses:           opts.AlternateIPs,
		DNSNames:              opts.AlternateDNS,
	}
	if ip := net.ParseIP(opts.Host); ip != nil {
		template.IPAddresses = append([]net.IP{ip}, opts.AlternateIPs...)
	} else {
		template.DNSNames = append([]string{opts.Host}, opts.AlternateDNS...)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, root, &key.PublicKey, rootKey)
	if err != nil {
		return nil, nil, err
	}
	certificates, err = EncodeCertificates(&x509.Certificate{Raw: der}, root)
	if err != nil {
		return nil, nil, err
	}
	keyPEM, err = keyutil.MarshalPrivateKeyToPEM(key)
	return certificates, keyPEM, err
}

func newRoot(host string, begin, end time.Time) (*x509.Certificate, *rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, nil, err
	}
	template, err := caTemplate(begin, end)
	if err != nil {
		return nil, nil, err
	}
	template.Subject = pkix.Name{CommonName: fmt.Sprintf("%s-ca@%d", host, time.Now().Unix())}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	root, err := x509.ParseCertificate(der)
	return root, key, err
}

// MakeCSR returns a certificate request with a subject, names and addresses.
func MakeCSR(privateKey interface{}, subject *pkix.Name, dnsSANs []string, ipSANs []net.IP) (csr []byte, err error) {
	return MakeCSRFromTemplate(privateKey, &x509.CertificateRequest{Subject: *subject, DNSNames: dnsSANs, IPAddresses: ipSANs})
}

// MakeCSRFromTemplate returns a certificate request. The key determines the signature algorithm.
func MakeCSRFromTemplate(privateKey interface{}, template *x509.CertificateRequest) ([]byte, error) {
	t := *template
	t.SignatureAlgorithm = signatureOf(privateKey)
	der, err := x509.CreateCertificateRequest(rand.Reader, &t, privateKey)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: CertificateRequestBlockType, Bytes: der}), nil
}

// signatureOf returns the signature algorithm that fits the strength of a key.
func signatureOf(privateKey interface{}) x509.SignatureAlgorithm {
	switch key := privateKey.(type) {
	case *ecdsa.PrivateKey:
		switch size := key.Curve.Params().BitSize; {
		case size >= 521:
			return x509.ECDSAWithSHA512
		case size >= 384:
			return x509.ECDSAWithSHA384
		default:
			return x509.ECDSAWithSHA256
		}
	case *rsa.PrivateKey:
		switch size := key.N.BitLen(); {
		case size >= 4096:
			return x509.SHA512WithRSA
		case size >= 3072:
			return x509.SHA384WithRSA
		default:
			return x509.SHA256WithRSA
		}
	default:
		return x509.UnknownSignatureAlgorithm
	}
}

// EncodeCertificates encodes certificates in PEM.
func EncodeCertificates(certs ...*x509.Certificate) ([]byte, error) {
	var b bytes.Buffer
	for _, c := range certs {
		if err := pem.Encode(&b, &pem.Block{Type: CertificateBlockType, Bytes: c.Raw}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// ParseCertsPEM returns the certificates in PEM data. Other blocks are skipped. It returns an error
// if there is no certificate, or if a certificate is malformed.
func ParseCertsPEM(pemCerts []byte) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	for {
		var block *pem.Block
		if block, pemCerts = pem.Decode(pemCerts); block == nil {
			break
		}
		if block.Type != CertificateBlockType || len(block.Headers) > 0 {
			continue
		}
		parsed, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return certs, err
		}
		certs = append(certs, parsed...)
	}
	if len(certs) == 0 {
		return nil, errors.New("data does not contain any valid RSA or ECDSA certificates")
	}
	return certs, nil
}
