package transport

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"

	"github.com/kinform/kinform/internal/safefile"
)

// PEM is PEM data, or the path of a file with PEM data, or empty.
type PEM struct {
	Data []byte
	File string
}

// TLSSource says where the CA bundle, the certificate and the key of a TLS come from.
type TLSSource struct {
	CA, Certificate, Key PEM
	// KeyPair makes a client certificate from the contents of Certificate and Key. It is
	// required if these are set.
	KeyPair func(cert, key []byte) (tls.Certificate, error)
	// Insecure accepts any certificate of the server. It excludes a CA.
	Insecure bool
}

// TLS has the CA bundle and the client certificate for TLS. It is never changed.
type TLS struct {
	sum   [sha256.Size]byte // of all PEM data
	roots *x509.CertPool
	// never nil; a function, so that a printed TLS does not show the key
	certificate func() *tls.Certificate
}

func noCertificate() *tls.Certificate { return nil }

// Load reads the data and the files of s. It returns an error if fields of s contradict each other.
func (s *TLSSource) Load() (*TLS, error) {
	ca, err := s.CA.read("CA")
	var cert, key []byte
	if err == nil {
		cert, err = s.Certificate.read("certificate")
	}
	if err == nil {
		key, err = s.Key.read("key")
	}
	if err != nil {
		return nil, err
	}
	out := &TLS{sum: sha256.Sum256(slices.Concat(ca, cert, key)), certificate: noCertificate}
	if len(ca) > 0 {
		if s.Insecure {
			return nil, errors.New("TLS.Insecure and a CA exclude each other: set one of them")
		}
		out.roots = x509.NewCertPool()
		if !out.roots.AppendCertsFromPEM(ca) {
			return nil, errors.New("TLS: the CA bundle holds no certificate in PEM")
		}
	}
	switch {
	case len(cert) == 0 && len(key) == 0:
		return out, nil
	case len(cert) == 0 || len(key) == 0:
		return nil, errors.New("TLS: a client certificate needs both a certificate and a key")
	case s.KeyPair == nil:
		return nil, errors.New("TLS: a client certificate needs KeyPair: set it to tls.X509KeyPair")
	}
	pair, err := s.KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("TLS: client certificate: %w", err)
	}
	out.certificate = func() *tls.Certificate { return &pair }
	return out, nil
}

// read returns the contents of p, or nil if p is empty. Errors call p by the argument name.
func (p PEM) read(name string) ([]byte, error) {
	switch {
	case len(p.Data) > 0 && p.File != "":
		return nil, errors.New("TLS: the " + name + " is set both as data and as a file: remove one of them")
	case len(p.Data) > 0 || p.File == "":
		return p.Data, nil
	}
	data, err := safefile.Read(p.File, MaxFileBytes)
	if err == nil && len(data) == 0 {
		err = errors.New(p.File + " is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("TLS: %s: %w", name, err)
	}
	return data, nil
}

// sameCertificate reports whether two client certificates are equal. Each may be nil. It compares
// contents, because a credential source may parse its files for each request.
func sameCertificate(a, b *tls.Certificate) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a == b || slices.EqualFunc(a.Certificate, b.Certificate, bytes.Equal)
}
