package behaviour

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// realModule writes a go.mod without the line that puts module clientgo in client-go's place, and returns its path.
func realModule(t *testing.T) string {
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.FromSlash(name))
		require.NoError(t, err)
		return data
	}
	var kept []string
	replaced := false
	for line := range strings.Lines(string(read("../go.mod"))) {
		switch fields := strings.Fields(line); {
		case len(fields) > 2 && fields[0] == "k8s.io/client-go" && fields[1] == "=>":
			replaced = true
		case len(fields) > 1 && fields[0] == "k8s.io/client-go":
			kept = append(kept, "\tk8s.io/client-go "+version+"\n")
		default:
			kept = append(kept, line)
		}
	}
	require.True(t, replaced, "go.mod has no line that replaces client-go")
	file := filepath.Join(t.TempDir(), "real.mod")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(kept, "")), 0o600))
	// The sums of client-go are those of the module that measures against it.
	sums := bytes.Join([][]byte{read("../go.sum"), read("../../../bench/go.sum")}, nil)
	require.NoError(t, os.WriteFile(strings.TrimSuffix(file, "mod")+"sum", sums, 0o600))
	return file
}

// version is that of client-go.
const version = "v0.37.2"

// build builds the tests of a package of this module.
func build(t *testing.T, dir string, args ...string) string {
	binary := filepath.Join(t.TempDir(), "play.test")
	cmd := exec.Command("go", append(append([]string{"test", "-c", "-vet=off", "-o", binary}, args...), dir)...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%v: %s", cmd, out)
	return binary
}
