package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// adminToken is the password of a member of system:masters on a server that
// only this machine can reach and that lives for some minutes.
const adminToken = "e2e-admin"

// credentials are the files that the server is started with, and what a client
// needs of them.
type credentials struct {
	// certFile is the server's certificate, which signed itself: clients trust
	// this very certificate. keyFile is its key, and signs service account tokens.
	certFile, keyFile string
	certPEM           []byte

	// tokensFile is the server's token file: token,user,uid,groups.
	tokensFile string
}

func newCredentials(dir string) (credentials, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return credentials{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "kinform e2e"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:     []string{"localhost"},
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:         true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return credentials{}, fmt.Errorf("make a certificate: %w", err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return credentials{}, err
	}
	c := credentials{
		certFile:   filepath.Join(dir, "server.crt"),
		keyFile:    filepath.Join(dir, "server.key"),
		certPEM:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		tokensFile: filepath.Join(dir, "tokens.csv"),
	}
	for name, content := range map[string][]byte{
		c.certFile:   c.certPEM,
		c.keyFile:    pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
		c.tokensFile: []byte(adminToken + `,admin,admin,"system:masters"` + "\n"),
	} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return credentials{}, err
		}
	}
	return c, nil
}
