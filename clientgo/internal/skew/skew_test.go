package skew

import (
	"os"
	"regexp"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMinorVersionMismatchesAreReported(t *testing.T) {
	at := func(path, version string) *debug.Module { return &debug.Module{Path: path, Version: version} }
	replaced := func(path, version, by string) *debug.Module {
		return &debug.Module{Path: path, Version: version, Replace: &debug.Module{Path: path, Version: by}}
	}
	for name, test := range map[string]struct {
		deps []*debug.Module
		says []string // the first words of each line
	}{
		"the same":        {deps: []*debug.Module{at("k8s.io/api", "v0.37.0"), at("k8s.io/apimachinery", "v0.37.9"), at("k8s.io/component-base", "v0.35.0")}},
		"newer":           {deps: []*debug.Module{at("k8s.io/api", "v0.38.1"), at("k8s.io/apimachinery", "v0.38.0-rc.1")}, says: []string{"k8s.io/api v0.38.1 is newer than", "k8s.io/apimachinery v0.38.0-rc.1 is newer than"}},
		"older":           {deps: []*debug.Module{replaced("k8s.io/api", "v0.37.2", "v0.36.3")}, says: []string{"k8s.io/api v0.36.3 is older than"}},
		"a folder":        {deps: []*debug.Module{replaced("k8s.io/api", "v0.38.0", "")}},
		"a single commit": {deps: []*debug.Module{at("k8s.io/api", "v0.0.0-20260626213116-2b6c2012d75f")}},
		"none":            {},
	} {
		t.Run(name, func(t *testing.T) {
			lines := differences(test.deps)
			require.Len(t, lines, len(test.says))
			for i, line := range lines {
				require.Contains(t, line, test.says[i])
				require.Contains(t, line, "v0.37")
			}
		})
	}
	Report()
}

func TestMinorMatchesTheRequiredApimachinery(t *testing.T) {
	goMod, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	for _, path := range []string{"k8s.io/api", "k8s.io/apimachinery"} {
		version := regexp.MustCompile(`(?m)^\t` + path + ` (\S+)$`).FindSubmatch(goMod)
		require.NotNil(t, version, path)
		n, ok := minorOf(string(version[1]))
		require.True(t, ok)
		require.Equal(t, minor, n, "the constant minor must match go.mod")
	}
}
