package arch_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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

	// contractsPage has every statement about client-go, with its number.
	contractsPage = "docs/contracts.md"

	// suites is the package whose cases test several implementations.
	suites = "internal/testing/conformance"
)

// suiteOf maps a file of internal/testing/conformance to the suite of its cases.
var suiteOf = map[string]string{
	"storecases.go": "store", "queuecases.go": "queue",
	"informercases.go": "informer", "handlercases.go": "informer", "failurecases.go": "informer",
}

var (
	// citation finds a contract's number, or a range such as "DF-1 to DF-3", in any text.
	citation = regexp.MustCompile(`\b((?:DF|RF|PD|RC|SI|IX|WQ|RS)-|D)([0-9]+)\b(?: to ((?:DF|RF|PD|RC|SI|IX|WQ|RS)-|D)([0-9]+)\b)?`)

	// entry finds a contract on the page, up to the line that begins another block.
	entry = regexp.MustCompile(`(?m)^- \*\*((?:DF-|RF-|PD-|RC-|SI-|IX-|WQ-|RS-|D)[0-9]+)\*\* (.*(?:\n  .*)*)`)

	// caseName finds the first line of a case of a suite.
	caseName = regexp.MustCompile(`(?m)^\t\{"(.+?)", func\(`)

	quoted = regexp.MustCompile("`(.+?)`")
)

// mayCite reports whether a line may cite a number. Under the race detector, mayCite takes a
// hundredth of the time of the regular expression.
func mayCite(line string) bool {
	for _, prefix := range []string{"DF-", "RF-", "PD-", "RC-", "SI-", "IX-", "WQ-", "RS-"} {
		if strings.Contains(line, prefix) {
			return true
		}
	}
	for {
		_, after, found := strings.Cut(line, "D")
		if !found {
			return false
		}
		if after != "" && '0' <= after[0] && after[0] <= '9' {
			return true
		}
		line = after
	}
}

// addCitations adds the numbers that a text cites to set.
func addCitations(text string, set map[string]bool) {
	for line := range strings.Lines(text) {
		if mayCite(line) {
			addLineCitations(line, set)
		}
	}
}

func addLineCitations(line string, set map[string]bool) {
	for _, m := range citation.FindAllStringSubmatch(line, -1) {
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

// contract is an entry of the page.
type contract struct {
	number   string
	sentence string
	// difference says what kinform does instead; it is empty if kinform does the same.
	difference string
	// tests are names of tests, or "suite/name of the case".
	tests []string
}

// defect reports whether the number belongs to a defect of client-go.
func (c contract) defect() bool { return c.number[0] == 'D' && c.number[1] != 'F' }

// parseContracts reads the entries of the page, in their order.
func parseContracts(page string) (all []contract) {
	for _, m := range entry.FindAllStringSubmatch(page, -1) {
		c := contract{number: m[1]}
		text, pinned, _ := strings.Cut(strings.Join(strings.Fields(m[2]), " "), "*Pinned by*")
		c.sentence, c.difference, _ = strings.Cut(text, "*kinform:*")
		c.sentence, c.difference = strings.TrimSpace(c.sentence), strings.TrimSpace(c.difference)
		for _, name := range quoted.FindAllStringSubmatch(pinned, -1) {
			c.tests = append(c.tests, name[1])
		}
		all = append(all, c)
	}
	return all
}

// contracts reads the page.
func contracts(t *testing.T) []contract {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, contractsPage))
	require.NoError(t, err)
	all := parseContracts(string(page))
	require.Equal(t, strings.Count(string(page), "\n- **"), len(all), "each entry of the page must begin with its number")
	return all
}

// sources returns the texts of all Go files and pages of all modules, by path.
func sources(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, file fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case file.IsDir() && name != "." && (file.Name() == "testdata" || file.Name() == "bin" || strings.HasPrefix(file.Name(), ".")):
			return fs.SkipDir
		case name == contractsPage, name == "internal/arch/contracts_test.go":
			// Both files explain the numbers themselves.
		case strings.HasSuffix(name, ".go"), strings.HasSuffix(name, ".md"):
			text, err := os.ReadFile(path)
			texts[name] = string(text)
			return err
		}
		return nil
	}))
	require.Greater(t, len(texts), 200, "the walk must find the sources")
	return texts
}

// testsOfContracts returns the numbers that each test cites, in its comment or in its code, and the
// numbers that each case of a suite cites. Tests that have the same name in several packages count
// as one test.
func testsOfContracts(t *testing.T, sources map[string]string) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{}
	add := func(name, text string) {
		if all[name] == nil {
			all[name] = map[string]bool{}
		}
		addCitations(text, all[name])
	}
	for path, text := range sources {
		if suite := suiteOf[filepath.Base(path)]; suite != "" && filepath.Dir(path) == suites {
			starts := caseName.FindAllStringSubmatchIndex(text, -1)
			for n, at := range starts {
				end := len(text)
				if n+1 < len(starts) {
					end = starts[n+1][0]
				}
				add(suite+"/"+text[at[2]:at[3]], text[at[0]:end])
			}
		}
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, text, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") {
				start := f.Pos()
				if f.Doc != nil {
					start = f.Doc.Pos()
				}
				add(f.Name.Name, text[files.Position(start).Offset:files.Position(f.End()).Offset])
			}
		}
	}
	return all
}

// If kinform does what a statement about client-go says, a test must pin the statement. If kinform
// differs, the page must say what kinform does instead. A defect of client-go always needs a test.
func TestEveryContractHasATestOrADifference(t *testing.T) {
	t.Parallel()
	pins := testsOfContracts(t, sources(t))
	require.Greater(t, len(pins), 500, "the search must find tests and cases")
	seen := map[string]bool{}
	for _, c := range contracts(t) {
		switch {
		case seen[c.number]:
			t.Errorf("%s: %s exists twice", contractsPage, c.number)
		case c.sentence == "":
			t.Errorf("%s: %s has no sentence", contractsPage, c.number)
		case len(c.tests) == 0 && c.defect():
			t.Errorf("%s: %s is a defect of client-go, and needs a test", contractsPage, c.number)
		case len(c.tests) == 0 && c.difference == "":
			t.Errorf("%s: %s needs a test that pins it, or what kinform does instead", contractsPage, c.number)
		}
		seen[c.number] = true
		for _, name := range c.tests {
			switch numbers, exists := pins[name]; {
			case !exists:
				t.Errorf("%s: %s is pinned by `%s`, which is neither a test nor a case of a suite: if it was renamed, write its new name", contractsPage, c.number, name)
			case !numbers[c.number]:
				t.Errorf("%s: %s is pinned by `%s`, which does not cite this number: write the number at the test, or name another test", contractsPage, c.number, name)
			}
		}
	}
}

func TestEveryCitedNumberIsOnThePage(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, c := range contracts(t) {
		known[c.number] = true
	}
	for path, text := range sources(t) {
		numbers, inComments := map[string]bool{}, map[string]bool{}
		addCitations(text, numbers)
		for line := range strings.Lines(text) {
			if _, comment, has := strings.Cut(line, "//"); has {
				addCitations(comment, inComments)
			}
		}
		for _, number := range slices.Sorted(maps.Keys(numbers)) {
			// "D24" in a string need not be the number of a defect.
			if !known[number] && (strings.Contains(number, "-") || inComments[number]) {
				t.Errorf("%s cites %s, which %s does not have", path, number, contractsPage)
			}
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
		addCitations(text, set)
		require.Equal(t, want, fmt.Sprint(slices.Sorted(maps.Keys(set))), text)
	}
}

func TestContractsAreReadFromThePage(t *testing.T) {
	t.Parallel()
	require.Equal(t, []contract{
		{"DF-1", "One `key`, and a line that goes on.", "", []string{"TestA", "queue/a case, with a comma"}},
		{"D2", "Short.", "why.", nil},
	}, parseContracts("# Title\n\n- **DF-1** One `key`, and a line\n  that goes on.\n  *Pinned by* `TestA`,\n  `queue/a case, with\n  a comma`.\n- **D2** Short. *kinform:* why.\n\nText.\n- a list\n"))
}
