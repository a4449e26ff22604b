package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLastLineCountsARealRun(t *testing.T) {
	t.Parallel()

	out, status := tallyOf(t, map[string]string{
		"good/good_test.go": `package good
import "testing"
func TestPasses(t *testing.T) { t.Log("quiet"); t.Run("sub", func(*testing.T) {}) }
func TestSkips(t *testing.T) { t.Skip("not today") }`,
	})
	require.Zero(t, status)
	require.Equal(t, "2 passed, 0 failed, 1 skipped", lastLine(out))
	require.NotContains(t, out, "quiet")
}

func TestFailuresAreShownAndCounted(t *testing.T) {
	t.Parallel()

	out, status := tallyOf(t, map[string]string{
		"bad/bad_test.go": `package bad
import "testing"
func TestFails(t *testing.T) { t.Run("sub", func(t *testing.T) { t.Error("loud") }) }
func TestPasses(t *testing.T) { t.Log("quiet") }`,
		"broken/broken_test.go": `package broken
var x int = "a string"`,
		"panics/panics_test.go": `package panics
import "testing"
func TestPanics(t *testing.T) { panic("out of order") }`,
		"exits/exits_test.go": `package exits
import ("os"; "testing")
func TestMain(m *testing.M) { m.Run(); println("left something behind"); os.Exit(1) }
func TestPasses(t *testing.T) {}`,
	})
	require.Equal(t, 1, status)
	require.Equal(t, "2 passed, 5 failed, 0 skipped", lastLine(out))
	for _, shown := range []string{"loud", "broken_test.go", "a string", "out of order", "left something behind"} {
		require.Contains(t, out, shown)
	}
	require.NotContains(t, out, "quiet")
}

func TestARunWithoutTestsFails(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer
	require.Equal(t, 1, run(strings.NewReader("go: no such module\n"), &out, false))
	require.Contains(t, out.String(), "go: no such module")
	require.Equal(t, "0 passed, 0 failed, 0 skipped", lastLine(out.String()))
}

func TestARunThatWasCutOffFails(t *testing.T) {
	t.Parallel()

	const events = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestDone"}
{"Action":"pass","Package":"p","Test":"TestDone"}
{"Action":"run","Package":"p","Test":"TestCut"}
{"Action":"output","Package":"p","Test":"TestCut","Output":"halfway\n"}`
	var out bytes.Buffer
	require.Equal(t, 1, run(strings.NewReader(events), &out, true))
	require.Contains(t, out.String(), "pass  TestDone")
	require.Contains(t, out.String(), "halfway")
	require.Equal(t, "1 passed, 1 failed, 0 skipped", lastLine(out.String()))
}

// tallyOf runs go test on a module with these files, and returns the output of tally.
func tallyOf(t *testing.T, files map[string]string) (out string, status int) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.com/m\n\ngo 1.26.0\n"
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	test := exec.Command("go", "test", "-vet=off", "-json", "./...")
	test.Dir = dir
	events, err := test.Output() // Some of these tests fail on purpose.
	if err != nil {
		require.IsType(t, &exec.ExitError{}, err)
	}
	var shown bytes.Buffer
	status = run(bytes.NewReader(events), &shown, false)
	return shown.String(), status
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
