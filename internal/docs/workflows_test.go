package docs

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// workflow has the parts of .github/workflows/ci.yml that repeat something of the repository.
type workflow struct {
	Jobs struct {
		Stage struct {
			Strategy struct{ Matrix struct{ Stage []string } }
			Steps    []struct {
				Uses string
				With map[string]any
			}
		}
	}
}

// TestTheWorkflowRunsTheStagesOfCI: GitHub runs the targets that .ci/run runs.
func TestTheWorkflowRunsTheStagesOfCI(t *testing.T) {
	t.Parallel()
	stages, err := exec.Command("make", "--silent", "--no-print-directory", "-C", root, "stages").Output()
	require.NoError(t, err)
	var w workflow
	parse(t, ".github/workflows/ci.yml", &w)
	require.Equal(t, strings.Fields(string(stages)), w.Jobs.Stage.Strategy.Matrix.Stage)
}

// TestTheWorkflowsGoVersionFitsAllModules: setup-go sets GOTOOLCHAIN=local, so a module that needs
// a newer Go would not build.
func TestTheWorkflowsGoVersionFitsAllModules(t *testing.T) {
	t.Parallel()
	var w workflow
	parse(t, ".github/workflows/ci.yml", &w)
	var named string
	for _, step := range w.Jobs.Stage.Steps {
		if file, ok := step.With["go-version-file"].(string); ok {
			named = file
		}
	}
	require.NotEmpty(t, named)
	newest := slices.MaxFunc(modules(t), func(a, b string) int {
		return slices.Compare(goVersion(t, path.Join(a, "go.mod")), goVersion(t, path.Join(b, "go.mod")))
	})
	require.Equal(t, goVersion(t, path.Join(newest, "go.mod")), goVersion(t, named), "%s needs a newer Go than %s", newest, named)
}

// TestDependabotListsAllModules: each folder with a go.mod is in one list of
// .github/dependabot.yml.
func TestDependabotListsAllModules(t *testing.T) {
	t.Parallel()
	var config struct {
		Updates []struct {
			Ecosystem   string `json:"package-ecosystem"`
			Directories []string
		}
	}
	parse(t, ".github/dependabot.yml", &config)
	var known []string
	for _, update := range config.Updates {
		if update.Ecosystem == "gomod" {
			known = append(known, update.Directories...)
		}
	}
	var exist []string
	for _, dir := range modules(t) {
		exist = append(exist, path.Join("/", dir))
	}
	require.ElementsMatch(t, exist, known)
}

// parse reads a file in YAML.
func parse(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, into))
}

// modules returns the folders that have a go.mod.
func modules(t *testing.T) (dirs []string) {
	t.Helper()
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || name == "bin"):
			return fs.SkipDir
		case entry.Name() == "go.mod":
			dirs = append(dirs, path.Dir(name))
		}
		return nil
	}))
	require.Greater(t, len(dirs), 10)
	return dirs
}

var goLine = regexp.MustCompile(`(?m)^go (\d+)\.(\d+)\.(\d+)$`)

// goVersion returns the numbers of the go line of a go.mod.
func goVersion(t *testing.T, name string) []int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	found := goLine.FindStringSubmatch(string(text))
	require.NotNil(t, found, "%s has no go line with three numbers", name)
	var numbers []int
	for _, digits := range found[1:] {
		n, err := strconv.Atoi(digits)
		require.NoError(t, err)
		numbers = append(numbers, n)
	}
	return numbers
}
