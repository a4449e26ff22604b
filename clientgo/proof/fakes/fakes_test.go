// Package fakes_test compares the fakes of module clientgo with those of client-go.
package fakes_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var verbose = flag.Bool("table", false, "log the whole page of client-go")

// known are the differences that are wanted: what client-go prints, and what the line prints.
var known = []struct{ theirs, ours string }{
	// An object that a dynamic fake got as a typed one has no kind there, if it comes in a list. It has one by get.
	{`"items":[{"data":{"k":"v"},"metadata":{"labels":{"name":"typed"}`, `"items":[{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"labels":{"name":"typed"}`},
}

// TestTheSameTable builds the program table with client-go and with the line, and compares what they print.
func TestTheSameTable(t *testing.T) {
	if testing.Short() {
		t.Skip("builds all typed clients twice")
	}
	dir := t.TempDir()
	theirs, ours := run(t, dir, "-modfile="+realModule(t, dir), "-mod=mod"), run(t, dir)
	if *verbose {
		t.Log("\n" + theirs)
	}
	for _, k := range known {
		require.Contains(t, theirs, k.theirs, "a difference is gone")
		require.Contains(t, ours, k.ours, "a difference is gone")
		theirs = strings.ReplaceAll(theirs, k.theirs, k.ours)
	}
	a, b := strings.Split(theirs, "\n"), strings.Split(ours, "\n")
	require.Greater(t, len(a), 2000)
	section := map[bool]string{}
	different := 0
	for i := range min(len(a), len(b)) {
		if !strings.HasPrefix(a[i], "  ") {
			section[true] = a[i]
		}
		if a[i] != b[i] && different < 20 {
			different++
			t.Errorf("%s\n  client-go: %s\n  clientgo:  %s", section[true], a[i], b[i])
		}
	}
	require.Len(t, b, len(a))
}

// realModule writes a copy of go.mod without the line.
func realModule(t *testing.T, dir string) string {
	file, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	file = regexp.MustCompile(`(?m)^\s*(replace )?k8s.io/client-go => .*$`).ReplaceAll(file, nil)
	file = regexp.MustCompile(`k8s.io/client-go v0\.0\.0\S*`).ReplaceAll(file, []byte("k8s.io/client-go v0.37.2"))
	sums, err := os.ReadFile("../go.sum")
	require.NoError(t, err)
	theirs, err := os.ReadFile("../../../bench/go.sum") // has client-go's
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "real.mod"), file, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "real.sum"), append(sums, theirs...), 0o644))
	return filepath.Join(dir, "real.mod")
}

// run builds the program and returns what it prints.
func run(t *testing.T, dir string, flags ...string) string {
	program := filepath.Join(dir, "table")
	build := exec.Command("go", append(append([]string{"build"}, flags...), "-o", program, "./table")...)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var log bytes.Buffer
	table := exec.Command(program)
	table.Stderr = &log
	out, err = table.Output()
	require.NoError(t, err, "%s", log.String())
	return string(out)
}
