package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/testing/testsize"
)

// TestFirstCommandsOfTheREADMEWork runs the commands of the README up to its program. It uses this
// checkout instead of a clone. It builds the program but does not run it, because the program needs
// a cluster.
func TestFirstCommandsOfTheREADMEWork(t *testing.T) {
	t.Parallel()
	testsize.SkipIfShort(t, "a program is built in a module of its own")
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n### The smallest controller\n")
	require.True(t, found)
	before, section, found := strings.Cut(section, "```go\n")
	require.True(t, found)
	program, _, _ := strings.Cut(section, "```")
	var commands []string
	for line := range strings.Lines(before) {
		if command, indented := strings.CutPrefix(line, "    "); indented {
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	script := strings.Join(commands, "\n")

	dir := t.TempDir()
	checkout, err := filepath.Abs(root)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(checkout, filepath.Join(dir, "kinform")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644))
	for from, to := range map[string]string{
		"git clone https://github.com/kinform/kinform": "test -d kinform",
		"# main.go goes here":                          "&& cp ../main.go .",
		"go run .":                                     "go build -o ../program .",
	} {
		require.Equal(t, 1, strings.Count(script, from), "the README has %q", from)
		script = strings.Replace(script, from, to, 1)
	}
	shell := exec.Command("sh", "-e", "-c", script)
	shell.Dir = dir
	said, err := shell.CombinedOutput()
	require.NoError(t, err, "%s\n%s", script, said)
	require.FileExists(t, filepath.Join(dir, "program"))
}
