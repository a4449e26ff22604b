package migrate

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy is a folder that serves as a module proxy for Go.
type proxy struct {
	t   *testing.T
	dir string
}

// newProxy makes a proxy, and makes Go use only this proxy, with a separate module cache.
func newProxy(t *testing.T) *proxy {
	p := &proxy{t: t, dir: t.TempDir()}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(p.dir))
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw") // makes the cache removable
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOWORK", "off")
	t.Setenv("GOTOOLCHAIN", "local")
	return p
}

// release adds a version of a module. An empty goMod means a go.mod with only a path, for a module
// without requirements.
func (p *proxy) release(path, version, goMod string, files map[string]string) {
	dir := filepath.Join(p.dir, filepath.FromSlash(path), "@v")
	require.NoError(p.t, os.MkdirAll(dir, 0o755))
	write := func(suffix, text string) {
		require.NoError(p.t, os.WriteFile(filepath.Join(dir, version+suffix), []byte(text), 0o644))
	}
	write(".info", fmt.Sprintf(`{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, version))
	write(".mod", goMod)
	out, err := os.Create(filepath.Join(dir, version+".zip"))
	require.NoError(p.t, err)
	defer out.Close()
	z := zip.NewWriter(out)
	files["go.mod"] = goMod
	for name, text := range files {
		w, err := z.Create(path + "@" + version + "/" + name)
		require.NoError(p.t, err)
		_, err = w.Write([]byte(text))
		require.NoError(p.t, err)
	}
	require.NoError(p.t, z.Close())
}
