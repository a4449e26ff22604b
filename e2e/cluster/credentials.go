package cluster

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"net"
	"os"
	"path/filepath"
	"time"
)

// adminToken is the token of a member of system:masters. A fixed token is safe, because only this
// machine can reach the server, which runs for some minutes.
const adminToken = "e2e-admin"

// credentials has the files for the server's flags and for clients.
type credentials struct {
	// certFile and keyFile are for the server's certificate, which the authority in caFile signed.
	// Clients trust this authority.
	certFile, keyFile, caFile string
	caPEM                     []byte
	// accountKeyFile signs the tokens of service accounts.
	accountKeyFile string
	// clients signs the client certificates. Its own certificate is in clientCAFile, for the
	// server.
	clients      *authority
	clientCAFile string
	// tokensFile is the server's token file: token,user,uid,groups.
	tokensFile string
}

func newCredentials(dir string) (credentials, error) {
	c := credentials{
		certFile:       filepath.Join(dir, "server.crt"),
		keyFile:        filepath.Join(dir, "server.key"),
		caFile:         filepath.Join(dir, "ca.crt"),
		accountKeyFile: filepath.Join(dir, "account.key"),
		clientCAFile:   filepath.Join(dir, "client-ca.crt"),
		tokensFile:     filepath.Join(dir, "tokens.csv"),
	}
	if err := c.newServer(); err != nil {
		return c, err
	}
	_, accountKey, err := newKey()
	if err != nil {
		return c, err
	}
	if c.clients, err = newAuthority("kinform e2e clients"); err != nil {
		return c, err
	}
	return c, errors.Join(
		os.WriteFile(c.accountKeyFile, accountKey, 0o600),
		os.WriteFile(c.clientCAFile, c.clients.pem, 0o600),
		os.WriteFile(c.tokensFile, []byte(adminToken+`,admin,admin,"system:masters"`+"\n"), 0o600),
	)
}

// newServer creates a new authority, and a server certificate signed by it.
func (c *credentials) newServer() error {
	signer, err := newAuthority("kinform e2e")
	if err != nil {
		return err
	}
	cert, key, err := signer.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		NotAfter:    time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:    []string{"localhost"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return err
	}
	c.caPEM = signer.pem
	return errors.Join(replace(c.certFile, cert), replace(c.keyFile, key), replace(c.caFile, c.caPEM))
}

// replace writes a file that other processes may read at the same time.
func replace(file string, content []byte) error {
	if err := os.WriteFile(file+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// CAFile is the path of the CA bundle for the server's certificate.
func (c *Cluster) CAFile() string { return c.pki.caFile }

// RotateCA gives the server a certificate of a new authority, and writes the new CA bundle to
// [Cluster.CAFile]. The server must be down.
func (c *Cluster) RotateCA() error {
	if err := c.pki.newServer(); err != nil {
		return err
	}
	c.admin.CloseIdleConnections()
	c.admin = c.newClient()
	return nil
}

// ClientCertificate makes a certificate of a user with all permissions, and its key, both in PEM.
func (c *Cluster) ClientCertificate(user string, lifetime time.Duration) (cert, key []byte, err error) {
	return c.pki.clients.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: []string{"system:masters"}},
		NotAfter:    time.Now().Add(lifetime),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}
