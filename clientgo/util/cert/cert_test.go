package cert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSelfSignedCertificateIsValidForItsNames(t *testing.T) {
	certPEM, keyPEM, err := GenerateSelfSignedCertKey("example.com", []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"other.example.com"})
	require.NoError(t, err)
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	require.NoError(t, err)
	pool, err := NewPoolFromBytes(certPEM)
	require.NoError(t, err)
	certs, err := ParseCertsPEM(certPEM)
	require.NoError(t, err)
	require.Len(t, certs, 2)
	for _, name := range []string{"example.com", "other.example.com", "127.0.0.1"} {
		_, err := certs[0].Verify(x509.VerifyOptions{DNSName: name, Roots: pool})
		require.NoError(t, err)
	}
	_, err = certs[0].Verify(x509.VerifyOptions{DNSName: "wrong.example.com", Roots: pool})
	require.Error(t, err)

	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	clients := x509.NewCertPool()
	clients.AddCert(certs[1])
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert, ClientCAs: clients}
	server.StartTLS()
	defer server.Close()
	shown, encoded, err := GetServingCertificatesForURL(server.URL, "example.com")
	require.NoError(t, err)
	require.Len(t, encoded, len(shown))
	require.True(t, certs[0].Equal(shown[0]))
	names, err := GetClientCANamesForURL(server.URL)
	require.NoError(t, err)
	require.Equal(t, []string{string(certs[1].RawSubject)}, names)
	_, err = GetClientCANamesForURL("no scheme")
	require.ErrorContains(t, err, "no scheme")
	_, _, err = GetServingCertificatesForURL("127.0.0.1:1", "")
	require.Error(t, err)
}

func TestFixturesAreWrittenOnceAndReused(t *testing.T) {
	dir := t.TempDir()
	first, firstKey, err := GenerateSelfSignedCertKeyWithFixtures("10.0.0.1", []net.IP{net.IPv4(10, 0, 0, 2)}, []string{"a", "b"}, dir)
	require.NoError(t, err)
	again, againKey, err := GenerateSelfSignedCertKeyWithFixtures("10.0.0.1", []net.IP{net.IPv4(10, 0, 0, 2)}, []string{"a", "b"}, dir)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, firstKey, againKey)
	certs, err := CertsFromFile(filepath.Join(dir, "10.0.0.1_10.0.0.2_a-b.crt"))
	require.NoError(t, err)
	require.Greater(t, time.Until(certs[0].NotAfter), 90*year)
	have, err := CanReadCertAndKey(filepath.Join(dir, "10.0.0.1_10.0.0.2_a-b.crt"), filepath.Join(dir, "10.0.0.1_10.0.0.2_a-b.key"))
	require.NoError(t, err)
	require.True(t, have)
	_, err = CanReadCertAndKey(filepath.Join(dir, "10.0.0.1_10.0.0.2_a-b.crt"), filepath.Join(dir, "none"))
	require.ErrorContains(t, err, "as a pair")
	have, err = CanReadCertAndKey("none", "none")
	require.NoError(t, err)
	require.False(t, have)
	_, _, err = GenerateSelfSignedCertKeyWithFixtures("a", nil, nil, filepath.Join(dir, "none"))
	require.ErrorContains(t, err, "fixture")
}

func TestCACertificateAndSigningRequest(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	authority, err := NewSelfSignedCACert(Config{CommonName: "root", Organization: []string{"o"}}, key)
	require.NoError(t, err)
	require.True(t, authority.IsCA)
	require.Equal(t, "root", authority.Subject.CommonName)
	file := filepath.Join(t.TempDir(), "a", "ca.crt")
	text, err := EncodeCertificates(authority)
	require.NoError(t, err)
	require.NoError(t, WriteCert(file, text))
	_, err = NewPool(file)
	require.NoError(t, err)
	_, err = NewPool("none")
	require.Error(t, err)
	_, err = NewPoolFromBytes([]byte("x"))
	require.Error(t, err)

	csr, err := MakeCSR(key, &pkix.Name{CommonName: "me"}, []string{"a.example.com"}, []net.IP{net.IPv4(1, 2, 3, 4)})
	require.NoError(t, err)
	block, _ := pem.Decode(csr)
	require.Equal(t, CertificateRequestBlockType, block.Type)
	request, err := x509.ParseCertificateRequest(block.Bytes)
	require.NoError(t, err)
	require.NoError(t, request.CheckSignature())
	require.Equal(t, "me", request.Subject.CommonName)
	require.Equal(t, x509.ECDSAWithSHA384, request.SignatureAlgorithm)
}
