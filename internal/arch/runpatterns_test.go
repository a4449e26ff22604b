package arch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A test that gets another name must not disappear from a target: go test succeeds if its pattern
// matches no test.
func TestPatternsOfMakefilesMatchATest(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("git", "-C", root, "grep", "-hoE", `^func (Test|Fuzz|Benchmark)[A-Za-z0-9_]+`, "--", "*_test.go").Output()
	require.NoError(t, err)
	names := strings.Split(strings.ReplaceAll(strings.TrimSpace(string(out)), "func ", ""), "\n")
	pattern := regexp.MustCompile(`(?:-run=|GATES := )('[^']*'|[^ '\n]+)`)
	found := 0
	for _, file := range []string{"Makefile", "bench/Makefile", "e2e/Makefile"} {
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		for _, match := range pattern.FindAllStringSubmatch(string(text), -1) {
			whole := strings.ReplaceAll(strings.Trim(match[1], "'"), "$$", "$")
			if whole == "^$" || strings.HasPrefix(whole, "$(") {
				continue
			}
			alternatives := []string{whole}
			if before, after, ok := strings.Cut(whole, "("); ok { // such as ^Test(A|B)
				alternatives = nil
				for name := range strings.SplitSeq(strings.TrimSuffix(after, ")"), "|") {
					alternatives = append(alternatives, before+name)
				}
			} else if strings.Contains(whole, "|") {
				alternatives = strings.Split(whole, "|")
			}
			for _, alternative := range alternatives {
				name, _, _ := strings.Cut(alternative, "/")
				matches := regexp.MustCompile(name)
				require.True(t, slices.ContainsFunc(names, matches.MatchString), "%s: no test matches %s", file, alternative)
				found++
			}
		}
	}
	require.Greater(t, found, 10)
}
