package cert

import (
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
)

// Types of PEM blocks.
const (
	CertificateBlockType        = "CERTIFICATE"
	CertificateRequestBlockType = "CERTIFICATE REQUEST"
)

// CanReadCertAndKey reports whether both files exist. It returns an error if only one of them
// exists.
func CanReadCertAndKey(certPath, keyPath string) (bool, error) {
	hasCert, hasKey := canRead(certPath), canRead(keyPath)
	switch {
	case hasCert && hasKey:
		return true, nil
	case !hasCert && !hasKey:
		return false, nil
	case !hasCert:
		return false, fmt.Errorf("error reading %s, certificate and key must be supplied as a pair", certPath)
	default:
		return false, fmt.Errorf("error reading %s, certificate and key must be supplied as a pair", keyPath)
	}
}

func canRead(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// WriteCert writes certificates to a world-readable file, and creates missing folders.
func WriteCert(certPath string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(certPath), 0o755); err != nil {
		return err
	}
	return os.WriteFile(certPath, data, 0o644)
}

// CertsFromFile returns the certificates of a file. A file without certificates is an error.
func CertsFromFile(file string) ([]*x509.Certificate, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	certs, err := ParseCertsPEM(data)
	if err != nil {
		return nil, fmt.Errorf("error reading %s: %w", file, err)
	}
	return certs, nil
}

// NewPool returns a pool of the certificates of a file. A file without certificates is an error.
func NewPool(filename string) (*x509.CertPool, error) {
	data, err := os.ReadFile(filename)
	if err != nil {
		return nil, err
	}
	pool, err := NewPoolFromBytes(data)
	if err != nil {
		return nil, fmt.Errorf("error creating pool from %s: %w", filename, err)
	}
	return pool, nil
}

// NewPoolFromBytes returns a pool of the certificates in PEM data. Data without certificates is an
// error.
func NewPoolFromBytes(pemBlock []byte) (*x509.CertPool, error) {
	certs, err := ParseCertsPEM(pemBlock)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	for _, c := range certs {
		pool.AddCert(c)
	}
	return pool, nil
}
