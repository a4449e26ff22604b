package arch_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root = "../.."

	// suites is the package whose files are tests of several implementations.
	suites = "internal/conformance"
)

// citation finds a contract's number, and "DF-1 to DF-3", in any text.
var citation = regexp.MustCompile(`\b((?:DF|RF|PD|RC|SI|IX|WQ|RS)-|D)([0-9]+)\b(?: to ((?:DF|RF|PD|RC|SI|IX|WQ|RS)-|D)([0-9]+)\b)?`)

// defect is the number of a defect of client-go.
var defect = regexp.MustCompile(`^D[0-9]`)

// cited adds the numbers that a text cites to set.
func cited(text string, set map[string]bool) {
	for _, m := range citation.FindAllStringSubmatch(text, -1) {
		first, _ := strconv.Atoi(m[2])
		last := first
		if m[3] == m[1] {
			last, _ = strconv.Atoi(m[4])
		}
		set[m[1]+m[2]] = true
		for n := first; n <= last; n++ {
			set[m[1]+strconv.Itoa(n)] = true
		}
	}
}

// contracts reads the numbers of testdata/contracts.txt, in their order.
func contracts(t *testing.T) (numbers []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/contracts.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "" || word == "#" {
			continue
		}
		require.Regexp(t, citation, word)
		require.NotContains(t, numbers, word, "it is there twice")
		require.NotEmpty(t, rest, "%s says what it is about", word)
		numbers = append(numbers, word)
	}
	return numbers
}

// testFiles returns the texts of all tests of all modules by path.
func testFiles(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".."):
			return fs.SkipDir
		case entry.IsDir():
		case path == filepath.Join(root, "internal/arch/contracts_test.go"): // It speaks of numbers.
		case strings.HasSuffix(path, "_test.go") || filepath.Dir(path) == filepath.Join(root, suites):
			text, err := os.ReadFile(path)
			texts[path] = string(text)
			return err
		}
		return nil
	}))
	require.Greater(t, len(texts), 50, "it looks for tests where they are")
	return texts
}

// Every statement about client-go is either kept, and pinned by a test that cites
// it, or it is not, and docs/differences.md says so and why. What is a defect of
// client-go (D1, D2 and so on) needs a test in any case.
func TestEveryContractIsPinnedOrListed(t *testing.T) {
	t.Parallel()
	numbers := contracts(t)
	tested, listed := map[string]bool{}, map[string]bool{}
	for _, text := range testFiles(t) {
		cited(text, tested)
	}
	differences, err := os.ReadFile(filepath.Join(root, "docs/differences.md"))
	require.NoError(t, err)
	cited(string(differences), listed)

	for _, number := range numbers {
		if !tested[number] && (!listed[number] || defect.MatchString(number)) {
			t.Errorf("%s: cite it at the test that pins it, or list it in docs/differences.md if kinform differs (a defect needs the test)", number)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(listed)) {
		if !slices.Contains(numbers, number) {
			t.Errorf("docs/differences.md cites %s, which testdata/contracts.txt does not have", number)
		}
	}
}

func TestCitationsAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"// DF-1, D16":             "[D16 DF-1]",
		"RC-14 to RC-16, RF-6":     "[RC-14 RC-15 RC-16 RF-6]",
		"func TestD13_Index":       "[]",
		"RS-256x, WORD3, XDF-1, D": "[]",
		"from DF-3 to RF-4":        "[DF-3]",
	} {
		set := map[string]bool{}
		cited(text, set)
		require.Equal(t, want, fmt.Sprint(slices.Sorted(maps.Keys(set))), text)
	}
}
