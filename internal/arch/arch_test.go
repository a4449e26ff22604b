package arch_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// run runs a command in the repository's root and returns its output.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	return runIn(t, ".", name, args...)
}

// runIn runs a command in a folder below the repository's root and returns its output.
func runIn(t *testing.T, folder, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = filepath.Join(root, folder)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s\n%s", strings.Join(cmd.Args, " "), &stderr)
	return out
}

// listPackages returns the packages of the main module and of the modules on top of it.
func listPackages(t *testing.T) []goPackage {
	t.Helper()
	packages := map[string]goPackage{}
	for _, folder := range modules {
		out := runIn(t, folder, "go", "list", "-json=ImportPath,Doc,GoFiles,Imports,Deps", "-deps", "./...")
		for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
			var p goPackage
			err := decoder.Decode(&p)
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			if below(p.ImportPath, module) {
				packages[p.ImportPath] = p
			}
		}
	}
	return slices.SortedFunc(maps.Values(packages), func(a, b goPackage) int { return strings.Compare(a.ImportPath, b.ImportPath) })
}

func TestArchitecture(t *testing.T) {
	t.Parallel()
	packages := listPackages(t)
	require.True(t, slices.ContainsFunc(packages, func(p goPackage) bool { return p.ImportPath == module+"/informer" }),
		"this test must see the packages that it judges")
	for _, v := range architecture.violations(packages) {
		t.Error(v)
	}
}

func TestPlainImportsAPIMachineryAlone(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		for _, path := range p.Imports {
			domain, _, _ := strings.Cut(path, "/")
			if p.ImportPath == module+"/plain" && strings.Contains(domain, ".") {
				require.True(t, below(path, "k8s.io/apimachinery"), "plain imports %s: a reader of the textbook would have to know this package too", path)
			}
		}
	}
}

// requirements are the direct requirements of the main go.mod, each with its reason. Version
// selection brings every requirement into each program that imports one package of the core.
// clientgo/proof/versions pins the versions of the requirements.
var requirements = map[string]string{
	"k8s.io/api":                           "the types of objects",
	"k8s.io/apimachinery":                  "metadata, errors and codecs",
	"github.com/stretchr/testify":          "tests",
	"go.uber.org/goleak":                   "tests",
	"golang.org/x/term":                    "rest/execauth detects a terminal for interactive plugins",
	"gopkg.in/evanphx/json-patch.v4":       "apitest applies JSON patches",
	"k8s.io/utils":                         "examples and tests",
	"sigs.k8s.io/json":                     "JSON is decoded like in apimachinery",
	"sigs.k8s.io/randfill":                 "tests fill objects at random",
	"sigs.k8s.io/structured-merge-diff/v6": "apitest applies configurations",
	"sigs.k8s.io/yaml":                     "kubeconfigs, and responses of plugins",
}

func TestMainModuleRequiresWhatTheCoreNeeds(t *testing.T) {
	t.Parallel()
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Replace []struct{ Old struct{ Path string } }
	}
	require.NoError(t, json.Unmarshal(run(t, "go", "mod", "edit", "-json"), &mod))
	require.Empty(t, mod.Replace, "with a replace line, tests and consumers of the module use different versions")
	var direct []string
	for _, required := range mod.Require {
		if !required.Indirect {
			direct = append(direct, required.Path)
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(requirements)), direct,
		"each program that requires kinform gets these modules: a package that links another family of libraries needs its own go.mod (docs/adr/0009-modules.md)")
}

// A module that the Makefile does not list is neither tested nor vetted.
func TestMakefileKnowsEveryModule(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	list := func(name string) []string {
		_, after, found := strings.Cut(string(text), "\n"+name+" := ")
		require.True(t, found, name)
		line, _, _ := strings.Cut(after, "\n")
		return strings.Fields(line)
	}
	tested := list("TESTED")
	known := list("MODULES")
	require.Equal(t, "$(TESTED)", known[0])
	known = append(known[1:], tested...)

	var there []string
	require.NoError(t, filepath.WalkDir(root, func(path string, file fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case file.IsDir() && name != "." && (file.Name() == "testdata" || file.Name() == "bin" || strings.HasPrefix(file.Name(), ".")):
			return fs.SkipDir
		case file.Name() == "go.mod":
			there = append(there, filepath.ToSlash(filepath.Dir(name)))
		}
		return nil
	}))
	require.ElementsMatch(t, there, known)
	for _, folder := range modules {
		require.Contains(t, tested, folder, "the rules of this package cover the module")
	}
}

func TestRulesFindEachViolation(t *testing.T) {
	t.Parallel()
	const reasonOfLeaf = "because a leaf is useful alone, and understandable without the others"
	pkg := func(path string, imports ...string) goPackage {
		return goPackage{ImportPath: module + path, Doc: "Package x.", GoFiles: []string{"x.go"}, Imports: imports, Deps: imports}
	}
	reaching := func(p goPackage, deps ...string) goPackage {
		p.Deps = append(p.Deps, deps...)
		return p
	}
	tests := []struct {
		name string
		pkg  goPackage
		want []string // fragments of the only violation, or empty if the package breaks no rule
	}{
		{"leaf imports a leaf", pkg("/workqueue", module+"/indexer"), []string{
			"kinform/workqueue imports " + module + "/indexer", "may link no public package", reasonOfLeaf}},
		{"leaf reaches a leaf through internal code", reaching(pkg("/workqueue", module+"/internal/x"), module+"/internal/x", module+"/indexer"), []string{
			"kinform/workqueue reaches " + module + "/indexer", reasonOfLeaf}},
		{"leaf imports the port", pkg("/indexer", module+"/listwatch"), []string{"imports " + module + "/listwatch"}},
		{"reflector imports rest", pkg("/reflector", module+"/rest"), []string{"may link only listwatch"}},
		{"rest imports discovery", pkg("/rest", module+"/rest/discovery"), []string{"rest may link only listwatch"}},
		{"kubeconfig imports discovery", pkg("/rest/kubeconfig", module+"/rest/discovery"), []string{"may link only rest, listwatch"}},
		{"lease imports workqueue", pkg("/lease", module+"/workqueue"), []string{"lease may link only rest"}},
		{"events import lease", pkg("/events", module+"/lease"), []string{"events may link only rest"}},
		{"informer imports rest", pkg("/informer", module+"/rest"), []string{"only place where the stages meet"}},
		{"informer imports workqueue", pkg("/informer", module+"/workqueue"), []string{"may link only reflector"}},
		{"apitest imports rest", pkg("/apitest", module+"/rest"), []string{"would share its mistakes"}},
		{"root imports something", pkg("", module+"/informer"), []string{"the root is documentation"}},
		{"a package without a place", pkg("/util"), []string{"needs an import rule"}},
		{"client-go", reaching(pkg("/compat/tools/cache"), "k8s.io/client-go/tools/cache"), []string{"links k8s.io/client-go/tools/cache", "kinform replaces it"}},
		{"controller-runtime", reaching(pkg("/cmd/kinform"), "sigs.k8s.io/controller-runtime"), []string{"nothing but tests may link"}},
		{"testify", pkg("/internal/testing/conformance", "github.com/stretchr/testify/require"), []string{"must not reach the programs of users"}},
		{"goleak", pkg("/apitest", "go.uber.org/goleak"), []string{"must not reach the programs of users"}},
		{"metrics link OpenTelemetry", reaching(pkg("/metrics"), "go.opentelemetry.io/otel/trace"), []string{"nothing but tests, tracing may link go.opentelemetry.io", "pays for OpenTelemetry"}},
		{"tracing links Prometheus", reaching(pkg("/tracing"), "github.com/prometheus/client_golang/prometheus"), []string{"nothing but tests, metrics, examples/mirror may link github.com/prometheus"}},
		{"view links the terminal library", reaching(pkg("/view"), "charm.land/bubbletea/v2"), []string{"nothing but tests, cmd/kinform/... may link charm.land", "only the command draws on a terminal"}},
		{"controller links Prometheus", reaching(pkg("/controller"), "github.com/prometheus/client_model/go"), []string{"pays for Prometheus' client"}},
		{"reflector imports net/http", pkg("/reflector", "net/http"), []string{"imports net/http: only rest/..., plain, internal/testing/conformance/plain, apitest/..., controller, view/..., cmd/..., examples/... may do so", "business of the adapter"}},
		{"no comment", goPackage{ImportPath: module + "/rest", GoFiles: []string{"x.go"}}, []string{"must have a package comment"}},

		{"metrics import Prometheus", pkg("/metrics", "github.com/prometheus/client_golang/prometheus"), nil},
		{"nothing but tests", goPackage{ImportPath: module + "/somewhere"}, nil},
		{"leaf imports internal code", pkg("/indexer", module+"/internal/invariant"), nil},
		{"a module with a similar name", pkg("/rest", "k8s.io/client-gopher", module+"er/indexer"), nil},
		{"rest imports net/http and the port", pkg("/rest", "net/http", module+"/listwatch"), nil},
		{"something below rest imports rest", reaching(pkg("/rest/kubeconfig", "net/http", module+"/rest"), module+"/listwatch"), nil},
		{"command imports anything", pkg("/cmd/kinform", "net/http", module+"/rest", module+"/cmd/kinform/internal/watch"), nil},
		{"something reaches net/http", reaching(pkg("/reflector"), "net/http"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, v := range architecture.violations([]goPackage{tt.pkg}) {
				if !strings.HasPrefix(v, "the import rule from ") {
					// One package alone uses few of the import rules.
					got = append(got, v)
				}
			}
			if tt.want == nil {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			for _, part := range tt.want {
				require.Contains(t, got[0], part)
			}
		})
	}
}

func TestUnusedImportRuleIsFound(t *testing.T) {
	t.Parallel()
	r := rules{imports: []importRule{{from: []string{"rest"}, to: []string{"listwatch", "indexer"}, reason: "none"}}}
	got := r.violations([]goPackage{{
		ImportPath: module + "/rest", Doc: "Package rest.", GoFiles: []string{"x.go"}, Deps: []string{module + "/listwatch"},
	}})
	require.Equal(t, []string{"the import rule from rest to indexer is not used: remove it, because the rules must describe the code"}, got)
}
