package modulecache_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/clientgo/proof/internal/modulecache"
)

const bench = "../../../../bench"

// A new machine has an empty module cache. There go list -m succeeds and prints no folder.
func TestAMissingModuleIsDownloaded(t *testing.T) {
	full, err := exec.Command("go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	filled, err := modulecache.Dir(t.Context(), bench, "k8s.io/client-go")
	require.NoError(t, err)

	empty := t.TempDir()
	t.Setenv("GOMODCACHE", empty)
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(strings.TrimSpace(string(full)))+"/cache/download")
	dir, err := modulecache.Dir(t.Context(), bench, "k8s.io/client-go")
	require.NoError(t, err)
	require.Equal(t, filepath.Base(filled), filepath.Base(dir))
	require.Contains(t, dir, empty)
	_, err = os.Stat(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
}

func TestTheErrorNamesAModuleThatIsNotFound(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	_, err := modulecache.Dir(t.Context(), bench, "example.com/none@v1.0.0")
	require.ErrorContains(t, err, "finding example.com/none@v1.0.0, which "+bench+" requires: ")
	_, err = modulecache.Dir(t.Context(), bench, "github.com/kinform/kinform")
	require.ErrorContains(t, err, "a folder replaces it")
}
