package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/pkg/apis/clientauthentication"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// pointers matches memory addresses.
var pointers = regexp.MustCompile(`0x[0-9a-f]{6,}`)

type persister struct{ secret string }

func (persister) Persist(map[string]string) error { return nil }

// full returns a Config in which every field is set.
func full() *rest.Config {
	return &rest.Config{
		Host: "host", APIPath: "/api", Username: "user", Password: "SECRET1", BearerToken: "SECRET2", BearerTokenFile: "tokenfile",
		ContentConfig: rest.ContentConfig{AcceptContentTypes: "a/b", ContentType: "c/d", GroupVersion: &schema.GroupVersion{Group: "g", Version: "v"}},
		Impersonate:   rest.ImpersonationConfig{UserName: "iu", UID: "1", Groups: []string{"g1", "g2"}, Extra: map[string][]string{"k": {"v"}}},
		AuthProvider:  &clientcmdapi.AuthProviderConfig{Name: "provider", Config: map[string]string{"key": "SECRET3"}}, AuthConfigPersister: persister{"SECRET4"},
		ExecProvider: &clientcmdapi.ExecConfig{
			Command: "cmd", Args: []string{"SECRET5"}, Env: []clientcmdapi.ExecEnvVar{{Name: "N", Value: "SECRET6"}}, APIVersion: "client.authentication.k8s.io/v1", ProvideClusterInfo: true,
			InstallHint: "hint", InteractiveMode: clientcmdapi.NeverExecInteractiveMode, Config: &runtime.Unknown{Raw: []byte("SECRET7")},
		},
		TLSClientConfig: rest.TLSClientConfig{Insecure: true, ServerName: "sn", CertFile: "cf", KeyFile: "kf", CAFile: "caf", CertData: []byte("cert"), KeyData: []byte("SECRET8"), CAData: []byte("ca"), NextProtos: []string{"h2"}},
		UserAgent:       "ua", DisableCompression: true, QPS: 3, Burst: 4, Timeout: 5e9,
		Transport: http.DefaultTransport, WrapTransport: headerAdder("x"), RateLimiter: &limiter{}, WarningHandler: warningRecorder{"h"}, WarningHandlerWithContext: contextWarningRecorder{"hc"},
		Dial:  func(context.Context, string, string) (net.Conn, error) { return nil, errProgram },
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil },
	}
}

// fields prints the fields of a Config that are set, and their values.
func fields(c *rest.Config) {
	v := reflect.ValueOf(*c)
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		switch {
		case name == "Sharing": // a field that client-go does not have
		case f.IsZero():
			line(name, "unset")
		case f.Kind() == reflect.Func || f.Kind() == reflect.Interface:
			line(name, "set")
		default:
			line(name, pointers.ReplaceAllString(text(f.Interface()), "POINTER"))
		}
	}
}

func tryConfigs() {
	certificates := newCertificates()
	block("a copy", func() {
		original := full()
		c := rest.CopyConfig(original)
		fields(c)
		c.Impersonate.Groups[0] = "x"
		c.Impersonate.Extra["k"] = nil
		c.AuthProvider.Config["key"] = "x"
		c.GroupVersion.Group = "x"
		line(original.Impersonate, original.AuthProvider.Config, original.GroupVersion)
		fields(rest.CopyConfig(&rest.Config{}))
		fields(rest.CopyConfig(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: []byte{}, NextProtos: []string{}}}))
		printPanics(func() { fields(rest.CopyConfig(nil)) })
	})
	block("a copy is changed", func() {
		original := full()
		c := rest.CopyConfig(original)
		c.KeyData[0], c.NextProtos[0], c.ExecProvider.Args[0] = 'x', "x", "x"
		line(string(original.KeyData), original.NextProtos, original.ExecProvider.Args)
	})
	block("an anonymous copy", func() {
		original := full()
		c := rest.AnonymousClientConfig(original)
		fields(c)
		c.CAData[0], c.NextProtos[0] = 'x', "x"
		line(string(original.CAData), original.NextProtos)
		fields(rest.AnonymousClientConfig(&rest.Config{}))
		printPanics(func() { fields(rest.AnonymousClientConfig(nil)) })
	})
	block("a Config is printed", func() {
		for _, c := range []*rest.Config{
			full(), {}, nil, {Password: "SECRET"}, {BearerToken: "SECRET"}, {AuthProvider: &clientcmdapi.AuthProviderConfig{}}, {AuthProvider: &clientcmdapi.AuthProviderConfig{Config: map[string]string{}}},
			{ExecProvider: &clientcmdapi.ExecConfig{}}, {AuthConfigPersister: persister{"SECRET"}}, {TLSClientConfig: rest.TLSClientConfig{CertData: []byte{}, KeyData: []byte{}}}, {TLSClientConfig: rest.TLSClientConfig{KeyData: []byte("SECRET")}},
			{ExecProvider: &clientcmdapi.ExecConfig{Env: []clientcmdapi.ExecEnvVar{{Name: "N", Value: "SECRET"}}}},
		} {
			for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
				line(format, printed(fmt.Sprintf(format, c)))
			}
			if c != nil {
				line(printed(c.String() + " " + c.GoString()))
				line(printed(fmt.Sprintf("%v %+v %#v %s", c.TLSClientConfig, c.TLSClientConfig, c.TLSClientConfig, c.TLSClientConfig)))
				line(printed(fmt.Sprintf("%v %#v", &c.TLSClientConfig, &c.TLSClientConfig)))
			}
		}
	})
	block("user agents", func() {
		line(rest.DefaultKubernetesUserAgent())
		args := os.Args
		defer func() { os.Args = args }()
		for _, name := range []string{"/a/b/prog", "", "a b", "prog.exe"} {
			os.Args = []string{name}
			line(name, rest.DefaultKubernetesUserAgent())
		}
		os.Args = args
		c := &rest.Config{}
		line(rest.AddUserAgent(c, "part") == c, c.UserAgent)
		rest.AddUserAgent(c, "other")
		line(c.UserAgent)
		line(kindOf(rest.SetKubernetesDefaults(c)), c.UserAgent)
		c.UserAgent = ""
		line(kindOf(rest.SetKubernetesDefaults(c)), c.UserAgent, c.QPS, c.Burst)
	})
	block("copies of TLS", func() {
		line((*rest.TLSClientConfig)(nil).DeepCopy() == nil)
		line(text(full().DeepCopy()), text((&rest.TLSClientConfig{}).DeepCopy()))
	})
	paths := map[string]string{"": "", "good": certificates.caFile, "cert": certificates.certFile, "key": certificates.keyFile, "missing": filepath.Join(directory, "missing"), "empty": filepath.Join(directory, "empty"), "directory": directory}
	for _, which := range []string{"ca", "cert", "key"} {
		for _, name := range sorted(paths) {
			block("TLS file "+which+" "+name, func() {
				for _, data := range []string{"", "data"} {
					c := &rest.Config{}
					switch which {
					case "ca":
						c.CAFile, c.CAData = paths[name], []byte(data)
					case "cert":
						c.CertFile, c.CertData = paths[name], []byte(data)
					case "key":
						c.KeyFile, c.KeyData = paths[name], []byte(data)
					}
					before := rest.CopyConfig(c)
					err := rest.LoadTLSFiles(c)
					line(kindOf(err), string(c.CAData) == string(certificates.ca), len(c.CAData) > 0, len(c.CertData) > 0, len(c.KeyData) > 0, c.CAFile == before.CAFile, c.CertFile == before.CertFile)
				}
			})
		}
	}
	for _, name := range sorted(certificates.settings()) {
		block("TLS "+name, func() {
			c := &rest.Config{TLSClientConfig: certificates.settings()[name]}
			config, err := rest.TLSConfigFor(c)
			line(kindOf(err))
			describeTLS(config)
			if config != nil {
				line(config.NextProtos)
			}
			_, err = rest.TransportFor(c)
			line(kindOf(err))
			_, err = rest.HTTPClientFor(c)
			line(kindOf(err))
			line(rest.IsConfigTransportTLS(*c))
		})
	}
	block("TLS of no Config", func() {
		printPanics(func() {
			c, err := rest.TLSConfigFor(nil)
			line(c == nil, kindOf(err))
		})
		printPanics(func() {
			c, err := rest.TransportFor(nil)
			line(c == nil, kindOf(err))
		})
		printPanics(func() {
			c, err := rest.HTTPClientFor(nil)
			line(c == nil, kindOf(err))
		})
		printPanics(func() { line(kindOf(rest.LoadTLSFiles(nil))) })
	})
	tryClusters()
	tryInCluster()
}

// printed removes memory addresses, and the field Sharing, which client-go's Config does not have.
func printed(s string) string {
	s = regexp.MustCompile(`, Sharing:(""|rest\.Sharing\{[^}]*\})`).ReplaceAllString(s, "")
	// shorten the CA bundle, which is not a secret
	s = regexp.MustCompile(`CAData:\[\]uint8\{[^}]+\}`).ReplaceAllString(s, "CADATA")
	s = regexp.MustCompile(`rest\.(configText|tlsText|sanitizedConfig|sanitizedTLSClientConfig)`).ReplaceAllString(s, "rest.PRINTED")
	s = regexp.MustCompile(`rest\.(redactedPersister|sanitizedAuthConfigPersister)`).ReplaceAllString(s, "rest.PERSISTER")
	return pointers.ReplaceAllString(s, "POINTER")
}

func describeTLS(c *tls.Config) {
	if c == nil {
		line("none")
		return
	}
	line(c.InsecureSkipVerify, fmt.Sprintf("%q", c.ServerName), c.MinVersion, c.MaxVersion, c.RootCAs == nil, len(c.Certificates), c.GetClientCertificate != nil, c.CipherSuites == nil, c.VerifyConnection != nil, c.VerifyPeerCertificate != nil, c.Renegotiation, c.ClientSessionCache != nil)
	if c.GetClientCertificate != nil {
		cert, err := c.GetClientCertificate(&tls.CertificateRequestInfo{})
		line(cert != nil && len(cert.Certificate) > 0, kindOf(err))
	}
}

// tryClusters converts a Config to the input of a plugin, and back.
func tryClusters() {
	proxy := func(u string, err error) func(*http.Request) (*url.URL, error) {
		return func(r *http.Request) (*url.URL, error) {
			count("proxy of %s %s", r.Method, r.URL)
			if u == "" {
				return nil, err
			}
			parsed, _ := url.Parse(u)
			return parsed, err
		}
	}
	configs := map[string]*rest.Config{
		"nothing": {}, "full": full(), "file": {Host: "h", TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(directory, "body")}}, "missing file": {TLSClientConfig: rest.TLSClientConfig{CAFile: "/missing"}},
		"data and file": {TLSClientConfig: rest.TLSClientConfig{CAFile: "/missing", CAData: []byte("x")}}, "proxy": {Host: "https://h", Proxy: proxy("http://u:p@proxy:1", nil)}, "no proxy": {Host: "https://h", Proxy: proxy("", nil)},
		"failing proxy": {Host: "https://h", Proxy: proxy("", errProgram)}, "proxy of bad host": {Host: "%zz", Proxy: proxy("http://x", nil)}, "proxy of short host": {Host: "h:1", Proxy: proxy("http://x", nil)},
		"insecure": {Host: "https://h", DisableCompression: true, TLSClientConfig: rest.TLSClientConfig{Insecure: true, ServerName: "sn"}}, "exec": {ExecProvider: &clientcmdapi.ExecConfig{Config: &runtime.Unknown{Raw: []byte(`{"a":"b"}`)}}},
	}
	for _, name := range sorted(configs) {
		block("cluster of "+name, func() {
			if configs[name].ExecProvider == nil {
				configs[name].ExecProvider = &clientcmdapi.ExecConfig{}
			}
			cluster, err := rest.ConfigToExecCluster(configs[name])
			line(kindOf(err), cluster != nil)
			if cluster != nil {
				line(text(cluster), cluster.Config != nil)
				back, err := rest.ExecClusterToConfig(cluster)
				if line(kindOf(err)); err == nil {
					fields(back)
				}
			}
			printCounts()
		})
	}
	block("cluster without a command", func() {
		cluster, err := rest.ConfigToExecCluster(&rest.Config{Host: "h"})
		line(text(cluster), kindOf(err))
	})
	for _, cluster := range []*clientauthentication.Cluster{{}, {Server: "s", ProxyURL: "http://p"}, {ProxyURL: ":bad"}, {ProxyURL: "http://u:SECRET@p:x"}, {ProxyURL: "p"}, {TLSServerName: "n", InsecureSkipTLSVerify: true, DisableCompression: true, CertificateAuthorityData: []byte("x")}} {
		block(fmt.Sprintf("of cluster %q", cmp.Or(cluster.ProxyURL, cluster.Server, cluster.TLSServerName)), func() {
			c, err := rest.ExecClusterToConfig(cluster)
			if line(kindOf(err), c != nil); err == nil {
				fields(c)
				if c.Proxy != nil {
					u, err := c.Proxy(&http.Request{})
					line(u, kindOf(err))
				}
			}
		})
	}
}

func tryInCluster() {
	for _, env := range [][2]string{{"", ""}, {"host", ""}, {"", "1"}, {"host", "1"}, {"::1", "443"}} {
		block(fmt.Sprintf("in a cluster %q", env), func() {
			_ = os.Setenv("KUBERNETES_SERVICE_HOST", env[0])
			_ = os.Setenv("KUBERNETES_SERVICE_PORT", env[1])
			defer func() {
				_ = os.Unsetenv("KUBERNETES_SERVICE_HOST")
				_ = os.Unsetenv("KUBERNETES_SERVICE_PORT")
			}()
			c, err := rest.InClusterConfig()
			line(c != nil, kindOf(err), errors.Is(err, rest.ErrNotInCluster))
		})
	}
}
