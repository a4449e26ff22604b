package apiserver

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

// writeKubeconfig writes a kubeconfig for a server. It returns a function that removes the file. If
// another server has replaced the file meanwhile, the function does nothing.
//
// It replaces an existing file only if an earlier run left it behind. Any other file may be the
// only copy of a user's credentials.
func writeKubeconfig(path string, to rest.Config) (remove func(), err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("--kubeconfig-out: %w", err)
	case !info.Mode().IsRegular() || !isLeftover(path):
		return nil, fmt.Errorf("--kubeconfig-out: %s exists and is not from this command: remove it, or name another file", path)
	}
	err = kubeconfig.Write(path, connection(to))
	return func() {
		if configIn(path).Host == to.Host {
			_ = os.Remove(path)
		}
	}, err
}

// isLeftover reports whether a file has only content that this command writes.
func isLeftover(path string) bool {
	data, err := os.ReadFile(path)
	ours, _ := kubeconfig.Marshal(connection(configIn(path)))
	return err == nil && bytes.Equal(data, ours)
}

// configIn returns the server in a kubeconfig. The result includes the other fields that this
// command may have written: its own CA, and certificates that this CA has signed. If the file has
// no server, the result is empty.
func configIn(path string) rest.Config {
	c, _ := kubeconfig.Load(kubeconfig.Options{Path: path})
	config := rest.Config{Host: c.Config.Host}
	ca, cert := certificate(c.Config.TLS.CAData), certificate(c.Config.TLS.CertData)
	if ca == nil || cert == nil || ca.Subject.CommonName != apitest.CAName || cert.CheckSignatureFrom(ca) != nil {
		return config
	}
	config.TLS = rest.TLSConfig{CAData: c.Config.TLS.CAData, CertData: c.Config.TLS.CertData, KeyData: c.Config.TLS.KeyData}
	if c.Config.TLS.ServerName == ownName {
		config.TLS.ServerName = ownName
	}
	return config
}

// certificate parses a PEM certificate. It returns nil if data has none.
func certificate(data []byte) *x509.Certificate {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil
	}
	cert, _ := x509.ParseCertificate(block.Bytes)
	return cert
}

// ownName is a name in every server's certificate.
const ownName = "localhost"

func connection(to rest.Config) kubeconfig.Connection {
	return kubeconfig.Connection{Config: to, Context: "kinform"}
}
