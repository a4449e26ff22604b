package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"k8s.io/klog/v2"

	"k8s.io/client-go/transport"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// headerRecorder is a round tripper that records the headers of a request.
type headerRecorder struct {
	o       *outcome
	respond func(*http.Request) (*http.Response, error)
	closed  bool
}

func (s *headerRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	s.o.line("sent", r.Method, normalize(r.URL.String()), headers(r.Header))
	if s.respond != nil {
		return s.respond(r)
	}
	return &http.Response{StatusCode: 200, Status: "200 OK", Header: http.Header{"X-Answer": {"1"}}, Body: io.NopCloser(strings.NewReader("body")), Request: r}, nil
}

func (s *headerRecorder) CloseIdleConnections() { s.closed = true }

func headers(h http.Header) string {
	var all []string
	for name, values := range h {
		all = append(all, fmt.Sprint(name, values))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func tryTransports() {
	configs := map[string]transport.Config{
		"nothing": {}, "agent": {UserAgent: "ua"}, "token": {BearerToken: "t"}, "basic": {Username: "u", Password: "p"}, "user alone": {Username: "u"}, "password alone": {Password: "p"}, "both": {Username: "u", Password: "p", BearerToken: "t"},
		"impersonate":  {Impersonate: transport.ImpersonationConfig{UserName: "i", UID: "9", Groups: []string{"a", "b"}, Extra: map[string][]string{"Some/Key ": {"x", "y"}, "ä": {"z"}, "%": nil, "lower": {"ö\n"}}}},
		"groups alone": {Impersonate: transport.ImpersonationConfig{Groups: []string{"a"}}}, "uid alone": {Impersonate: transport.ImpersonationConfig{UID: "9"}}, "extra alone": {Impersonate: transport.ImpersonationConfig{Extra: map[string][]string{"x": {"y"}}}}, "all": {UserAgent: "ua", BearerToken: "t", Impersonate: transport.ImpersonationConfig{UserName: "i"}, DisableCompression: true},
		"no compression": {DisableCompression: true}, "a token file that is not there": {BearerTokenFile: "/none/token"}, "a token and a file that is not there": {BearerToken: "t", BearerTokenFile: "/none/token"}, "basic and token file": {Username: "u", Password: "p", BearerTokenFile: "/none/token"},
	}
	for name, c := range configs {
		try("transport: "+name, func(o *outcome) {
			for _, given := range []http.Header{nil, {"User-Agent": {"own"}, "Authorization": {"own"}, "Impersonate-User": {"own"}, "X": {"1", "2"}}} {
				c := c
				c.Transport = &headerRecorder{o: o}
				rt, err := transport.HTTPWrappersForConfig(&c, c.Transport)
				o.line("wrappers", kindOf(err))
				sendWithHeaders(o, rt, given)
				rt, err = transport.New(&c)
				o.line("new", kindOf(err))
				sendWithHeaders(o, rt, given)
			}
			o.line(c.HasCA(), c.HasBasicAuth(), c.HasTokenAuth(), c.HasCertAuth(), c.HasCertCallback())
			sendToServer(o, &c)
		})
	}
	tryWrappers()
	tryTokens()
	tryTLS()
	tryDebugging()
}

// sendWithHeaders sends a request with the given headers. It records whether the round tripper has
// changed the caller's headers.
func sendWithHeaders(o *outcome, rt http.RoundTripper, given http.Header) {
	if rt == nil {
		return
	}
	request, _ := http.NewRequest("GET", "http://example.com/path?x=y", nil)
	if given != nil {
		request.Header = given.Clone()
	}
	before := headers(request.Header)
	response, err := rt.RoundTrip(request)
	if err != nil {
		o.line(kindOf(err))
		return
	}
	o.line(response.StatusCode, headers(request.Header) == before)
	_ = response.Body.Close()
}

// sendToServer sends a request to a server, and records the request that arrives.
func sendToServer(o *outcome, c *transport.Config) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { o.line("arrived", r.Method, r.URL, headers(r.Header)) }))
	defer s.Close()
	rt, err := transport.New(c)
	o.line(kindOf(err))
	if err != nil {
		return
	}
	response, err := (&http.Client{Transport: rt}).Get(s.URL + "/p")
	if err != nil {
		o.line(err != nil)
		return
	}
	_ = response.Body.Close()
}

func tryWrappers() {
	named := func(o *outcome, name string) transport.WrapperFunc {
		return func(rt http.RoundTripper) http.RoundTripper {
			return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
				o.line("through", name)
				return rt.RoundTrip(r)
			})
		}
	}
	try("transport: wrappers", func(o *outcome) {
		c := transport.Config{UserAgent: "ua", BearerToken: "t", Transport: &headerRecorder{o: o}}
		c.Wrap(named(o, "first"))
		c.Wrap(named(o, "second"))
		rt, err := transport.New(&c)
		o.line(kindOf(err))
		sendWithHeaders(o, rt, nil)
		sendWithHeaders(o, transport.Wrappers(named(o, "a"), nil, named(o, "b"))(&headerRecorder{o: o}), nil)
		sendWithHeaders(o, transport.Wrappers(nil, named(o, "c"))(&headerRecorder{o: o}), nil)
		o.line(transport.Wrappers() == nil, transport.Wrappers(nil) == nil, transport.Wrappers(nil, nil) == nil)
		c = transport.Config{Transport: &headerRecorder{o: o}}
		c.Wrap(nil)
		o.line(c.WrapTransport == nil)
	})
	try("transport: round trippers", func(o *outcome) {
		for _, given := range []http.Header{nil, {"Authorization": {"own"}, "User-Agent": {"own"}, "X-Remote-User": {"own"}, "X-Remote-Group": {"own"}, "X-Remote-Extra-A": {"own"}, "X-Remote-Uid": {"own"}, "Impersonate-Group": {"own"}}} {
			base := &headerRecorder{o: o}
			sendWithHeaders(o, transport.NewBearerAuthRoundTripper("t", base), given)
			sendWithHeaders(o, transport.NewBearerAuthRoundTripper("", base), given)
			sendWithHeaders(o, transport.NewBasicAuthRoundTripper("u", "p", base), given)
			sendWithHeaders(o, transport.NewUserAgentRoundTripper("ua", base), given)
			sendWithHeaders(o, transport.NewUserAgentRoundTripper("", base), given)
			sendWithHeaders(o, transport.NewAuthProxyRoundTripper("u", "9", []string{"a", "b"}, map[string][]string{"Key/X": {"1", "2"}}, base), given)
			sendWithHeaders(o, transport.NewAuthProxyRoundTripper("", "", nil, nil, base), given)
			sendWithHeaders(o, transport.NewImpersonatingRoundTripper(transport.ImpersonationConfig{UserName: "i"}, base), given)
			rt, err := transport.NewBearerAuthWithRefreshRoundTripper("t", "", base)
			o.line(kindOf(err))
			sendWithHeaders(o, rt, given)
		}
		request, _ := http.NewRequest("GET", "http://h", nil)
		transport.SetAuthProxyHeaders(request, "u", "", []string{"g"}, map[string][]string{"A B": {"c"}})
		o.line(headers(request.Header))
	})
	try("transport: end of a context", func(o *outcome) {
		ctx, cancel := context.WithCancel(context.Background())
		rt := transport.ContextCanceller(ctx, errors.New("over"))(&headerRecorder{o: o})
		sendWithHeaders(o, rt, nil)
		cancel()
		sendWithHeaders(o, rt, nil)
	})
	try("transport: wrapped round trippers", func(o *outcome) {
		base := &headerRecorder{o: o}
		c := transport.Config{UserAgent: "ua", BearerToken: "t", Impersonate: transport.ImpersonationConfig{UserName: "i"}, Transport: base}
		rt, _ := transport.New(&c)
		for range 10 {
			w, ok := rt.(interface{ WrappedRoundTripper() http.RoundTripper })
			if !ok {
				break
			}
			rt = w.WrappedRoundTripper()
			o.line("wraps", rt == http.RoundTripper(base))
		}
		canceler, ok := rt.(interface{ CancelRequest(*http.Request) })
		o.line(ok, canceler == nil)
		outer, _ := transport.New(&c)
		_, ok = outer.(interface{ CancelRequest(*http.Request) })
		o.line(ok)
	})
}

type roundTripperFunc func(*http.Request) (*http.Response, error)

func (t roundTripperFunc) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// source is a token source with these results. It repeats the last result.
type source struct {
	o       *outcome
	results []tokenResult
	calls   int
}

type tokenResult struct {
	token string
	left  time.Duration
	err   error
}

func (s *source) Token() (*oauth2.Token, error) {
	a := s.results[min(s.calls, len(s.results)-1)]
	s.calls++
	s.o.line("asked for a token")
	if a.err != nil {
		return nil, a.err
	}
	t := &oauth2.Token{AccessToken: a.token}
	if a.left != 0 {
		t.Expiry = time.Now().Add(a.left)
	}
	return t, nil
}

func tryTokens() {
	for name, results := range map[string][]tokenResult{
		"one": {{token: "a", left: time.Hour}}, "another one before the end": {{token: "a", left: time.Hour}, {token: "b", left: time.Hour}, {err: errors.New("x")}}, "without an end": {{token: "a"}, {token: "b"}}, "expired": {{token: "a", left: -time.Hour}, {token: "b", left: time.Hour}}, "soon": {{token: "a", left: 5 * time.Second}, {token: "b", left: time.Hour}},
		"a failure": {{err: errors.New("x")}, {token: "b", left: time.Hour}}, "a failure later": {{token: "a", left: time.Second}, {err: errors.New("x")}}, "empty": {{}},
	} {
		try("tokens: "+name, func(o *outcome) {
			ts := transport.NewCachedTokenSource(&source{o: o, results: results})
			for range 3 {
				t, err := ts.Token()
				if err != nil {
					o.line(kindOf(err))
					continue
				}
				o.line(t.AccessToken)
			}
			ts.ResetTokenOlderThan(time.Now().Add(-time.Hour))
			t, err := ts.Token()
			o.line(t != nil, kindOf(err))
			ts.ResetTokenOlderThan(time.Now().Add(time.Hour))
			t, err = ts.Token()
			o.line(t != nil, kindOf(err))
			for _, code := range []int{200, 401, 403} {
				base := &headerRecorder{o: o, respond: func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: code, Body: http.NoBody}, nil
				}}
				resettable := transport.NewCachedTokenSource(&source{o: o, results: results})
				rt := transport.ResettableTokenSourceWrapTransport(resettable)(base)
				sendWithHeaders(o, rt, nil)
				sendWithHeaders(o, rt, nil)
				sendWithHeaders(o, rt, http.Header{"Authorization": {"own"}})
				plain := transport.TokenSourceWrapTransport(&source{o: o, results: results})(base)
				sendWithHeaders(o, plain, nil)
				sendWithHeaders(o, plain, nil)
				sendWithHeaders(o, plain, nil)
				sendWithHeaders(o, plain, http.Header{"Authorization": {"own"}})
			}
		})
	}
	for name, content := range map[string]string{"token": "t", "lines": "\n t \n", "empty": "", "spaces": " \n"} {
		try("tokens: a file with "+name, func(o *outcome) {
			dir, remove := folder()
			defer remove()
			path := filepath.Join(dir, "token")
			clean := func(err error) string { return strings.ReplaceAll(kindOf(err), dir, "DIR") }
			_, err := transport.NewCachedFileTokenSource(path).Token()
			o.line(clean(err))
			_ = os.WriteFile(path, []byte(content), 0o600)
			ts := transport.NewCachedFileTokenSource(path)
			t, err := ts.Token()
			if err == nil {
				o.line(t.AccessToken, t.TokenType, t.Type(), time.Until(t.Expiry) > 0, time.Until(t.Expiry) < 5*time.Minute)
			}
			o.line(clean(err))
			_ = os.WriteFile(path, []byte("other"), 0o600)
			t, err = ts.Token()
			o.line(t != nil && t.AccessToken == "other", clean(err))
			rt, err := transport.NewBearerAuthWithRefreshRoundTripper("given", path, &headerRecorder{o: o})
			o.line(clean(err))
			sendWithHeaders(o, rt, nil)
			_ = os.Remove(path)
			rt, err = transport.NewBearerAuthWithRefreshRoundTripper("given", path, &headerRecorder{o: o})
			o.line(clean(err))
			sendWithHeaders(o, rt, nil)
			rt, err = transport.NewBearerAuthWithRefreshRoundTripper("", path, &headerRecorder{o: o})
			o.line(clean(err))
			if rt != nil {
				request, _ := http.NewRequest("GET", "http://h", nil)
				_, err = rt.RoundTrip(request)
				o.line(clean(err))
			}
		})
	}
}

func tryTLS() {
	key := newKey()
	ca, _ := cert.NewSelfSignedCACert(cert.Config{CommonName: "ca"}, key)
	caPEM, _ := cert.EncodeCertificates(ca)
	keyPEM, _ := keyutil.MarshalPrivateKeyToPEM(key)
	otherPEM, _ := keyutil.MarshalPrivateKeyToPEM(newKey())
	dir, err := os.MkdirTemp("", "try")
	if err != nil {
		panic(err)
	}
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		_ = os.WriteFile(path, data, 0o600)
		return path
	}
	caFile, certFile, keyFile, none := write("ca", caPEM), write("cert", caPEM), write("key", keyPEM), filepath.Join(dir, "none")
	unparsable := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})
	text := write("text", []byte("text"))
	shown := &transport.GetCertHolder{GetCert: func() (*tls.Certificate, error) { return &tls.Certificate{}, nil }}
	for name, c := range map[string]transport.TLSConfig{
		"nothing": {}, "insecure": {Insecure: true}, "name": {ServerName: "n"}, "protocols": {NextProtos: []string{"a"}}, "ca": {CAData: caPEM}, "ca file": {CAFile: caFile}, "ca file reloaded": {CAFile: caFile, ReloadCAFiles: true}, "no ca file": {CAFile: none}, "bad ca": {CAData: []byte("x")}, "unreadable ca": {CAData: unparsable}, "ca and an unreadable one": {CAData: slices.Concat(caPEM, unparsable)}, "unreadable ca and a good one": {CAData: slices.Concat(unparsable, caPEM)}, "ca and rubbish": {CAData: slices.Concat(caPEM, []byte("x"))}, "another block and rubbish": {CAData: slices.Concat(keyPEM, []byte("x"))}, "bad ca file": {CAFile: text}, "empty ca file": {CAFile: write("empty", nil)},
		"ca and insecure": {CAData: caPEM, Insecure: true}, "ca file and insecure": {CAFile: none, Insecure: true}, "certificate": {CertData: caPEM, KeyData: keyPEM}, "certificate files": {CertFile: certFile, KeyFile: keyFile}, "certificate files reloaded": {CertFile: certFile, KeyFile: keyFile, ReloadTLSFiles: true}, "certificate without key": {CertData: caPEM},
		"key without certificate": {KeyData: keyPEM}, "certificate with another key": {CertData: caPEM, KeyData: otherPEM}, "certificate file without key": {CertFile: certFile}, "key file without certificate": {KeyFile: keyFile}, "no certificate file": {CertFile: none, KeyFile: keyFile}, "no key file": {CertFile: certFile, KeyFile: none}, "data before files": {CAData: caPEM, CAFile: none, CertData: caPEM, CertFile: none, KeyData: keyPEM, KeyFile: none},
		"data and a file": {CertData: caPEM, KeyFile: keyFile}, "bad certificate": {CertData: []byte("x"), KeyData: keyPEM}, "function": {GetCertHolder: shown}, "function and data": {GetCertHolder: shown, CertData: caPEM, KeyData: keyPEM}, "function that is nil": {GetCertHolder: &transport.GetCertHolder{}}, "ca data and reloaded file": {CAData: caPEM, CAFile: caFile, ReloadCAFiles: true},
	} {
		try("TLS: "+name, func(o *outcome) {
			clean := func(err error) string { // the texts of errors about the data differ
				text, _, _ := strings.Cut(strings.ReplaceAll(kindOf(err), dir, "DIR"), "unable to parse bytes")
				text, _, _ = strings.Cut(text, "no certificate in")
				return text
			}
			c := transport.Config{TLS: c}
			o.line(c.HasCA(), c.HasCertAuth(), c.HasCertCallback())
			t, err := transport.TLSConfigFor(&c)
			o.line(t == nil, clean(err))
			if t != nil {
				o.line(t.InsecureSkipVerify, t.ServerName, t.NextProtos, t.MinVersion, t.RootCAs != nil, len(t.Certificates), t.GetClientCertificate != nil)
				if t.GetClientCertificate != nil {
					o.panics("certificate", func() {
						shown, err := t.GetClientCertificate(&tls.CertificateRequestInfo{})
						o.line(shown != nil && len(shown.Certificate) > 0, clean(err))
					})
				}
			}
			rt, err := transport.New(&c)
			o.line(rt == nil, clean(err), rt == http.DefaultTransport)
			with := c
			with.Transport = &headerRecorder{o: o}
			rt, err = transport.New(&with)
			o.line(rt == nil, clean(err))
			if again, _ := transport.New(&c); again != nil {
				second, _ := transport.New(&c)
				o.line(fmt.Sprintf("%p", again) == fmt.Sprintf("%p", second))
			}
		})
	}
	try("TLS: a server", func(o *outcome) {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { o.line("arrived", r.Proto, headers(r.Header)) }))
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		defer s.Close()
		trusted, _ := cert.EncodeCertificates(s.Certificate())
		for _, c := range []transport.TLSConfig{{}, {Insecure: true}, {CAData: trusted}, {CAData: caPEM}, {CAData: trusted, ServerName: "example.com"}, {CAData: trusted, ServerName: "other.example"}} {
			rt, err := transport.New(&transport.Config{TLS: c})
			o.line(kindOf(err))
			response, err := (&http.Client{Transport: rt}).Get(s.URL)
			var unknown x509.UnknownAuthorityError
			var host x509.HostnameError
			o.line(err != nil, errors.As(err, &unknown), errors.As(err, &host))
			if err == nil {
				_ = response.Body.Close()
			}
		}
	})
	try("transport: dial and proxy", func(o *outcome) {
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { o.line("arrived", normalize(r.URL.String()), r.Host) }))
		defer s.Close()
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			o.line("dial", network, address)
			return (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(s.URL, "http://"))
		}
		rt, err := transport.New(&transport.Config{DialHolder: &transport.DialHolder{Dial: dial}})
		o.line(kindOf(err))
		response, err := (&http.Client{Transport: rt}).Get("http://nowhere.example/x")
		o.line(err != nil)
		if err == nil {
			_ = response.Body.Close()
		}
		proxy, _ := url.Parse(s.URL)
		rt, err = transport.New(&transport.Config{Proxy: func(*http.Request) (*url.URL, error) { return proxy, nil }})
		o.line(kindOf(err))
		response, err = (&http.Client{Transport: rt}).Get("http://nowhere.example/y")
		o.line(err != nil)
		if err == nil {
			_ = response.Body.Close()
		}
		rt, _ = transport.New(&transport.Config{Proxy: func(*http.Request) (*url.URL, error) { return nil, errors.New("no proxy") }})
		_, err = (&http.Client{Transport: rt}).Get("http://nowhere.example/z")
		o.line(kindOf(err))
	})
}

func tryDebugging() {
	levels := map[string][]transport.DebugLevel{
		"nothing": nil, "url": {transport.DebugJustURL}, "timing": {transport.DebugURLTiming}, "curl": {transport.DebugCurlCommand}, "headers": {transport.DebugRequestHeaders}, "status": {transport.DebugResponseStatus}, "response headers": {transport.DebugResponseHeaders}, "detailed": {transport.DebugDetailedTiming}, "by context": {transport.DebugByContext},
		"several": {transport.DebugJustURL, transport.DebugRequestHeaders, transport.DebugResponseStatus, transport.DebugResponseHeaders},
	}
	for name, level := range levels {
		for _, verbosity := range []int{0, 6, 7, 8, 9, 10} {
			if verbosity != 0 && name != "by context" {
				continue
			}
			try(fmt.Sprint("debugging: ", name, " ", verbosity), func(o *outcome) {
				for _, fails := range []bool{false, true} {
					l := &lines{}
					logger := l.logger(verbosity)
					base := &headerRecorder{o: o}
					if fails {
						base.respond = func(*http.Request) (*http.Response, error) { return nil, errors.New("x") }
					}
					rt := transport.NewDebuggingRoundTripper(base, level...)
					request, _ := http.NewRequestWithContext(klog.NewContext(context.Background(), logger), "POST", "http://user:secret@example.com/p?x=y", strings.NewReader("body"))
					request.Header = http.Header{"Authorization": {"Bearer secret", "Basic secret", "Odd", "Negotiate secret", "bearer secret x"}, "X": {"1", "2"}, "Impersonate-User": {"i"}, "Cookie": {"c"}}
					response, err := rt.RoundTrip(request)
					o.line(response != nil, kindOf(err))
					if w, ok := rt.(interface{ WrappedRoundTripper() http.RoundTripper }); ok {
						o.line(w.WrappedRoundTripper() == http.RoundTripper(base))
					}
					all := l.taken()
					if !fails {
						o.line(len(all) > 0)
					}
					for _, text := range all { // all other lines are only for people, and differ
						if strings.Contains(strings.ReplaceAll(text, "user:secret@", ""), "earer secret") {
							o.line("a secret")
						}
					}
				}
			})
		}
	}
	tryAlone("debugging: wrappers by verbosity", func(o *outcome) {
		base := &headerRecorder{o: o}
		rt := transport.DebugWrappers(base)
		_, wrapped := rt.(interface{ WrappedRoundTripper() http.RoundTripper })
		o.line(wrapped)
		sendWithHeaders(o, rt, nil)
	})
}
