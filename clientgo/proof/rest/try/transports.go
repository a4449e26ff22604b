package main

import (
	"bytes"
	"context"
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
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"k8s.io/client-go/rest"
)

// certificates are a CA, and certificates that it has signed.
type certificates struct {
	ca, cert, key, otherCert, otherKey, past, pastKey []byte
	caFile, certFile, keyFile                         string
	server                                            tls.Certificate
}

func newCertificates() *certificates {
	caKey, caCert, ca := sign(nil, nil, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	c := &certificates{ca: ca}
	pair := func(from, to time.Time) (cert, key []byte) {
		k, _, cert := sign(caKey, caCert, from, to)
		der, err := x509.MarshalECPrivateKey(k)
		if err != nil {
			panic(err)
		}
		return cert, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	}
	c.cert, c.key = pair(time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	c.otherCert, c.otherKey = pair(time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	c.past, c.pastKey = pair(time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
	var err error
	if c.server, err = tls.X509KeyPair(c.cert, c.key); err != nil {
		panic(err)
	}
	c.caFile, c.certFile, c.keyFile = filepath.Join(directory, "ca.crt"), filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key")
	for file, data := range map[string][]byte{c.caFile: c.ca, c.certFile: c.cert, c.keyFile: c.key} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			panic(err)
		}
	}
	return c
}

func sign(by *ecdsa.PrivateKey, parent *x509.Certificate, from, to time.Time) (*ecdsa.PrivateKey, *x509.Certificate, []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "somebody"}, NotBefore: from, NotAfter: to, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, BasicConstraintsValid: true, IsCA: by == nil,
	}
	if by == nil {
		by, parent = key, template
		template.Subject.CommonName = "authority"
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		panic(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return key, cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// settings returns valid and invalid TLS settings.
func (c *certificates) settings() map[string]rest.TLSClientConfig {
	missing := filepath.Join(directory, "missing")
	return map[string]rest.TLSClientConfig{
		"nothing": {}, "ca": {CAData: c.ca}, "ca file": {CAFile: c.caFile}, "ca missing": {CAFile: missing}, "ca garbage": {CAData: []byte("garbage")}, "ca key": {CAData: c.key}, "ca empty": {CAData: []byte{}}, "ca file empty": {CAFile: filepath.Join(directory, "empty")},
		"ca and garbage file": {CAData: c.ca, CAFile: missing}, "two cas": {CAData: append(bytes.Clone(c.ca), c.cert...)}, "insecure": {Insecure: true}, "insecure with ca": {Insecure: true, CAData: c.ca}, "insecure with ca file": {Insecure: true, CAFile: c.caFile},
		"name": {ServerName: "localhost"}, "name with ca": {ServerName: "localhost", CAData: c.ca}, "wrong name": {ServerName: "other", CAData: c.ca}, "insecure wrong name": {ServerName: "other", Insecure: true}, "protocols": {CAData: c.ca, NextProtos: []string{"http/1.1"}}, "protocol alone": {NextProtos: []string{"h2"}},
		"odd protocols": {CAData: c.ca, NextProtos: []string{"", "x"}}, "pair": {CAData: c.ca, CertData: c.cert, KeyData: c.key}, "pair of files": {CAData: c.ca, CertFile: c.certFile, KeyFile: c.keyFile}, "pair alone": {CertData: c.cert, KeyData: c.key}, "cert alone": {CertData: c.cert}, "key alone": {KeyData: c.key},
		"cert file alone": {CertFile: c.certFile}, "key file alone": {KeyFile: c.keyFile}, "cert and key file": {CertData: c.cert, KeyFile: c.keyFile}, "cert file and key": {CertFile: c.certFile, KeyData: c.key}, "wrong key": {CertData: c.cert, KeyData: c.otherKey}, "garbage pair": {CertData: []byte("x"), KeyData: []byte("y")},
		"missing pair": {CertFile: missing, KeyFile: missing}, "missing key": {CertFile: c.certFile, KeyFile: missing}, "turned pair": {CertData: c.key, KeyData: c.cert}, "pair in the past": {CAData: c.ca, CertData: c.past, KeyData: c.pastKey}, "insecure pair": {Insecure: true, CertData: c.cert, KeyData: c.key},
		"everything": {CAData: c.ca, CAFile: c.caFile, CertData: c.cert, CertFile: c.certFile, KeyData: c.key, KeyFile: c.keyFile, ServerName: "localhost", NextProtos: []string{"h2", "http/1.1"}},
	}
}

// moments matches times in errors about certificates.
var moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

func tryTransports() {
	c := newCertificates()
	plain := serve(newResponse(200, textType, "fine"))
	defer plain.Close()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.ca)
	secured := func(change func(*tls.Config)) *server {
		s := newUnstartedServer(response{fn: func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s %q %d", r.Proto, r.TLS.ServerName, len(r.TLS.PeerCertificates))
		}})
		// TLS 1.2, because with TLS 1.3 a server rejects a client's certificate only after the
		// client's handshake
		s.TLS = &tls.Config{Certificates: []tls.Certificate{c.server}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: pool, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12}
		s.EnableHTTP2 = true
		change(s.TLS)
		s.StartTLS()
		return s
	}
	past, err := tls.X509KeyPair(c.past, c.pastKey)
	if err != nil {
		panic(err)
	}
	servers := map[string]*server{
		"open": secured(func(*tls.Config) {}), "strict": secured(func(t *tls.Config) { t.ClientAuth = tls.RequireAndVerifyClientCert }), "past": secured(func(t *tls.Config) { t.Certificates = []tls.Certificate{past} }),
		"old": secured(func(t *tls.Config) { t.MinVersion, t.MaxVersion = tls.VersionTLS11, tls.VersionTLS11 }), "http1": secured(func(t *tls.Config) { t.NextProtos = []string{"http/1.1"} }), "plain": plain,
	}
	for _, name := range sorted(servers) {
		for _, setting := range sorted(c.settings()) {
			block("TLS to "+name+" with "+setting, func() {
				client, err := rest.RESTClientFor(configOf(servers[name], func(config *rest.Config) {
					config.TLSClientConfig = c.settings()[setting]
					config.BearerToken = "t"
				}))
				if line(kindOf(err)); err != nil {
					printCounts()
					return
				}
				raw, err := client.Get().BackOffWithContext(&recordingBackoff{}).MaxRetries(0).DoRaw(background)
				line(short(raw), moments.ReplaceAllString(kindOf(err), "TIME"))
				resetCounts()
			})
		}
	}
	for _, name := range sorted(servers) {
		servers[name].CloseClientConnections()
		if name != "plain" {
			servers[name].Close()
		}
	}
	tryHTTP2(c, c.server)
	tryShapes(c)
	tryProxies(plain)
}

// tryShapes prints the layers of transports. It also prints which configurations share a transport.
func tryShapes(certificates *certificates) {
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, errProgram }
	proxy := func(*http.Request) (*url.URL, error) { return nil, errProgram }
	own := &http.Transport{}
	configs := map[string]rest.Config{
		"nothing": {}, "host": {Host: "https://h"}, "timeout": {Timeout: 5e9}, "negative timeout": {Timeout: -1}, "insecure": {TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, "ca": {TLSClientConfig: rest.TLSClientConfig{CAData: certificates.ca}},
		"ca file": {TLSClientConfig: rest.TLSClientConfig{CAFile: certificates.caFile}}, "pair": {TLSClientConfig: rest.TLSClientConfig{CertData: certificates.cert, KeyData: certificates.key}}, "pair of files": {TLSClientConfig: rest.TLSClientConfig{CertFile: certificates.certFile, KeyFile: certificates.keyFile}},
		"name": {TLSClientConfig: rest.TLSClientConfig{ServerName: "n"}}, "http1": {TLSClientConfig: rest.TLSClientConfig{NextProtos: []string{"http/1.1"}}}, "no compression": {DisableCompression: true}, "dial": {Dial: dial}, "proxy": {Proxy: proxy},
		"token": {BearerToken: "t"}, "basic": {Username: "u"}, "impersonate": {Impersonate: rest.ImpersonationConfig{UserName: "u"}}, "user agent": {UserAgent: "u"}, "wrapper": {WrapTransport: headerAdder("x")},
		"all wrappers": {BearerToken: "t", UserAgent: "u", Impersonate: rest.ImpersonationConfig{UserName: "u"}, WrapTransport: headerAdder("x")}, "own": {Transport: own}, "own with token": {Transport: own, BearerToken: "t"}, "own default": {Transport: http.DefaultTransport},
		"own with ca": {Transport: own, TLSClientConfig: rest.TLSClientConfig{CAData: certificates.ca}}, "own with pair": {Transport: own, TLSClientConfig: rest.TLSClientConfig{CertData: certificates.cert, KeyData: certificates.key}}, "own insecure": {Transport: own, TLSClientConfig: rest.TLSClientConfig{Insecure: true}},
		"token and basic": {BearerToken: "t", Username: "u"}, "file and basic": {BearerTokenFile: certificates.caFile, Username: "u"}, "groups alone": {Impersonate: rest.ImpersonationConfig{Groups: []string{"g"}}},
	}
	transports := map[string]*http.Transport{}
	for _, name := range sorted(configs) {
		block("transport of "+name, func() {
			config := configs[name]
			rt, err := rest.TransportFor(&config)
			resetCounts()
			countTransports.Store(true)
			again, err2 := rest.TransportFor(&config)
			countTransports.Store(false)
			printCounts()
			line(kindOf(err), kindOf(err2))
			if err != nil {
				return
			}
			client, err := rest.HTTPClientFor(&config)
			line(kindOf(err))
			if err != nil {
				return
			}
			line(rt == http.DefaultTransport, client == http.DefaultClient, client.Timeout, client.CheckRedirect != nil, client.Jar != nil)
			inner := unwrapped(rt)
			other := unwrapped(again)
			line(inner != nil, inner == other)
			if inner == nil {
				return
			}
			transports[name] = inner
			line(inner.Proxy != nil, inner.DialContext != nil, inner.DialTLSContext != nil, inner.TLSHandshakeTimeout, inner.DisableCompression, inner.DisableKeepAlives, inner.MaxIdleConns, inner.MaxIdleConnsPerHost, inner.MaxConnsPerHost,
				inner.IdleConnTimeout, inner.ResponseHeaderTimeout, inner.ExpectContinueTimeout, inner.WriteBufferSize, inner.ReadBufferSize, inner.MaxResponseHeaderBytes)
			if inner != http.DefaultTransport && inner.TLSClientConfig != nil && config.TLSClientConfig.String() != (rest.TLSClientConfig{}).String() {
				describeTLS(inner.TLSClientConfig)
			}
			of, err := utilnet.DialerFor(rt)
			line(of != nil, kindOf(err))
			as, err := config.TransportConfig()
			line(kindOf(err), as.HasCA(), as.HasBasicAuth(), as.HasTokenAuth(), as.HasCertAuth(), as.HasCertCallback(), as.DialHolder != nil, as.Proxy != nil, as.Transport != nil, as.WrapTransport != nil, as.TLS.ServerName, as.TLS.Insecure, as.TLS.ReloadTLSFiles, as.TLS.ReloadCAFiles)
		})
	}
	block("transports that are one", func() {
		names := sorted(transports)
		for i, a := range names {
			for _, b := range names[i+1:] {
				if transports[a] == transports[b] {
					line(a, "and", b)
				}
			}
		}
	})
	block("wrappers", func() {
		rt, err := rest.HTTPWrappersForConfig(&rest.Config{BearerToken: "t", UserAgent: "ua", Impersonate: rest.ImpersonationConfig{UserName: "u"}, WrapTransport: headerAdder("x")}, roundTripperFunc(func(r *http.Request) (*http.Response, error) {
			line(describe(r, nil))
			return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
		}))
		if line(kindOf(err)); err == nil {
			original := httptest.NewRequest("GET", "http://h/x", nil)
			resp, err := rt.RoundTrip(original)
			line(resp.StatusCode, kindOf(err), len(original.Header))
		}
		_, err = rest.HTTPWrappersForConfig(&rest.Config{BearerToken: "t", Username: "u"}, nil)
		line(kindOf(err))
		c := &rest.Config{}
		c.Wrap(nil)
		line(c.WrapTransport == nil)
		printPanics(func() { line(c.WrapTransport(own) == http.RoundTripper(own)) })
		c.Wrap(headerAdder("a"))
		printPanics(func() { line(c.WrapTransport(own) != http.RoundTripper(own)) })
	})
}

// unwrapped returns the http.Transport inside of the layers.
func unwrapped(rt http.RoundTripper) *http.Transport {
	for {
		switch t := rt.(type) {
		case *http.Transport:
			return t
		case utilnet.RoundTripperWrapper:
			rt = t.WrappedRoundTripper()
		default:
			return nil
		}
	}
}

// tryProxies sends requests through proxies.
func tryProxies(plain *server) {
	through := serve(response{fn: func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "proxy got %s %s %s", r.Method, r.RequestURI, r.Header.Get("Proxy-Authorization"))
	}})
	defer through.Close()
	at, _ := url.Parse(through.URL)
	withUser := *at
	withUser.User = url.UserPassword("u", "p")
	proxies := map[string]func(*http.Request) (*url.URL, error){
		"none": nil, "there": http.ProxyURL(at), "with a user": http.ProxyURL(&withUser), "nothing": func(*http.Request) (*url.URL, error) { return nil, nil }, "failing": func(*http.Request) (*url.URL, error) { return nil, errProgram },
		"odd": http.ProxyURL(&url.URL{Scheme: "odd", Host: "x"}), "gone": http.ProxyURL(&url.URL{Scheme: "http", Host: "127.0.0.1:1"}),
	}
	for _, name := range sorted(proxies) {
		block("proxy "+name, func() {
			for _, host := range []string{plain.URL, "http://host.invalid", "https://host.invalid"} {
				c := clientOf(plain, func(c *rest.Config) { c.Host, c.Proxy = host, proxies[name] })
				plain.setResponses(newResponse(200, textType, "fine"))
				raw, err := c.Get().BackOffWithContext(&recordingBackoff{}).MaxRetries(0).DoRaw(background)
				line(short(raw), lookups.ReplaceAllString(kindOf(err), "LOOKUP"))
				plain.printRequests()
			}
		})
	}
	block("dial", func() {
		address := plain.Listener.Addr().String()
		c := clientOf(plain, func(c *rest.Config) {
			c.Host = "http://host.invalid:1"
			c.Dial = func(ctx context.Context, network, to string) (net.Conn, error) {
				line("dial", network, to)
				return (&net.Dialer{}).DialContext(ctx, network, address)
			}
		})
		sendOnce(plain, c.Get())
		c = clientOf(plain, func(c *rest.Config) {
			c.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errProgram }
		})
		line(kindOf(c.Get().MaxRetries(0).Do(background).Error()))
		showWatch(c.Get().MaxRetries(0))
	})
}
