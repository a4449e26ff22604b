package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// tryPEMs reads and writes certificates and keys.
func tryPEMs() {
	c := newCertificates()
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	edPublic, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	block8 := func(kind string, der []byte, err error) []byte {
		if err != nil {
			panic(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	ecDER, ecErr := x509.MarshalECPrivateKey(ec)
	pkcs8EC, pkcs8Err := x509.MarshalPKCS8PrivateKey(ec)
	pkcs8RSA, pkcs8RSAErr := x509.MarshalPKCS8PrivateKey(rs)
	pkcs8Ed, pkcs8EdErr := x509.MarshalPKCS8PrivateKey(ed)
	publicEC, publicECErr := x509.MarshalPKIXPublicKey(&ec.PublicKey)
	publicRSA, publicRSAErr := x509.MarshalPKIXPublicKey(&rs.PublicKey)
	publicEd, publicEdErr := x509.MarshalPKIXPublicKey(edPublic)
	documents := map[string][]byte{
		"nothing": nil, "garbage": []byte("garbage"), "cert": c.cert, "ca": c.ca, "two certs": append(bytes.Clone(c.cert), c.ca...), "key and cert": append(bytes.Clone(c.key), c.cert...), "cert and garbage": append(bytes.Clone(c.cert), "garbage"...), "garbage and cert": append([]byte("garbage\n"), c.cert...),
		"cert cut": c.cert[:len(c.cert)-30], "bad cert": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}), "cert with headers": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Headers: map[string]string{"A": "b"}, Bytes: []byte("x")}), "trusted cert": pem.EncodeToMemory(&pem.Block{Type: "TRUSTED CERTIFICATE", Bytes: []byte("x")}),
		"good and bad cert": append(bytes.Clone(c.cert), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})...), "ec": block8("EC PRIVATE KEY", ecDER, ecErr), "ec pkcs8": block8("PRIVATE KEY", pkcs8EC, pkcs8Err), "rsa": block8("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rs), nil),
		"rsa pkcs8": block8("PRIVATE KEY", pkcs8RSA, pkcs8RSAErr), "ed pkcs8": block8("PRIVATE KEY", pkcs8Ed, pkcs8EdErr), "ec as rsa": block8("RSA PRIVATE KEY", ecDER, ecErr), "rsa as ec": block8("EC PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rs), nil), "ec with parameters": append(pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{6, 8}}), block8("EC PRIVATE KEY", ecDER, ecErr)...),
		"public ec": block8("PUBLIC KEY", publicEC, publicECErr), "public rsa": block8("PUBLIC KEY", publicRSA, publicRSAErr), "public ed": block8("PUBLIC KEY", publicEd, publicEdErr), "public rsa pkcs1": block8("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&rs.PublicKey), nil), "two keys": append(block8("EC PRIVATE KEY", ecDER, ecErr), block8("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rs), nil)...),
		"bad key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")}), "request": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: []byte("x")}),
	}
	for _, name := range sorted(documents) {
		block("pem "+name, func() {
			data, file := documents[name], filepath.Join(directory, "pem")
			if err := os.WriteFile(file, data, 0o600); err != nil {
				panic(err)
			}
			certs, err := cert.ParseCertsPEM(data)
			line(len(certs), kindOf(err))
			certs, err = cert.CertsFromFile(file)
			line(len(certs), kindOf(err))
			pool, err := cert.NewPoolFromBytes(data)
			line(pool != nil, kindOf(err))
			pool, err = cert.NewPool(file)
			line(pool != nil, kindOf(err))
			key, err := keyutil.ParsePrivateKeyPEM(data)
			line(fmt.Sprintf("%T", key), kindOf(err))
			key, err = keyutil.PrivateKeyFromFile(file)
			line(fmt.Sprintf("%T", key), kindOf(err))
			keys, err := keyutil.ParsePublicKeysPEM(data)
			line(len(keys), kindOf(err))
			for _, key := range keys {
				line(fmt.Sprintf("%T", key))
			}
			keys, err = keyutil.PublicKeysFromFile(file)
			line(len(keys), kindOf(err))
			loaded, generated, err := keyutil.LoadOrGenerateKeyFile(file)
			line(bytes.Equal(loaded, data), generated, err != nil)
		})
	}
	for name, key := range map[string]any{"ec": ec, "rsa": rs, "ed": ed, "nothing": nil, "public": &ec.PublicKey, "text": "x"} {
		block("key "+name, func() {
			data, err := keyutil.MarshalPrivateKeyToPEM(key)
			line(len(data) > 0, kindOf(err))
			if first, _ := pem.Decode(data); first != nil {
				line(first.Type)
			}
			request, err := cert.MakeCSR(key, &pkix.Name{CommonName: "n"}, []string{"d"}, []net.IP{net.IPv4(1, 2, 3, 4)})
			line(len(request) > 0, kindOf(err))
			if first, _ := pem.Decode(request); first != nil {
				parsed, err := x509.ParseCertificateRequest(first.Bytes)
				line(first.Type, kindOf(err), parsed.Subject, parsed.DNSNames, parsed.IPAddresses, parsed.SignatureAlgorithm)
			}
		})
	}
	block("files of certificates and keys", func() {
		dir := filepath.Join(directory, "new", "deep")
		line(kindOf(cert.WriteCert(filepath.Join(dir, "c", "x.crt"), c.cert)), kindOf(keyutil.WriteKey(filepath.Join(dir, "k", "x.key"), c.key)))
		for _, file := range []string{dir, filepath.Join(dir, "c", "x.crt"), filepath.Join(dir, "k"), filepath.Join(dir, "k", "x.key")} {
			info, err := os.Stat(file)
			if line(kindOf(err)); err == nil {
				line(info.Mode())
			}
		}
		for _, pair := range [][2]string{{"c/x.crt", "k/x.key"}, {"c/x.crt", "none"}, {"none", "k/x.key"}, {"none", "none"}, {"", ""}} {
			ok, err := cert.CanReadCertAndKey(filepath.Join(dir, pair[0]), filepath.Join(dir, pair[1]))
			line(ok, kindOf(err))
		}
		data, generated, err := keyutil.LoadOrGenerateKeyFile(filepath.Join(dir, "made", "key"))
		line(len(data) > 0, generated, kindOf(err))
		again, generated, err := keyutil.LoadOrGenerateKeyFile(filepath.Join(dir, "made", "key"))
		line(bytes.Equal(data, again), generated, kindOf(err))
		data, err = keyutil.MakeEllipticPrivateKeyPEM()
		first, _ := pem.Decode(data)
		line(first.Type, kindOf(err))
		for _, file := range []string{"missing", "."} {
			_, err = keyutil.PrivateKeyFromFile(filepath.Join(dir, file))
			line(kindOf(err))
			_, err = keyutil.PublicKeysFromFile(filepath.Join(dir, file))
			line(kindOf(err))
			_, err = cert.CertsFromFile(filepath.Join(dir, file))
			line(kindOf(err))
			_, err = cert.NewPool(filepath.Join(dir, file))
			line(kindOf(err))
			_, _, err = keyutil.LoadOrGenerateKeyFile(filepath.Join(dir, file, "x", "y"))
			line(kindOf(err))
		}
	})
	block("certificates that sign themselves", func() {
		for _, host := range []string{"localhost", "127.0.0.1", "::1", ""} {
			certPEM, keyPEM, err := cert.GenerateSelfSignedCertKey(host, []net.IP{net.IPv4(1, 2, 3, 4)}, []string{"other"})
			line(host, kindOf(err))
			certs, err := cert.ParseCertsPEM(certPEM)
			line(len(certs), kindOf(err))
			key, err := keyutil.ParsePrivateKeyPEM(keyPEM)
			line(fmt.Sprintf("%T", key), kindOf(err))
			for _, c := range certs {
				line(c.IsCA, c.DNSNames, c.IPAddresses, c.KeyUsage, c.ExtKeyUsage, c.NotAfter.Sub(c.NotBefore).Round(1e9), len(c.Subject.CommonName) > 0, c.BasicConstraintsValid)
			}
		}
		authority, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "n", Organization: []string{"o"}, AltNames: cert.AltNames{DNSNames: []string{"d"}, IPs: []net.IP{net.IPv4(1, 2, 3, 4)}}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, ec)
		line(kindOf(err), authority.IsCA, authority.Subject, authority.DNSNames, authority.IPAddresses, authority.KeyUsage, authority.ExtKeyUsage, authority.NotAfter.Sub(authority.NotBefore).Hours() > 80000)
		encoded, err := cert.EncodeCertificates(authority, authority)
		parsed, err2 := cert.ParseCertsPEM(encoded)
		line(kindOf(err), len(parsed), kindOf(err2))
		encoded, err = cert.EncodeCertificates()
		line(len(encoded), kindOf(err))
	})
}
