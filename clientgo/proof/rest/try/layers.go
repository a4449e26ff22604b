package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/klog/v2"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// printingTransport returns a transport that prints the headers of the requests it receives.
func printingTransport(code int) http.RoundTripper {
	return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
		line("arrives", r.Method, r.URL, text(r.Header))
		return &http.Response{StatusCode: code, Body: io.NopCloser(strings.NewReader("body")), Request: r}, nil
	})
}

// sendThrough sends a request through the round tripper rt, and prints whether the caller's request
// is unchanged.
func sendThrough(rt http.RoundTripper, headers map[string]string) {
	r, err := http.NewRequest(http.MethodGet, "http://h/x", nil)
	if err != nil {
		panic(err)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	before := text(r.Header)
	resp, err := rt.RoundTrip(r)
	line(resp != nil, kindOf(err), before == text(r.Header))
	if resp != nil {
		data, err := io.ReadAll(resp.Body)
		line(resp.StatusCode, short(data), kindOf(err))
	}
}

// tryLayers wraps a transport with the layers of package transport.
func tryLayers() {
	full := transport.ImpersonationConfig{UserName: "u", UID: "1", Groups: []string{"a", "", "b"}, Extra: map[string][]string{"k": {"v", "w"}, "Ä %/x": {"y"}, "": {"z"}, "none": nil}}
	layers := map[string]func() http.RoundTripper{
		"basic": func() http.RoundTripper {
			return transport.NewBasicAuthRoundTripper("u", "p:ä", printingTransport(200))
		},
		"basic of nobody":       func() http.RoundTripper { return transport.NewBasicAuthRoundTripper("", "", printingTransport(200)) },
		"bearer":                func() http.RoundTripper { return transport.NewBearerAuthRoundTripper("t", printingTransport(200)) },
		"bearer of nothing":     func() http.RoundTripper { return transport.NewBearerAuthRoundTripper("", printingTransport(200)) },
		"bearer refused":        func() http.RoundTripper { return transport.NewBearerAuthRoundTripper("t", printingTransport(401)) },
		"user agent":            func() http.RoundTripper { return transport.NewUserAgentRoundTripper("ua", printingTransport(200)) },
		"user agent of nothing": func() http.RoundTripper { return transport.NewUserAgentRoundTripper("", printingTransport(200)) },
		"impersonate":           func() http.RoundTripper { return transport.NewImpersonatingRoundTripper(full, printingTransport(200)) },
		"impersonate nobody": func() http.RoundTripper {
			return transport.NewImpersonatingRoundTripper(transport.ImpersonationConfig{}, printingTransport(200))
		},
		"impersonate groups": func() http.RoundTripper {
			return transport.NewImpersonatingRoundTripper(transport.ImpersonationConfig{Groups: []string{"g"}}, printingTransport(200))
		},
		"proxy": func() http.RoundTripper {
			return transport.NewAuthProxyRoundTripper("u", "1", []string{"a", "b"}, map[string][]string{"k": {"v"}, "Ä %/x": {"y"}}, printingTransport(200))
		},
		"proxy of nobody": func() http.RoundTripper {
			return transport.NewAuthProxyRoundTripper("", "", nil, nil, printingTransport(200))
		},
		"no wrappers":  func() http.RoundTripper { return wrapIfSet(transport.Wrappers(), printingTransport(200)) },
		"nil wrappers": func() http.RoundTripper { return wrapIfSet(transport.Wrappers(nil, nil), printingTransport(200)) },
		"wrappers": func() http.RoundTripper {
			return wrapIfSet(transport.Wrappers(headerAdder("a"), nil, headerAdder("b")), printingTransport(200))
		},
		"canceller": func() http.RoundTripper {
			return wrapIfSet(transport.ContextCanceller(context.Background(), errProgram), printingTransport(200))
		},
		"debugging": func() http.RoundTripper { return transport.NewDebuggingRoundTripper(printingTransport(200)) },
		"debugging all": func() http.RoundTripper {
			return transport.NewDebuggingRoundTripper(printingTransport(200), transport.DebugJustURL, transport.DebugCurlCommand, transport.DebugRequestHeaders, transport.DebugResponseHeaders, transport.DebugResponseStatus, transport.DebugURLTiming, transport.DebugDetailedTiming)
		},
		"debug wrappers": func() http.RoundTripper { return transport.DebugWrappers(printingTransport(200)) },
		"both": func() http.RoundTripper {
			return transport.NewBearerAuthRoundTripper("t", transport.NewUserAgentRoundTripper("ua", printingTransport(200)))
		},
		"cancelled already": func() http.RoundTripper {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return wrapIfSet(transport.ContextCanceller(ctx, errProgram), printingTransport(200))
		},
		"failing": func() http.RoundTripper {
			return transport.NewBearerAuthRoundTripper("t", roundTripperFunc(func(*http.Request) (*http.Response, error) { return nil, errProgram }))
		},
	}
	headers := map[string]map[string]string{
		"none": {}, "authorization": {"Authorization": "own"}, "agent": {"User-Agent": "own"}, "impersonation": {"Impersonate-User": "own"}, "impersonated group": {"Impersonate-Group": "own"}, "proxy": {"X-Remote-User": "own", "X-Remote-Group": "own", "X-Remote-Extra-Old": "own", "X-Remote-Uid": "own"}, "empty": {"Authorization": "", "User-Agent": ""},
	}
	for _, name := range sorted(layers) {
		for _, of := range sorted(headers) {
			block("layer "+name+" "+of, func() {
				rt := layers[name]()
				sendThrough(rt, headers[of])
				if _, ok := rt.(utilnet.RoundTripperWrapper); name != "canceller" && name != "cancelled already" {
					line("wrapper", ok)
				}
			})
		}
	}
	block("headers of a proxy", func() {
		for _, extra := range []map[string][]string{nil, {"a": {"b", "c"}}, {"A B": {""}}} {
			r, _ := http.NewRequest(http.MethodGet, "http://h", nil)
			r.Header.Set("X-Remote-User", "old")
			r.Header.Set("X-Remote-Extra-Old", "old")
			r.Header.Set("X-Other", "old")
			transport.SetAuthProxyHeaders(r, "u", "", []string{"g", "h"}, extra)
			line(text(r.Header))
			transport.SetAuthProxyHeaders(r, "", "7", nil, extra)
			line(text(r.Header))
		}
	})
	tryTokens()
	tryTransportConfigs()
	tryLogs()
}

func wrapIfSet(w transport.WrapperFunc, rt http.RoundTripper) http.RoundTripper {
	if w == nil {
		line("no wrapper")
		return rt
	}
	return w(rt)
}

// tryTokens reads tokens from files.
func tryTokens() {
	for _, token := range []string{"t", " t \n", "", "\n"} {
		block(fmt.Sprintf("token source %q", token), func() {
			file := filepath.Join(directory, "source")
			if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
				panic(err)
			}
			source := transport.NewCachedFileTokenSource(file)
			for range 2 {
				got, err := source.Token()
				if line(kindOf(err)); err == nil {
					line(got.AccessToken, got.TokenType, got.Type(), got.Valid(), got.Expiry.IsZero())
				}
			}
			sendThrough(transport.ResettableTokenSourceWrapTransport(source)(printingTransport(200)), nil)
			sendThrough(transport.ResettableTokenSourceWrapTransport(source)(printingTransport(200)), map[string]string{"Authorization": "own"})
			for _, bearer := range []string{"", "b"} {
				rt, err := transport.NewBearerAuthWithRefreshRoundTripper(bearer, file, printingTransport(200))
				if line(kindOf(err)); err == nil {
					sendThrough(rt, nil)
				}
			}
		})
	}
	block("token source missing", func() {
		source := transport.NewCachedFileTokenSource(filepath.Join(directory, "no-source"))
		got, err := source.Token()
		line(got == nil, kindOf(err))
		sendThrough(transport.ResettableTokenSourceWrapTransport(source)(printingTransport(200)), nil)
		for _, bearer := range []string{"", "b"} {
			for _, file := range []string{"", filepath.Join(directory, "no-source")} {
				rt, err := transport.NewBearerAuthWithRefreshRoundTripper(bearer, file, printingTransport(200))
				if line(kindOf(err)); err == nil {
					sendThrough(rt, nil)
				}
			}
		}
	})
}

// tryTransportConfigs calls the Has methods of package transport's Config, and makes transports.
func tryTransportConfigs() {
	configs := map[string]transport.Config{
		"nothing": {}, "basic": {Username: "u"}, "password": {Password: "p"}, "token": {BearerToken: "t"}, "token file": {BearerTokenFile: "f"}, "both": {BearerToken: "t", Username: "u"}, "ca": {TLS: transport.TLSConfig{CAFile: "f"}}, "cert": {TLS: transport.TLSConfig{CertFile: "f"}},
		"pair": {TLS: transport.TLSConfig{CertFile: "f", KeyFile: "g"}}, "mixed pair": {TLS: transport.TLSConfig{CertData: []byte("x"), KeyFile: "g"}}, "callback": {TLS: transport.TLSConfig{GetCertHolder: &transport.GetCertHolder{}}}, "bad callback": {TLS: transport.TLSConfig{GetCertHolder: &transport.GetCertHolder{}, NextProtos: []string{"x"}}},
		"dialer of nothing": {DialHolder: &transport.DialHolder{}}, "own": {Transport: printingTransport(200)}, "own with TLS": {Transport: printingTransport(200), TLS: transport.TLSConfig{Insecure: true}}, "own with ca": {Transport: printingTransport(200), TLS: transport.TLSConfig{CAData: []byte("x")}}, "own with callback": {Transport: printingTransport(200), TLS: transport.TLSConfig{GetCertHolder: &transport.GetCertHolder{}}},
		"impersonate": {Impersonate: transport.ImpersonationConfig{UserName: "u"}}, "agent": {UserAgent: "ua"}, "insecure with ca": {TLS: transport.TLSConfig{Insecure: true, CAData: []byte("x")}}, "everything": {UserAgent: "ua", BearerToken: "t", Impersonate: transport.ImpersonationConfig{UserName: "u"}, WrapTransport: headerAdder("x"), Transport: printingTransport(200)},
	}
	for _, name := range sorted(configs) {
		block("transport config "+name, func() {
			c := configs[name]
			line(c.HasBasicAuth(), c.HasCA(), c.HasCertAuth(), c.HasCertCallback(), c.HasTokenAuth())
			printPanics(func() {
				rt, err := transport.New(&c)
				line(rt != nil, kindOf(err), rt == http.DefaultTransport)
				if err == nil && c.Transport != nil {
					sendThrough(rt, nil)
				}
			})
			printPanics(func() {
				rt, err := transport.HTTPWrappersForConfig(&c, printingTransport(200))
				if line(kindOf(err)); err == nil {
					sendThrough(rt, nil)
				}
			})
			printPanics(func() {
				config, err := transport.TLSConfigFor(&c)
				line(config != nil, kindOf(err))
			})
			c.Wrap(headerAdder("outer"))
			c.Wrap(headerAdder("outermost"))
			sendThrough(c.WrapTransport(printingTransport(200)), nil)
		})
	}
}

// logged records log messages and their levels.
type logged struct{ slog.Handler }

func (logged) Enabled(context.Context, slog.Level) bool { return true }
func (logged) WithAttrs([]slog.Attr) slog.Handler       { return logged{} }
func (logged) WithGroup(string) slog.Handler            { return logged{} }
func (logged) Handle(_ context.Context, r slog.Record) error {
	count("%v %s", r.Level, r.Message)
	return nil
}

// tryLogs prints the log of programs without their own handlers.
func tryLogs() {
	klog.SetSlogLogger(slog.New(logged{}))
	defer klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	block("a warning is logged", func() {
		for _, code := range []int{299, 199} {
			for _, message := range []string{"", "careful", "100%"} {
				rest.WarningLogger{}.HandleWarningHeader(code, "agent", message)
				rest.WarningLogger{}.HandleWarningHeaderWithContext(background, code, "agent", message)
				rest.WarningLogger{}.HandleWarningHeaderWithContext(klog.NewContext(background, klog.Background().WithName("mine")), code, "agent", message)
			}
		}
		printCounts()
	})
	block("a Config of a pod without an authority", func() {
		_, err := rest.InClusterConfig()
		line(errors.Is(err, rest.ErrNotInCluster))
		printCounts()
	})
}
