package rest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/regular"
	"github.com/kinform/kinform/internal/remind"
)

// transports are the transport of a client, and the next one each time that what
// connections are secured with changes. A transport keeps its connections to
// itself, so that a change concerns all new requests and no open stream.
type transports struct {
	dial       func(ctx context.Context, network, addr string) (net.Conn, error)
	proxy      func(*http.Request) (*url.URL, error)
	serverName string
	insecure   bool
	given      bool                      // the certificate is what Config.Credentials gives, be it none
	read       func() (*security, error) // reads the files; nil where there are none
	logger     *slog.Logger
	reading    rereading

	mu      sync.Mutex      // guards following
	current *http.Transport // nil before the first request
	used    *security       // by current
	retired []retired       // lately, oldest first
	said    remind.Reminder // that the files cannot be used
}

// retired is a transport that is used no more. Its connections are closed as they become
// idle, which one with HTTP/2 may do some moments after the end of its last request.
type retired struct {
	transport *http.Transport
	at        time.Time
}

// forgetAfter is the time after which nothing more is done about a transport: what is
// still in use ends by itself, at idleTimeout after its last request.
const (
	forgetAfter = 2 * idleTimeout
	idleTimeout = 90 * time.Second
)

// get returns the transport for a request. certificate is that of
// Config.Credentials, if there is one. The error is that of ctx.
func (t *transports) get(ctx context.Context, certificate *tls.Certificate) (*http.Transport, error) {
	if t.read != nil {
		if err := t.reading.ensure(ctx, patience, t.reload); err != nil {
			return nil, err
		}
	}
	t.mu.Lock()
	next := t.used
	if t.given && !sameCertificate(certificate, next.certificate()) {
		next = &security{next.pem, next.roots, func() *tls.Certificate { return certificate }}
	}
	if t.current == nil || next != t.used {
		t.useLocked(next)
	}
	current, old := t.current, t.retiredLocked()
	t.mu.Unlock()
	closeIdle(old)
	return current, nil
}

// reload reads the files, and takes over what is in them where that has changed.
func (t *transports) reload() {
	read, err := t.read()
	t.mu.Lock()
	say, mended := false, false
	if err == nil {
		mended = t.said.Over()
	} else {
		_, say = t.said.Due(0, time.Now())
	}
	t.mu.Unlock()
	if mended {
		t.logger.Info("The files for TLS can be used again.")
	}
	if say {
		t.logger.Warn("The files for TLS cannot be used; their last good contents stay in use.", "err", err)
	}
	if err != nil {
		return
	}
	t.mu.Lock()
	if read.pem.Reveal() != t.used.pem.Reveal() {
		if t.given {
			read.certificate = t.used.certificate
		}
		t.useLocked(read)
	}
	old := t.retiredLocked()
	t.mu.Unlock()
	closeIdle(old)
}

// closeIdle closes the connections that nobody uses.
func (t *transports) closeIdle() {
	t.mu.Lock()
	old := t.retiredLocked()
	if t.current != nil {
		old = append(old, t.current)
	}
	t.mu.Unlock()
	closeIdle(old)
}

func closeIdle(transports []*http.Transport) {
	for _, t := range transports {
		t.CloseIdleConnections()
	}
}

// retiredLocked returns the transports that may have idle connections.
func (t *transports) retiredLocked() (old []*http.Transport) {
	t.retired = slices.DeleteFunc(t.retired, func(r retired) bool { return time.Since(r.at) > forgetAfter })
	for _, r := range t.retired {
		old = append(old, r.transport)
	}
	return old
}

// useLocked makes the current transport, with what is secure from now on, and retires
// the one before, if there was one.
func (t *transports) useLocked(s *security) {
	if t.current != nil {
		t.retired = append(t.retired, retired{t.current, time.Now()})
	}
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		RootCAs:            s.roots,
		ServerName:         t.serverName,
		InsecureSkipVerify: t.insecure, // asked for by name
	}
	if certificate := s.certificate(); certificate != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certificate, nil }
	}
	t.used = s
	t.current = &http.Transport{
		DialContext:         t.dial,
		Proxy:               t.proxy,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 25,
		IdleConnTimeout:     idleTimeout,
		ReadBufferSize:      feedSize,

		MaxResponseHeaderBytes: maxHeaderBytes,
		ForceAttemptHTTP2:      true,
		// A peer that is gone without a word is noticed by its silence on a ping, or
		// by its taking no more bytes.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second, WriteByteTimeout: 10 * time.Second},
	}
}

// security is what connections are secured with. It does not change.
type security struct {
	pem         Secret // all of the following as it was read
	roots       *x509.CertPool
	certificate func() *tls.Certificate // as in a Credential, but never nil
}

func noCertificate() *tls.Certificate { return nil }

// sameCertificate says whether two certificates, which may be nil, are the same, and so
// are their keys. A source may parse its files for each request.
func sameCertificate(a, b *tls.Certificate) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a == b || slices.EqualFunc(a.Certificate, b.Certificate, bytes.Equal)
}

func (t *TLSConfig) hasFiles() bool {
	return t.CAFile != "" || t.CertFile != "" || t.KeyFile != ""
}

func (t *TLSConfig) hasCertificate() bool {
	return len(t.CertData) > 0 || t.CertFile != "" || !t.KeyData.IsZero() || t.KeyFile != ""
}

// load reads what t names, and refuses what contradicts itself.
func (t *TLSConfig) load() (*security, error) {
	ca, err := pem("CA", t.CAData, t.CAFile)
	var cert, key []byte
	if err == nil {
		cert, err = pem("certificate", t.CertData, t.CertFile)
	}
	if err == nil {
		key, err = pem("key", []byte(t.KeyData.Reveal()), t.KeyFile)
	}
	if err != nil {
		return nil, err
	}
	out := &security{pem: NewSecret(string(ca) + string(cert) + string(key)), certificate: noCertificate}
	if len(ca) > 0 {
		if t.Insecure {
			return nil, errors.New("TLS.Insecure and a CA exclude each other")
		}
		out.roots = x509.NewCertPool()
		if !out.roots.AppendCertsFromPEM(ca) {
			return nil, errors.New("TLS: the CA holds no certificate in PEM")
		}
	}
	switch {
	case len(cert) == 0 && len(key) == 0:
		return out, nil
	case len(cert) == 0 || len(key) == 0:
		return nil, errors.New("TLS: a client certificate needs both a certificate and a key")
	case t.KeyPair == nil:
		return nil, errors.New("TLS: a client certificate needs KeyPair: set it to tls.X509KeyPair")
	}
	var pair tls.Certificate
	err = guarded(func() (err error) {
		pair, err = t.KeyPair(cert, key)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("TLS: client certificate: %w", err)
	}
	out.certificate = func() *tls.Certificate { return &pair }
	return out, nil
}

// pem returns what is given either as data or as a file, and nil for neither.
func pem(what string, data []byte, file string) ([]byte, error) {
	switch {
	case len(data) > 0 && file != "":
		return nil, errors.New("TLS: the " + what + " is given both as data and as a file; drop one")
	case len(data) > 0 || file == "":
		return data, nil
	}
	data, err := regular.Read(file, maxFileBytes)
	if err == nil && len(data) == 0 {
		err = errors.New(file + " is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("TLS: %s: %w", what, err)
	}
	return data, nil
}
