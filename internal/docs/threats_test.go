package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEachPromiseOfTheThreatModelHasItsTest checks that the tests that docs/threat-model.md names
// exist.
func TestEachPromiseOfTheThreatModelHasItsTest(t *testing.T) {
	t.Parallel()
	const root = "../.."
	page, err := os.ReadFile(filepath.Join(root, "docs", "threat-model.md"))
	require.NoError(t, err)
	names := regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9_]*)`").FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, names)

	functions := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
	exist := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		for _, found := range functions.FindAllSubmatch(code, -1) {
			exist[string(found[1])] = true
		}
		return err
	}))
	for _, name := range names {
		require.True(t, exist[name[1]], "docs/threat-model.md names %s, which is no test", name[1])
	}
}
