package behaviour

import (
	"bufio"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/clientgo/proof/internal/sides"
)

var (
	first     = flag.Uint64("from", 1, "the first seed")
	histories = flag.Uint64("histories", 200, "how many histories of each suite")
)

func TestHistoriesHaveTheSameTracesAsClientGo(t *testing.T) {
	ours := play(t, build(t, "./play"))
	theirs := play(t, build(t, "./play", sides.ClientGo))
	require.Equal(t, len(theirs), len(ours))
	lines, suites := 0, map[string]int{}
	for name, their := range theirs {
		lines += len(their)
		suite, _, _ := strings.Cut(name, " ")
		suites[suite]++
		if our := ours[name]; !slices.Equal(our, their) {
			failWithDifference(t, name, our, their)
		}
	}
	require.Greater(t, lines, 20*len(theirs), "the traces have too few lines")
	t.Logf("%d histories of %d suites, %d lines compared", len(theirs), len(suites), lines)
}

// play runs the histories with a test binary. It returns the traces by suite and seed.
func play(t *testing.T, binary string) map[string][]string {
	file := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command(binary, "-test.run=^TestPlay$", "-test.timeout=10m", "-trace="+file,
		"-from="+strconv.FormatUint(*first, 10), "-count="+strconv.FormatUint(*histories, 10))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	f, err := os.Open(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	all := map[string][]string{}
	for s := bufio.NewScanner(f); ; {
		if !s.Scan() {
			require.NoError(t, s.Err())
			return all
		}
		parts := strings.SplitN(s.Text(), " ", 3)
		name := parts[0] + " " + parts[1]
		all[name] = append(all[name], parts[2])
	}
}

// failWithDifference fails the test with the first difference between two traces, and the lines
// before it.
func failWithDifference(t *testing.T, name string, our, their []string) {
	i := 0
	for i < len(our) && i < len(their) && our[i] == their[i] {
		i++
	}
	t.Errorf("%s:\n%s\nclient-go: %s\nclientgo:  %s", name, strings.Join(their[max(0, i-20):i], "\n"), sides.At(their, i), sides.At(our, i))
}
