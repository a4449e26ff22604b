// Package discovery holds clientgo's discovery, restmapper, openapi and scale against client-go's: the same servers, whole and broken,
// are asked by both.
package discovery_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// differences are the cases of which something else becomes here, and why.
var differences = map[string]string{
	"aggregated groups only: client":                       "a version that a server calls stale stays a failure, also if the resources have to be asked for one by one",
	"aggregated groups only: without aggregated discovery": "as above: the server sends the aggregated form to those who don't want it",
	"category all, no error":                               "a resource is once in a category, not once for each version",
	"category all, error partial":                          "as above",
}

func TestTheSameServersAsInClientGo(t *testing.T) {
	theirs, ours := try(t, "-modfile=real.mod"), try(t)
	require.Equal(t, len(theirs), len(ours))
	require.Greater(t, len(ours), 700)
	for name, our := range ours {
		their, ok := theirs[name]
		require.True(t, ok, name)
		if _, known := differences[name]; known {
			require.NotEqual(t, their, our, "%s: there is no difference", name)
			continue
		}
		for i := range max(len(our), len(their)) {
			if i >= len(our) || i >= len(their) || our[i] != their[i] {
				t.Errorf("%s\nclient-go: %.2000s\nhere:      %.2000s", name, at(their, i), at(our, i))
				break
			}
		}
	}
	for name := range differences {
		require.Contains(t, ours, name)
	}
	t.Logf("%d cases, %d of which differ", len(ours), len(differences))
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "nothing"
}

// address is what differs from run to run.
var address = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// try runs all cases with one of the modules, and returns the lines of each.
func try(t *testing.T, flags ...string) map[string][]string {
	t.Helper()
	run := exec.Command("go", append(append([]string{"run"}, flags...), "./discovery/try")...)
	run.Dir = ".."
	run.Stderr = os.Stderr
	out, err := run.Output()
	require.NoError(t, err)
	cases, name := map[string][]string{}, ""
	for line := range strings.Lines(address.ReplaceAllString(string(out), "ADDRESS")) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "\t") {
			name = line
			require.NotContains(t, cases, name)
			cases[name] = []string{}
			continue
		}
		cases[name] = append(cases[name], strings.TrimPrefix(line, "\t"))
	}
	return cases
}
