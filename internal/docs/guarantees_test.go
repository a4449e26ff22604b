package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	testName  = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9_]*)`")
	proofName = regexp.MustCompile("`(proof/[a-z/]+)`")
	function  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
)

// foreign has the tests of other projects that clientgo/README.md names.
var foreign = map[string]bool{
	"TestCollectionChangingFilterKeyDependency": true, // istio
	"TestController":                 true, // external-provisioner
	"TestPluginInformerRegistration": true, // descheduler
}

// TestEachGuaranteeHasATest checks that every test exists that the pages with guarantees name.
func TestEachGuaranteeHasATest(t *testing.T) {
	t.Parallel()
	exists := tests(t)
	for _, name := range []string{"docs/threat-model.md", "docs/differences.md", "clientgo/README.md"} {
		names := testName.FindAllStringSubmatch(read(t, name), -1)
		require.NotEmpty(t, names, name)
		for _, found := range names {
			require.True(t, exists[found[1]] || foreign[found[1]], "%s names the test %s, which does not exist", name, found[1])
		}
	}
}

// TestEachDifferenceHasATest checks that each row of the tables of differences names a test, or a
// folder of clientgo/proof.
func TestEachDifferenceHasATest(t *testing.T) {
	t.Parallel()
	exists := tests(t)
	_, behaviour, found := strings.Cut(read(t, "clientgo/README.md"), "\n## Behaviour\n")
	require.True(t, found)
	rows := 0
	for line := range strings.Lines(read(t, "docs/differences.md") + behaviour) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| client-go |") {
			continue
		}
		rows++
		ours := strings.Split(line, " | ")[1]
		shown := false
		for _, name := range testName.FindAllStringSubmatch(ours, -1) {
			shown = shown || exists[name[1]]
		}
		for _, name := range proofName.FindAllStringSubmatch(ours, -1) {
			require.DirExists(t, filepath.Join(root, "clientgo", name[1]), line)
			shown = true
		}
		require.True(t, shown, "the row names no test: %s", line)
	}
	require.Greater(t, rows, 100)
}

// read returns the text of a page.
func read(t *testing.T, name string) string {
	page, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(page)
}

// tests returns the names of all tests of the repository.
func tests(t *testing.T) map[string]bool {
	names := map[string]bool{}
	for _, name := range writtenFiles(t) {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, found := range function.FindAllStringSubmatch(read(t, name), -1) {
			names[found[1]] = true
		}
	}
	return names
}
