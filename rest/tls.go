package rest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// newTLS loads what a TLSConfig names and refuses what contradicts itself.
func newTLS(cfg TLSConfig) (*tls.Config, error) {
	out := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         cfg.ServerName,
		InsecureSkipVerify: cfg.Insecure, // asked for by name
	}

	ca, err := pem("CA", cfg.CAData, cfg.CAFile)
	if err != nil {
		return nil, err
	}
	if ca != nil {
		if cfg.Insecure {
			return nil, errors.New("TLS.Insecure and a CA exclude each other")
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(ca) {
			return nil, errors.New("TLS: the CA holds no certificate in PEM")
		}
	}

	certificate, err := loadCertificate(cfg)
	if err != nil || certificate == nil {
		return out, err
	}
	out.GetClientCertificate = renewing(cfg, certificate)
	return out, nil
}

// renewing loads the certificate anew for each connection, and stays with the
// last good one while that fails, such as between the writing of the two files.
func renewing(cfg TLSConfig, first *tls.Certificate) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	var last atomic.Pointer[tls.Certificate]
	last.Store(first)
	return func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if certificate, err := loadCertificate(cfg); err == nil {
			last.Store(certificate)
		}
		return last.Load(), nil
	}
}

// loadCertificate returns the client certificate, or nil where none is named.
func loadCertificate(cfg TLSConfig) (*tls.Certificate, error) {
	cert, err := pem("certificate", cfg.CertData, cfg.CertFile)
	if err != nil {
		return nil, err
	}
	key, err := pem("key", cfg.KeyData, cfg.KeyFile)
	if err != nil {
		return nil, err
	}
	switch {
	case cert == nil && key == nil:
		return nil, nil
	case cert == nil || key == nil:
		return nil, errors.New("TLS: a client certificate needs both a certificate and a key")
	}
	if cfg.KeyPair == nil {
		return nil, errors.New("TLS: a client certificate needs KeyPair: set it to tls.X509KeyPair")
	}
	pair, err := cfg.KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("TLS: client certificate: %w", err)
	}
	return &pair, nil
}

// pem returns what is given either as data or as a file, and nil for neither.
func pem(what string, data []byte, file string) ([]byte, error) {
	switch {
	case len(data) > 0 && file != "":
		return nil, fmt.Errorf("TLS: the %s is given both as data and as a file; drop one", what)
	case len(data) > 0:
		return data, nil
	case file == "":
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("TLS: %s: %w", what, err)
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("TLS: %s: %s is empty", what, file)
	}
	return data, nil
}
