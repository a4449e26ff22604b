package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Certificates has the CA of one server, and the certificates that this CA has signed, as PEM.
type Certificates struct {
	CA                    []byte
	server                tls.Certificate
	ClientCert, ClientKey []byte
}

// signer is a certificate with its key.
type signer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New creates a CA with the common name ca, which signs a certificate for the server and a
// certificate for clients. The certificate of the server is for the loopback interface and for the
// argument host. The certificate of clients names the argument group as its organization.
func New(ca, host, group string) (*Certificates, error) {
	template := func(name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(time.Now().UnixNano()),
			Subject:      pkix.Name{CommonName: name},
			NotBefore:    time.Now().Add(-time.Hour),
			NotAfter:     time.Now().AddDate(10, 0, 0),
			KeyUsage:     x509.KeyUsageDigitalSignature,
		}
	}
	authority := template(ca)
	authority.IsCA, authority.BasicConstraintsValid = true, true
	authority.KeyUsage |= x509.KeyUsageCertSign
	root, caPEM, _, err := sign(authority, signer{})
	if err != nil {
		return nil, err
	}

	server := template("apitest")
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server.DNSNames = []string{"localhost", host}
	server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	_, serverPEM, serverKey, err := sign(server, root)
	if err != nil {
		return nil, err
	}
	client := template("apitest client")
	client.Subject.Organization = []string{group}
	client.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	_, clientPEM, clientKey, err := sign(client, root)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(serverPEM, serverKey)
	return &Certificates{CA: caPEM, server: pair, ClientCert: clientPEM, ClientKey: clientKey}, err
}

// sign creates a key and a certificate for it. Without an issuer, the certificate is self-signed.
func sign(template *x509.Certificate, issuer signer) (s signer, certPEM, keyPEM []byte, err error) {
	fail := func(err error) (signer, []byte, []byte, error) {
		return signer{}, nil, nil, fmt.Errorf("making the certificate of %s: %w", template.Subject.CommonName, err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fail(err)
	}
	if issuer.cert == nil {
		issuer = signer{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer.cert, &key.PublicKey, issuer.key)
	if err != nil {
		return fail(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return fail(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fail(err)
	}
	certPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	return signer{cert, key}, certPEM, keyPEM, nil
}

// Config returns the TLS configuration of the server. If clients is true, every client needs a
// certificate.
func (c *Certificates) Config(clients bool) *tls.Config {
	config := &tls.Config{Certificates: []tls.Certificate{c.server}}
	// A certificate identifies the client, but is optional.
	config.ClientAuth = tls.VerifyClientCertIfGiven
	if clients {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	config.ClientCAs = x509.NewCertPool()
	config.ClientCAs.AppendCertsFromPEM(c.CA)
	return config
}
