package kubeconfig_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

func TestWrittenConnectionIsLoadedUnchanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, dir, "pem", "content")
	tests := []struct {
		name string
		conn kubeconfig.Connection
	}{
		{"plain", kubeconfig.Connection{Config: rest.Config{Host: "http://127.0.0.1:8080"}, Context: "kinform", Namespace: "default"}},
		{"token", kubeconfig.Connection{Config: rest.Config{
			Host: "https://x.example", BearerToken: rest.NewSecret(secret), TLS: rest.TLSConfig{CAData: []byte("ca"), ServerName: "real"},
		}, Context: "a b: {", Namespace: "ns"}},
		{"files", kubeconfig.Connection{Config: rest.Config{
			Host: "https://x.example", BearerTokenFile: file, TLS: rest.TLSConfig{CAFile: file, CertFile: file, KeyFile: file},
		}, Context: "files", Namespace: "default"}},
		{"data", kubeconfig.Connection{Config: rest.Config{
			Host: "https://x.example", Username: "me", Password: rest.NewSecret("4711"), Compression: rest.CompressNothing,
			TLS: rest.TLSConfig{Insecure: true, CertData: []byte{0, 255}, KeyData: rest.NewSecret("key")},
		}, Context: "data", Namespace: "default"}},
		{"impersonation", kubeconfig.Connection{Config: rest.Config{
			Host: "https://x.example", BearerToken: rest.NewSecret(secret),
			Impersonate: rest.Impersonation{User: "jane", UID: "06f6", Groups: []string{"a", "b"}, Extra: map[string][]string{"scopes": {"view"}}},
		}, Context: "jane", Namespace: "default"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "config")
			require.NoError(t, kubeconfig.Write(path, tt.conn))
			got, err := kubeconfig.Load(kubeconfig.Options{Path: path})
			require.NoError(t, err)
			hasCertificate := tt.conn.Config.TLS.CertFile != "" || tt.conn.Config.TLS.CertData != nil
			require.Equal(t, hasCertificate, got.Config.TLS.KeyPair != nil)
			got.Config.TLS.KeyPair = nil // functions cannot be compared
			requireEqual(t, tt.conn, got)
		})
	}
}

// requireEqual compares connections. It compares the revealed secrets, because Secret values cannot
// be compared.
func requireEqual(t *testing.T, want, got kubeconfig.Connection) {
	for _, of := range []func(*rest.Config) *rest.Secret{
		func(c *rest.Config) *rest.Secret { return &c.BearerToken },
		func(c *rest.Config) *rest.Secret { return &c.Password },
		func(c *rest.Config) *rest.Secret { return &c.TLS.KeyData },
	} {
		require.Equal(t, of(&want.Config).Reveal(), of(&got.Config).Reveal())
		*of(&want.Config), *of(&got.Config) = rest.Secret{}, rest.Secret{}
	}
	require.Equal(t, want, got)
}

func TestWrittenFileIsPrivateAndReplacesAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := write(t, dir, "config", "old")
	require.NoError(t, os.Chmod(path, 0o644))
	old, err := os.Open(path)
	require.NoError(t, err)
	defer old.Close()

	require.NoError(t, kubeconfig.Write(path, kubeconfig.Connection{Config: rest.Config{Host: "http://x"}}))

	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	was, err := old.Stat()
	require.NoError(t, err)
	require.False(t, os.SameFile(was, info), "Write must make a new file, so that readers of the old file are not disturbed")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "Write must leave no other file in the folder")
}

func TestWriteFollowsASymbolicLink(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "real", "old")
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(file, link))
	require.NoError(t, kubeconfig.Write(link, kubeconfig.Connection{Config: rest.Config{Host: "https://x.example"}}))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink, "Write must keep the link")
	conn, err := kubeconfig.Load(kubeconfig.Options{Path: file})
	require.NoError(t, err)
	require.Equal(t, "https://x.example", conn.Config.Host)
}

// TestWriteCreatesTheTargetOfASymbolicLink: a link may lead to a file that does not exist yet. A
// relative link is relative to the link's folder, even if another link leads to this folder.
func TestWriteCreatesTheTargetOfASymbolicLink(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]func(dir string) string{
		"absolute":          func(dir string) string { return filepath.Join(dir, "real", "config") },
		"relative":          func(string) string { return "../real/config" },
		"over another link": func(string) string { return "second" },
		"out of a link":     func(string) string { return "deep/../config" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "real", "deep"), 0o700))
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "links"), 0o700))
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "elsewhere"), 0o700))
			require.NoError(t, os.Symlink(filepath.Join(dir, "links"), filepath.Join(dir, "elsewhere", "there")))
			require.NoError(t, os.Symlink("../real/config", filepath.Join(dir, "links", "second")))
			require.NoError(t, os.Symlink("../real/deep", filepath.Join(dir, "links", "deep")))
			link := filepath.Join(dir, "elsewhere", "there", "first")
			require.NoError(t, os.Symlink(target(dir), link))
			for _, host := range []string{"https://x.example", "https://y.example"} {
				require.NoError(t, kubeconfig.Write(link, kubeconfig.Connection{Config: rest.Config{Host: host}}))
				info, err := os.Lstat(link)
				require.NoError(t, err)
				require.NotZero(t, info.Mode()&os.ModeSymlink, "Write must keep the link")
				conn, err := kubeconfig.Load(kubeconfig.Options{Path: filepath.Join(dir, "real", "config")})
				require.NoError(t, err)
				require.Equal(t, host, conn.Config.Host)
			}
		})
	}
}

// TestWriteRefusesADanglingSymbolicLink: if Write cannot create the target of a link, it keeps the
// link, and the error says why.
func TestWriteRefusesADanglingSymbolicLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, target := range map[string]string{
		"missing folder": filepath.Join(dir, "gone", "config"),
		"itself":         "itself",
	} {
		link := filepath.Join(dir, name)
		require.NoError(t, os.Symlink(target, link))
		err := kubeconfig.Write(link, kubeconfig.Connection{Config: rest.Config{Host: "https://x.example"}})
		require.ErrorContains(t, err, link)
		if name == "missing folder" {
			require.ErrorIs(t, err, os.ErrNotExist)
		}
		left, err := os.Readlink(link)
		require.NoError(t, err)
		require.Equal(t, target, left)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "a failed Write must leave no other file in the folder")
}

func TestHostWithoutASchemeIsWrittenAsHTTPS(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, kubeconfig.Write(path, kubeconfig.Connection{Config: rest.Config{Host: "api.example:6443", BearerToken: rest.NewSecret(secret)}}))
	conn, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)
	require.Equal(t, "https://api.example:6443", conn.Config.Host)
	require.Equal(t, secret, conn.Config.BearerToken.Reveal())
}

func TestRelativePathsAreWrittenAbsolute(t *testing.T) {
	dir := t.TempDir()
	ca := write(t, dir, "ca.crt", "content")
	t.Chdir(dir)
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, kubeconfig.Write(path, kubeconfig.Connection{
		Config: rest.Config{Host: "https://x.example", TLS: rest.TLSConfig{CAFile: "ca.crt"}},
	}))
	conn, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)
	require.Equal(t, ca, conn.Config.TLS.CAFile)
	require.Equal(t, "default", conn.Context)
}

func TestFailedWriteLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// a folder in place of the file makes the rename fail
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "config", "full"), 0o700))
	err := kubeconfig.Write(filepath.Join(dir, "config"), kubeconfig.Connection{Config: rest.Config{Host: "http://x", BearerToken: rest.NewSecret(secret)}})
	require.ErrorContains(t, err, filepath.Join(dir, "config"))
	require.NotContains(t, err.Error(), secret)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)

	err = kubeconfig.Write(filepath.Join(dir, "gone", "config"), kubeconfig.Connection{Config: rest.Config{Host: "http://x"}})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, kubeconfig.Write(filepath.Join(dir, "x"), kubeconfig.Connection{}), "needs a server")
}
