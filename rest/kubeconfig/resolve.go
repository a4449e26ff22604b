package kubeconfig

import (
	"crypto/tls"
	"encoding/base64"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/execauth"
)

// connection returns the connection of a context, from its cluster and its user.
func (m *merged) connection(name string, searched []string, plugins execauth.Policy) (Connection, error) {
	context, ok := m.contexts[name]
	if !ok {
		return Connection{}, m.noContext(name, searched)
	}
	cluster, ok := m.clusters[context.content.Cluster]
	if !ok {
		return Connection{}, context.errorf("there is no cluster %q: add it, or choose another context", context.content.Cluster)
	}
	user, ok := m.users[context.content.User]
	if !ok && context.content.User != "" {
		return Connection{}, context.errorf("there is no user %q: add it, or choose another context", context.content.User)
	}

	conn := Connection{Context: name, Namespace: context.content.Namespace}
	if conn.Namespace == "" {
		conn.Namespace = defaultNamespace
	}
	if err := setCluster(&conn.Config, cluster); err != nil {
		return Connection{}, err
	}
	if err := setImpersonation(&conn.Config, user); err != nil {
		return Connection{}, err
	}
	if strings.HasPrefix(conn.Config.Host, "http://") {
		return conn, nil // the client must not send credentials without encryption
	}
	if err := setCredentials(&conn.Config, user); err != nil {
		return Connection{}, err
	}
	if err := setPlugin(&conn.Config, user, cluster, plugins); err != nil {
		return Connection{}, err
	}
	return conn, nil
}

// setCluster sets the fields of cfg that the cluster determines.
func setCluster(cfg *rest.Config, e entry[cluster]) error {
	c := e.content
	var err error
	cfg.TLS.CAFile, cfg.TLS.CAData, err = fileOrData(e, "certificate-authority", c.CertificateAuthority, c.CertificateAuthorityData)
	if err != nil {
		return err
	}
	if c.DisableCompression {
		cfg.Compression = rest.CompressNothing
	}
	cfg.TLS.ServerName = c.TLSServerName
	cfg.TLS.Insecure = c.InsecureSkipTLSVerify
	hasCA := cfg.TLS.CAFile != "" || len(cfg.TLS.CAData) > 0
	if cfg.TLS.Insecure && hasCA {
		return e.errorf("insecure-skip-tls-verify contradicts certificate-authority: remove one of them")
	}
	if cfg.Host, err = serverURL(e, hasCA || cfg.TLS.Insecure); err != nil {
		return err
	}
	if c.ProxyURL != "" {
		// The URL of a proxy may contain a password, so the error does not quote it.
		proxy, err := url.Parse(c.ProxyURL)
		if err != nil || proxy.Host == "" || !validProxyScheme[proxy.Scheme] {
			return e.errorf("proxy-url is not the URL of an http, https or socks5 proxy: write it like http://proxy.example:3128")
		}
		cfg.Proxy = http.ProxyURL(proxy)
	}
	return nil
}

var validProxyScheme = map[string]bool{"http": true, "https": true, "socks5": true}

// serverURL returns the address of the server, always with a scheme. If the address has no scheme,
// serverURL adds one: https if the argument secure is set, and http otherwise.
func serverURL(e entry[cluster], secure bool) (string, error) {
	server := e.content.Server
	if server == "" {
		return "", e.errorf("no server is set: add a server like https://api.example:6443")
	}
	if !strings.Contains(server, "://") {
		scheme := "http://"
		if secure {
			scheme = "https://"
		}
		server = scheme + server
	}
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return "", e.errorf("server is not an http or https URL without a user: write it like https://api.example:6443")
	}
	return u.String(), nil
}

// setImpersonation sets the user to impersonate, and refuses an auth provider. The caller needs
// both for unencrypted connections too, which use no credentials.
func setImpersonation(cfg *rest.Config, e entry[user]) error {
	u := e.content
	switch {
	case u.AuthProvider != nil:
		return e.errorf("credentials from an auth provider (%q) are not supported: give the user an exec plugin, a token or a client certificate, or choose another context", u.AuthProvider.Name)
	case u.As == "" && (u.AsUID != "" || len(u.AsGroups) > 0 || len(u.AsUserExtra) > 0):
		return e.errorf("as-uid, as-groups or as-user-extra is set without as: add as")
	}
	cfg.Impersonate = rest.Impersonation{User: u.As, UID: u.AsUID, Groups: u.AsGroups, Extra: u.AsUserExtra}
	return nil
}

// setCredentials sets the credentials of the user.
func setCredentials(cfg *rest.Config, e entry[user]) error {
	u := e.content
	if (u.Token != "" || u.TokenFile != "") && (u.Username != "" || u.Password != "") {
		return e.errorf("both a token and a username or password are set: remove one of them")
	}
	cfg.BearerToken = rest.NewSecret(u.Token)
	cfg.BearerTokenFile = e.path(u.TokenFile)
	cfg.Username, cfg.Password = u.Username, rest.NewSecret(u.Password)
	if err := e.checkReadable("tokenFile", cfg.BearerTokenFile); err != nil {
		return err
	}

	var err error
	cfg.TLS.CertFile, cfg.TLS.CertData, err = fileOrData(e, "client-certificate", u.ClientCertificate, u.ClientCertificateData)
	if err != nil {
		return err
	}
	var key []byte
	cfg.TLS.KeyFile, key, err = fileOrData(e, "client-key", u.ClientKey, u.ClientKeyData)
	if err != nil {
		return err
	}
	cfg.TLS.KeyData = rest.NewSecret(key)
	hasCert := cfg.TLS.CertFile != "" || len(cfg.TLS.CertData) > 0
	hasKey := cfg.TLS.KeyFile != "" || !cfg.TLS.KeyData.IsZero()
	if hasCert != hasKey {
		return e.errorf("of client-certificate and client-key, one is missing: add the missing one")
	}
	if hasCert {
		cfg.TLS.KeyPair = tls.X509KeyPair
	}
	return nil
}

// fileOrData returns the content of a field that is either a path or, with the suffix -data,
// base64. It does not read the file at the path.
func fileOrData[T any](e entry[T], field, file, data string) (path string, content []byte, err error) {
	if file != "" && data != "" {
		return "", nil, e.errorf("both %s and %s-data are set: remove one of them", field, field)
	}
	if data == "" {
		path = e.path(file)
		return path, nil, e.checkReadable(field, path)
	}
	if content, err = base64.StdEncoding.DecodeString(data); err != nil {
		return "", nil, e.errorf("%s-data is not base64: encode the PEM file with base64", field)
	}
	return "", content, nil
}

// path returns an absolute path. A relative p is relative to the folder of the entry's file.
func (e entry[T]) path(p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(filepath.Dir(e.file), p)
}

// checkReadable checks that a file can be opened. Load checks this early, so that the error can
// name the entry.
func (e entry[T]) checkReadable(field, path string) error {
	if path == "" {
		return nil
	}
	var f *os.File
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // opening a pipe could block for ever
		return e.errorf("%s %q is not a regular file: give the path of a regular file", field, path)
	}
	if err == nil {
		f, err = os.Open(path)
	}
	if err != nil {
		return e.errorf("%s %q cannot be read: %w: check the path and its permissions", field, path, reason(err))
	}
	return f.Close()
}
