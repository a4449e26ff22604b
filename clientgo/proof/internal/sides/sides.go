// Package sides has the shared code of proofs that run a program twice: with client-go and with
// clientgo. A test in the folder of such a proof calls it. The folder is next to the go.mod files
// of module proof.
//
// Most of these programs print the results of many cases. A line without a tab names a case. The
// lines after it, each with a tab, are the results.
package sides

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ClientGo is the go flag that builds a program of a proof with client-go.
const ClientGo = "-modfile=../real.mod"

// Cases maps the name of each case to its result lines.
type Cases map[string][]string

// address matches the parts of lines that differ between runs.
var address = regexp.MustCompile(`127\.0\.0\.1:\d\d\d+`)

// Build builds a command with the given go flags, and returns the path of the program.
func Build(t *testing.T, command string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	build := exec.Command("go", slices.Concat([]string{"build", "-o", program}, flags, []string{command})...)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s: %s", build, out)
	return program
}

// Output runs a program and returns what it prints.
func Output(t *testing.T, program *exec.Cmd) string {
	t.Helper()
	program.Stderr = os.Stderr
	out, err := program.Output()
	require.NoError(t, err, "%s", program)
	return string(out)
}

// Run runs a program and returns its cases, whose names must be unique. It replaces addresses of
// this machine with a fixed text.
func Run(t *testing.T, program *exec.Cmd) Cases {
	t.Helper()
	cases, name := Cases{}, ""
	for line := range strings.Lines(address.ReplaceAllString(Output(t, program), "ADDRESS")) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, "\t"); ok {
			cases[name] = append(cases[name], text)
			continue
		}
		name = line
		require.Nil(t, cases[name], "%s: there are two cases of this name", name)
		cases[name] = []string{}
	}
	return cases
}

// runs is the maximal number of runs of the programs until a case has the expected result. Cases
// use real servers and real time, so on a busy machine a step may be late. A real difference occurs
// in every run.
const runs = 3

// Compare builds the proof's command try with client-go and with clientgo, and compares the
// results. The map differences has the names of the cases that differ on purpose, with the reasons.
// The test fails if another case differs, or if a case in differences does not differ. It also
// fails unless there are more than minCases cases.
func Compare(t *testing.T, minCases int, differences map[string]string) {
	programs := []string{Build(t, "./try", ClientGo), Build(t, "./try")}
	var wrong []string // names of the cases that were wrong in each run so far
	for i := range runs {
		theirs, ours := both(t, programs)
		names := slices.Sorted(maps.Keys(ours))
		require.Equal(t, slices.Sorted(maps.Keys(theirs)), names)
		if i == 0 {
			require.Greater(t, len(ours), minCases)
			for name := range differences {
				require.NotNil(t, ours[name], "there is no case %s", name)
			}
			wrong = names
			t.Logf("%d cases, %d of which differ", len(ours), len(differences))
		}
		wrong = slices.DeleteFunc(wrong, func(name string) bool {
			_, known := differences[name]
			return slices.Equal(theirs[name], ours[name]) != known
		})
		if len(wrong) == 0 {
			return
		}
		for _, name := range wrong {
			t.Logf("run %d: %s", i+1, difference(name, theirs[name], ours[name]))
		}
	}
	t.Errorf("in each of %d runs: %q", runs, wrong)
}

// both runs the two programs at the same time, because the programs mostly wait.
func both(t *testing.T, programs []string) (theirs, ours Cases) {
	sides := []*Cases{&theirs, &ours}
	t.Run("sides", func(t *testing.T) {
		for i, name := range []string{"client-go", "here"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				*sides[i] = Run(t, exec.Command(programs[i]))
			})
		}
	})
	require.False(t, t.Failed())
	return theirs, ours
}

// difference returns the first lines that differ.
func difference(name string, theirs, ours []string) string {
	for i := range max(len(theirs), len(ours)) {
		if At(theirs, i) != At(ours, i) {
			return fmt.Sprintf("%s\nclient-go: %.2000s\nhere:      %.2000s", name, At(theirs, i), At(ours, i))
		}
	}
	return name + ": there is no difference"
}

// At returns the line with index i, or a placeholder if there is no such line.
func At(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "nothing"
}
