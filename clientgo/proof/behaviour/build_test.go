package behaviour

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// build builds the tests of a package of this module with the given go flags.
func build(t *testing.T, dir string, flags ...string) string {
	binary := filepath.Join(t.TempDir(), "play.test")
	cmd := exec.Command("go", slices.Concat([]string{"test", "-c", "-vet=off", "-o", binary}, flags, []string{dir})...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%v: %s", cmd, out)
	return binary
}
