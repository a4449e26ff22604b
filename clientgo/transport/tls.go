package transport

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// TLSConfigFor returns the TLS configuration of c, or nil if c has no TLS settings. It reads the
// files, and stores their contents in c.
func TLSConfigFor(c *Config) (*tls.Config, error) {
	if !c.HasCA() && !c.HasCertAuth() && !c.HasCertCallback() && !c.TLS.Insecure && c.TLS.ServerName == "" && len(c.TLS.NextProtos) == 0 {
		return nil, nil
	}
	if c.HasCA() && c.TLS.Insecure {
		return nil, errors.New("specifying a root certificates file with the insecure flag is not allowed")
	}
	if err := loadFiles(c); err != nil {
		return nil, err
	}
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: c.TLS.Insecure, //nolint:gosec // the program has set Insecure
		ServerName:         c.TLS.ServerName,
		NextProtos:         c.TLS.NextProtos,
	}
	if c.HasCA() {
		// if the CA file is empty, no certificate is trusted until the file has content
		config.RootCAs = x509.NewCertPool()
		if len(c.TLS.CAData) > 0 {
			pool, err := poolOf(c.TLS.CAData)
			if err != nil {
				return nil, fmt.Errorf("unable to load root certificates: %w", err)
			}
			config.RootCAs = pool
		}
	}
	if c.HasCertAuth() {
		pair, err := tls.X509KeyPair(c.TLS.CertData, c.TLS.KeyData)
		if err != nil {
			return nil, err
		}
		current := func() (*tls.Certificate, error) { return &pair, nil }
		if c.TLS.ReloadTLSFiles {
			current = certificateOfFiles(&pair, c.TLS.CertFile, c.TLS.KeyFile)
		}
		config.GetClientCertificate = certificateProvider(current)
	} else if c.HasCertCallback() {
		config.GetClientCertificate = certificateProvider(c.TLS.GetCertHolder.GetCert)
	}
	return config, nil
}

// certificateProvider returns a function for tls.Config that returns the current certificate. If
// there is no certificate, the function returns an empty certificate, as crypto/tls requires.
func certificateProvider(current func() (*tls.Certificate, error)) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		pair, err := current()
		if err != nil {
			return nil, err
		}
		if pair == nil {
			pair = &tls.Certificate{}
		}
		return pair, nil
	}
}

// certificateOfFiles returns a function that reads a certificate and its key. If the files are not
// usable, the function returns the last good certificate.
func certificateOfFiles(first *tls.Certificate, certFile, keyFile string) func() (*tls.Certificate, error) {
	last := newValueHolder(first)
	return func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return last.value.Load(), nil //nolint:nilerr // the last good one stays in use
		}
		last.value.Store(&pair)
		return &pair, nil
	}
}

// loadFiles reads each file whose data is not set, and stores the content as data. It sets
// ReloadTLSFiles only if both certificate and key come from files.
func loadFiles(c *Config) error {
	ca, err := contents(c.TLS.CAData, c.TLS.CAFile)
	if err != nil {
		return err
	}
	c.TLS.ReloadCAFiles = c.TLS.ReloadCAFiles || len(c.TLS.CAData) == 0 && c.TLS.CAFile != ""
	if len(c.TLS.CertData) == 0 && c.TLS.CertFile != "" && len(c.TLS.KeyData) == 0 && c.TLS.KeyFile != "" {
		c.TLS.ReloadTLSFiles = true
	}
	cert, err := contents(c.TLS.CertData, c.TLS.CertFile)
	if err != nil {
		return err
	}
	key, err := contents(c.TLS.KeyData, c.TLS.KeyFile)
	if err != nil {
		return err
	}
	c.TLS.CAData, c.TLS.CertData, c.TLS.KeyData = ca, cert, key
	return nil
}

func contents(data []byte, file string) ([]byte, error) {
	if len(data) > 0 || file == "" {
		return data, nil
	}
	return os.ReadFile(file)
}

// poolOf returns the certificates of a CA bundle in PEM. It skips unparsable certificates, because
// many bundles have old certificates that Go rejects. It returns an error if no certificate is
// left.
func poolOf(data []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if pool.AppendCertsFromPEM(data) {
		return pool, nil
	}
	for len(data) > 0 {
		block, rest := pem.Decode(data)
		if block == nil {
			return nil, errors.New("unable to parse bytes as PEM block")
		}
		if block.Type == "CERTIFICATE" && len(block.Headers) == 0 {
			_, err := x509.ParseCertificate(block.Bytes)
			return nil, fmt.Errorf("failed to parse certificate: %w", err)
		}
		data = rest
	}
	return nil, errors.New("no valid certificate authority data seen")
}
