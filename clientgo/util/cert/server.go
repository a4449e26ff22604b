package cert

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"strings"
)

// GetClientCANames returns the names of the CAs whose client certificates a server accepts. apiHost
// is "host:port".
func GetClientCANames(apiHost string) ([]string, error) {
	var names []string
	conn, err := tls.Dial("tcp", apiHost, &tls.Config{
		// the connection is used only for the server's request for a certificate
		InsecureSkipVerify: true,
		GetClientCertificate: func(request *tls.CertificateRequestInfo) (*tls.Certificate, error) {
			names = subjectNames(request.AcceptableCAs)
			return &tls.Certificate{}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return names, conn.Close()
}

func subjectNames(subjects [][]byte) (names []string) {
	for _, subject := range subjects {
		names = append(names, string(subject))
	}
	return names
}

// GetClientCANamesForURL is GetClientCANames for the address in a kubeconfig.
func GetClientCANamesForURL(kubeConfigURL string) ([]string, error) {
	address, err := hostOf(kubeConfigURL)
	if err != nil {
		return nil, err
	}
	return GetClientCANames(address)
}

// GetServingCertificates returns the certificates that a server presents, parsed and in PEM.
// apiHost is "host:port". serverName selects a certificate by name; "" means the host in apiHost.
func GetServingCertificates(apiHost, serverName string) ([]*x509.Certificate, [][]byte, error) {
	conn, err := tls.Dial("tcp", apiHost, &tls.Config{
		InsecureSkipVerify: true, // the connection is used only for the server's certificates
		ServerName:         serverName,
	})
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	var encoded [][]byte
	shown := conn.ConnectionState().PeerCertificates
	for _, certificate := range shown {
		text, err := EncodeCertificates(certificate)
		if err != nil {
			return nil, nil, err
		}
		encoded = append(encoded, text)
	}
	return shown, encoded, nil
}

// GetServingCertificatesForURL is GetServingCertificates for the address in a kubeconfig.
func GetServingCertificatesForURL(kubeConfigURL, serverName string) ([]*x509.Certificate, [][]byte, error) {
	address, err := hostOf(kubeConfigURL)
	if err != nil {
		return nil, nil, err
	}
	return GetServingCertificates(address, serverName)
}

// hostOf returns "host:port" of an address.
func hostOf(address string) (string, error) {
	if !strings.Contains(address, "://") {
		return "", fmt.Errorf("the address %q has no scheme, such as https://", address)
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	if u.Port() == "" {
		return u.Host + ":443", nil
	}
	return u.Host, nil
}
