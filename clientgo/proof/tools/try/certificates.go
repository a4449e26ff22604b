package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// folder returns a folder that is removed at the end of the case.
func folder() (path string, remove func()) {
	path, err := os.MkdirTemp("", "try")
	if err != nil {
		panic(err)
	}
	return path, func() { _ = os.RemoveAll(path) }
}

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

// about returns a text with the fields of a certificate that are not random.
func about(c *x509.Certificate) string {
	return fmt.Sprint(c.Subject, " by ", c.Issuer, " ", c.DNSNames, c.IPAddresses, c.IsCA, c.KeyUsage, c.ExtKeyUsage, c.BasicConstraintsValid, c.MaxPathLen, " ", c.NotAfter.Sub(c.NotBefore).Round(time.Minute), " ", time.Since(c.NotBefore).Round(10*time.Minute), " ", c.SignatureAlgorithm, c.PublicKeyAlgorithm, c.Version, " ", len(c.SubjectKeyId), len(c.AuthorityKeyId))
}

func tryCertificates() {
	key := newKey()
	ca, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "ca"}, key)
	if err != nil {
		panic(err)
	}
	one, _ := cert.EncodeCertificates(ca)
	private, _ := keyutil.MarshalPrivateKeyToPEM(key)
	contents := map[string]string{
		"nothing": "", "one": string(one), "two": string(one) + string(one), "text around": "before\n" + string(one) + "between\n" + string(one) + "after\n", "a key": string(private), "a key and one": string(private) + string(one), "broken base64": "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n",
		"broken certificate": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})), "one with headers": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Headers: map[string]string{"a": "b"}, Bytes: ca.Raw})),
		"one and a broken one": string(one) + string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})), "binary": string(ca.Raw), "trusted": string(pem.EncodeToMemory(&pem.Block{Type: "TRUSTED CERTIFICATE", Bytes: ca.Raw})), "spaces": "  \n" + string(one) + "  \n",
	}
	for name, content := range contents {
		try("certificates: parse "+name, func(o *outcome) {
			dir, remove := folder()
			defer remove()
			found, err := cert.ParseCertsPEM([]byte(content))
			o.line(len(found), kindOf(err))
			pool, err := cert.NewPoolFromBytes([]byte(content))
			o.line(pool == nil, kindOf(err))
			path := filepath.Join(dir, "c.pem")
			_ = os.WriteFile(path, []byte(content), 0o600)
			clean := func(err error) string { return strings.ReplaceAll(kindOf(err), dir, "DIR") }
			found, err = cert.CertsFromFile(path)
			o.line(len(found), clean(err))
			pool, err = cert.NewPool(path)
			o.line(pool == nil, clean(err))
		})
	}
	try("certificates: files", func(o *outcome) {
		dir, remove := folder()
		defer remove()
		clean := func(err error) string { return strings.ReplaceAll(kindOf(err), dir, "DIR") }
		_, err := cert.CertsFromFile(filepath.Join(dir, "none"))
		o.line(clean(err))
		_, err = cert.NewPool(filepath.Join(dir, "none"))
		o.line(clean(err))
		path, keyPath := filepath.Join(dir, "a", "b", "c.crt"), filepath.Join(dir, "d", "c.key")
		for range 2 {
			ok, err := cert.CanReadCertAndKey(path, keyPath)
			o.line(ok, clean(err))
			o.line(clean(cert.WriteCert(path, one)))
			ok, err = cert.CanReadCertAndKey(path, keyPath)
			o.line(ok, clean(err))
			ok, err = cert.CanReadCertAndKey(keyPath, path)
			o.line(ok, clean(err))
			o.line(clean(keyutil.WriteKey(keyPath, private)))
		}
		for _, p := range []string{path, keyPath, filepath.Dir(path), filepath.Dir(keyPath)} {
			info, err := os.Stat(p)
			o.line(info.Mode(), clean(err))
		}
		o.line(clean(cert.WriteCert(filepath.Join(path, "x"), one)))
		ok, err := cert.CanReadCertAndKey("", "")
		o.line(ok, clean(err))
	})
	try("certificates: authorities", func(o *outcome) {
		for _, c := range []cert.Config{{CommonName: "ca"}, {}, {CommonName: "x", Organization: []string{"a", "b"}, AltNames: cert.AltNames{DNSNames: []string{"d"}, IPs: []net.IP{net.IPv4(1, 2, 3, 4)}}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, NotBefore: time.Now().Add(-48 * time.Hour)}} {
			made, err := cert.NewSelfSignedCACert(c, newKey())
			o.line(about(made), kindOf(err), kindOf(made.CheckSignatureFrom(made)))
		}
		encoded, err := cert.EncodeCertificates()
		o.line(len(encoded), kindOf(err))
		encoded, err = cert.EncodeCertificates(ca, ca)
		o.line(strings.Count(string(encoded), "BEGIN CERTIFICATE"), kindOf(err))
		o.panics("nil", func() { _, _ = cert.EncodeCertificates(nil) })
		o.line(cert.CertificateBlockType, cert.CertificateRequestBlockType)
	})
	trySelfSigned()
	tryRequests()
	tryInspection()
}

func trySelfSigned() {
	for i, c := range []cert.SelfSignedCertKeyOptions{{Host: "h"}, {Host: "1.2.3.4"}, {Host: "h", AlternateIPs: []net.IP{net.IPv4(5, 6, 7, 8)}, AlternateDNS: []string{"a", "b"}}, {Host: "::1"}, {Host: ""}, {Host: "h", MaxAge: time.Hour}, {Host: "h", MaxAge: -time.Hour}, {Host: "h", MaxAge: 100 * 365 * 24 * time.Hour}} {
		try(fmt.Sprint("certificates: of a server ", i), func(o *outcome) {
			made, key, err := cert.GenerateSelfSignedCertKeyWithOptions(c)
			o.line(kindOf(err))
			if err != nil {
				return
			}
			all, err := cert.ParseCertsPEM(made)
			o.line(len(all), kindOf(err))
			for _, one := range all {
				text := about(one)
				for _, name := range []string{one.Issuer.CommonName, one.Subject.CommonName} {
					if at := strings.LastIndex(name, "@"); at >= 0 {
						text = strings.ReplaceAll(text, name[at:], "@TIME")
					}
				}
				o.line(text)
			}
			_, err = tls.X509KeyPair(made, key)
			o.line(kindOf(err), strings.SplitN(string(key), "\n", 2)[0])
			if len(all) == 2 {
				roots := x509.NewCertPool()
				roots.AddCert(all[1])
				_, err = all[0].Verify(x509.VerifyOptions{Roots: roots})
				o.line(err == nil)
			}
		})
	}
	try("certificates: fixtures", func(o *outcome) {
		dir, remove := folder()
		defer remove()
		for range 2 {
			a, key, err := cert.GenerateSelfSignedCertKeyWithFixtures("h", []net.IP{net.IPv4(1, 2, 3, 4)}, []string{"x", "y"}, dir)
			o.line(len(a) > 0, len(key) > 0, kindOf(err))
			b, _, err := cert.GenerateSelfSignedCertKeyWithFixtures("h", []net.IP{net.IPv4(1, 2, 3, 4)}, []string{"x", "y"}, dir)
			o.line(string(a) == string(b), kindOf(err))
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				info, _ := e.Info()
				o.line(e.Name(), info.Mode())
			}
		}
		all, _ := cert.CertsFromFile(filepath.Join(dir, "h_1.2.3.4_x-y.crt"))
		if len(all) > 0 {
			o.line(all[0].NotAfter.Sub(all[0].NotBefore).Round(time.Hour))
		}
		_, _, err := cert.GenerateSelfSignedCertKeyWithFixtures("h", nil, nil, filepath.Join(dir, "none"))
		o.line(err != nil)
		a, _, err := cert.GenerateSelfSignedCertKey("h", nil, nil)
		o.line(len(a) > 0, kindOf(err))
	})
}

func tryRequests() {
	try("certificates: requests", func(o *outcome) {
		small, _ := rsa.GenerateKey(rand.Reader, 2048)
		for name, key := range map[string]any{"ecdsa": newKey(), "rsa": small} {
			for i, subject := range []*pkix.Name{{CommonName: "c", Organization: []string{"o"}}, {}} {
				request, err := cert.MakeCSR(key, subject, []string{"d"}, []net.IP{net.IPv4(1, 2, 3, 4)})
				if err != nil {
					o.line(kindOf(err))
					continue
				}
				block, rest := pem.Decode(request)
				parsed, err := x509.ParseCertificateRequest(block.Bytes)
				if name == "ecdsa" {
					o.line(i, block.Type, len(block.Headers), len(rest), parsed.Subject, parsed.DNSNames, parsed.IPAddresses, parsed.SignatureAlgorithm, kindOf(err), kindOf(parsed.CheckSignature()))
				} else if parsed.SignatureAlgorithm != x509.SHA256WithRSA {
					o.line("rsa", parsed.SignatureAlgorithm)
				}
			}
		}
		for _, key := range []any{nil, 3, newKey().Public()} {
			_, err := cert.MakeCSR(key, &pkix.Name{}, nil, nil)
			o.line(err != nil)
		}
		o.panics("nil subject", func() { _, err := cert.MakeCSR(newKey(), nil, nil, nil); o.line(err != nil) })
		template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "t"}, SignatureAlgorithm: x509.ECDSAWithSHA512}
		request, err := cert.MakeCSRFromTemplate(newKey(), template)
		block, _ := pem.Decode(request)
		parsed, _ := x509.ParseCertificateRequest(block.Bytes)
		o.line(parsed.SignatureAlgorithm, template.SignatureAlgorithm, kindOf(err))
	})
}

func tryInspection() {
	try("certificates: what a server shows", func(o *outcome) {
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, ClientCAs: x509.NewCertPool()}
		ca, _ := cert.NewSelfSignedCACert(cert.Config{CommonName: "clients"}, newKey())
		s.TLS.ClientCAs.AddCert(ca)
		s.StartTLS()
		defer s.Close()
		host := strings.TrimPrefix(s.URL, "https://")
		for _, address := range []string{host, "127.0.0.1:1", "", "host without a port"} {
			names, err := cert.GetClientCANames(address)
			o.line(names, err != nil)
			found, raw, err := cert.GetServingCertificates(address, "example.com")
			o.line(len(found), len(raw), err != nil)
		}
		for _, url := range []string{s.URL, s.URL + "/path", "https://", "::", host, "http://127.0.0.1:1"} {
			names, err := cert.GetClientCANamesForURL(url)
			o.line(names, err != nil)
			found, raw, err := cert.GetServingCertificatesForURL(url, "")
			o.line(len(found), len(raw), err != nil)
		}
	})
}

func tryPrivateKeys() {
	p256 := newKey()
	p521, _ := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	p224, _ := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	r, _ := rsa.GenerateKey(rand.Reader, 2048)
	pkcs8 := func(key any) []byte {
		data, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			panic(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: data})
	}
	public := func(key any) []byte {
		data, _ := x509.MarshalPKIXPublicKey(key)
		return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: data})
	}
	ecPEM, _ := keyutil.MarshalPrivateKeyToPEM(p256)
	rsaPEM, _ := keyutil.MarshalPrivateKeyToPEM(r)
	template := &x509.Certificate{SerialNumber: p256.X, Subject: pkix.Name{CommonName: "c"}}
	der, _ := x509.CreateCertificate(rand.Reader, template, template, p256.Public(), p256)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	parameters := []byte("-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n")
	inputs := map[string][]byte{
		"nothing": nil, "ecdsa": ecPEM, "rsa": rsaPEM, "pkcs8 ecdsa": pkcs8(p256), "pkcs8 rsa": pkcs8(r), "parameters and ecdsa": slices.Concat(parameters, ecPEM), "parameters": parameters, "public ecdsa": public(p256.Public()), "public rsa": public(r.Public()),
		"rsa public": pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&r.PublicKey)}), "certificate": certificate, "all": slices.Concat(ecPEM, rsaPEM, public(p256.Public()), certificate), "broken ecdsa": []byte(strings.Replace(string(ecPEM), "M", "A", 3)),
		"broken": []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), "text": []byte("text"), "broken then whole": slices.Concat([]byte("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"), ecPEM),
		"pkcs8 called rsa": []byte(strings.ReplaceAll(string(pkcs8(r)), "PRIVATE KEY", "RSA PRIVATE KEY")), "unknown type": []byte(strings.ReplaceAll(string(ecPEM), "EC PRIVATE KEY", "X PRIVATE KEY")), "encrypted": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-256-CBC,00"}, Bytes: []byte("x")}),
	}
	for name, input := range inputs {
		try("keys: parse PEM of "+name, func(o *outcome) {
			dir, remove := folder()
			defer remove()
			path := filepath.Join(dir, "k")
			_ = os.WriteFile(path, input, 0o600)
			clean := func(err error) string { return strings.ReplaceAll(kindOf(err), dir, "DIR") }
			key, err := keyutil.ParsePrivateKeyPEM(input)
			o.line(fmt.Sprintf("%T", key), clean(err))
			key, err = keyutil.PrivateKeyFromFile(path)
			o.line(fmt.Sprintf("%T", key), clean(err))
			keys, err := keyutil.ParsePublicKeysPEM(input)
			o.line(len(keys), keys == nil, clean(err))
			for _, key := range keys {
				o.line(fmt.Sprintf("%T", key))
			}
			keys, err = keyutil.PublicKeysFromFile(path)
			o.line(len(keys), clean(err))
		})
	}
	try("keys: write", func(o *outcome) {
		for name, key := range map[string]crypto.PrivateKey{"a p256": p256, "b p521": p521, "c p224": p224, "d rsa": r, "e nil": nil, "f public": p256.Public(), "g number": 3} {
			data, err := keyutil.MarshalPrivateKeyToPEM(key)
			if name == "d rsa" || name == "a p256" {
				block, _ := pem.Decode(data)
				parsed, again := keyutil.ParsePrivateKeyPEM(data)
				if parsed == nil || again != nil || block == nil {
					o.line(name, "cannot be read again")
				}
				continue
			}
			if (err != nil) != (name > "e") {
				o.line(name, kindOf(err))
			}
		}
		block, _ := pem.Decode(ecPEM)
		o.line(block.Type)
		block, _ = pem.Decode(rsaPEM)
		o.line(block.Type)
		_, err := keyutil.MarshalPrivateKeyToPEM(3)
		o.line(kindOf(err))
		made, err := keyutil.MakeEllipticPrivateKeyPEM()
		block, rest := pem.Decode(made)
		parsed, _ := keyutil.ParsePrivateKeyPEM(made)
		o.line(block.Type, len(rest), parsed.(*ecdsa.PrivateKey).Curve.Params().Name, kindOf(err))
		o.line(keyutil.ECPrivateKeyBlockType, keyutil.RSAPrivateKeyBlockType, keyutil.PrivateKeyBlockType, keyutil.PublicKeyBlockType)
	})
	try("keys: load or make", func(o *outcome) {
		dir, remove := folder()
		defer remove()
		clean := func(err error) string { return strings.ReplaceAll(kindOf(err), dir, "DIR") }
		path := filepath.Join(dir, "x", "k.pem")
		first, made, err := keyutil.LoadOrGenerateKeyFile(path)
		o.line(len(first) > 0, made, clean(err))
		second, made, err := keyutil.LoadOrGenerateKeyFile(path)
		o.line(string(first) == string(second), made, clean(err))
		info, _ := os.Stat(path)
		o.line(info.Mode())
		_, made, err = keyutil.LoadOrGenerateKeyFile(dir)
		o.line(made, err != nil)
		_, made, err = keyutil.LoadOrGenerateKeyFile(filepath.Join(path, "y"))
		o.line(made, err != nil)
		_ = os.WriteFile(path, []byte("text"), 0o600)
		data, made, err := keyutil.LoadOrGenerateKeyFile(path)
		o.line(string(data), made, err != nil)
		_, err = keyutil.PrivateKeyFromFile(filepath.Join(dir, "none"))
		o.line(clean(err))
		_, err = keyutil.PublicKeysFromFile(filepath.Join(dir, "none"))
		o.line(clean(err))
	})
}
