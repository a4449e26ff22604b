// Package generated compares the generated code of clientgo with client-go's. It calls all typed
// clients, their fakes, apply configurations, informers and listers, while a server records the
// requests.
package generated_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/clientgo/proof/internal/sides"
)

// differences are functions. Each reports whether the difference between two lines is intended.
var differences = []func(name, their, our string) bool{listersText, trackersVersion}

// listersText: if a pod has no owner, the listers have their own error texts.
func listersText(_, their, our string) bool {
	return ownerOf.ReplaceAllString(their, "nothing for $name in $namespace with ") == ourOwnerOf.ReplaceAllString(our, "nothing for $name in $namespace with ")
}

var (
	ownerOf    = regexp.MustCompile(`could not find [\w ]+ for (?:\w+) (?P<name>\S+) in namespace (?P<namespace>\S+) with labels: `)
	ourOwnerOf = regexp.MustCompile(`no \w+ found for (?P<namespace>\S+)/(?P<name>\S+) with labels `)
)

// trackersVersion: here a deletion raises the version of a fake's tracker, so that a watch can
// begin with the deletion. Each fake has one or two deletions before it lists or watches, so the
// versions differ.
func trackersVersion(name, their, our string) bool {
	before, after := versionOf(their), versionOf(our)
	return strings.Contains(name, "fake: ") && before > 0 && (after == before+1 || after == before+2) &&
		strings.Replace(their, fmt.Sprintf(trackers, before), fmt.Sprintf(trackers, after), 1) == our
}

const trackers = `"metadata":{"resourceVersion":"%d"}`

// versionOf returns the first tracker version in a line, or 0.
func versionOf(line string) (version int) {
	if _, rest, ok := strings.Cut(line, `"metadata":{"resourceVersion":"`); ok {
		_, _ = fmt.Sscanf(rest, `%d"}`, &version)
	}
	return version
}

// extractErrors matches the results of extractions that are errors in client-go. In this module, a
// manager that owns no part of an existing object gets only the object's name and kind. So does a
// manager that has never applied. An item that is twice in a list is extracted twice.
var extractErrors = regexp.MustCompile(`^error (unable to convert managed fields for m to unstructured, expected map, got <nil>|error converting obj to typed: .*duplicate entries for key .*)$`)

func TestGeneratedCodeBehavesLikeClientGo(t *testing.T) {
	overlay := "-overlay=" + functions(t, t.TempDir())
	theirs := try(t, nil, overlay, sides.ClientGo)
	require.Greater(t, len(theirs), 40_000)
	met := make([]int, len(differences)+1)
	compare(t, theirs, try(t, nil, overlay), met)
	for i, n := range met {
		require.NotZero(t, n, "difference %d was not found", i)
	}
	t.Logf("%d cases, lines that differ: %v", len(theirs), met)

	for name := range theirs {
		if !clients.MatchString(name) {
			delete(theirs, name)
		}
	}
	// with these build tags, objects are encoded and decoded in other ways
	for _, tags := range []string{"withscheme", "kinform_no_openapi"} {
		t.Run(tags, func(t *testing.T) { compare(t, theirs, try(t, []string{"-clients"}, "-tags="+tags), met) })
	}
}

// clients matches the names of the cases of the typed clients, the dynamic client and the metadata
// client.
var clients = regexp.MustCompile(`^(JSON|protobuf|without a content type|no namespace|nothing|unnamed|failing|failing in protobuf|dynamic .*|metadata .*): `)

// compare compares all cases, and counts the known differences.
func compare(t *testing.T, theirs, ours sides.Cases, seen []int) {
	require.Equal(t, len(theirs), len(ours))
	failed := 0
	for name, our := range ours {
		their, ok := theirs[name]
		require.True(t, ok, name)
		if len(their) == 2 && extractErrors.MatchString(their[1]) {
			configuration, _, _ := strings.Cut(their[0], " ")
			require.True(t, strings.HasPrefix(strings.TrimPrefix(our[0], `"`), configuration+" {") && our[1] == "nil", "%s: %s", name, our)
			seen[len(differences)]++
			continue
		}
		for i := range max(len(our), len(their)) {
			if their, our := sides.At(their, i), sides.At(our, i); !same(name, their, our, seen) {
				if failed++; failed < 20 {
					t.Errorf("%s\nclient-go: %.1000s\nhere:      %.1000s", name, their, our)
				}
				break
			}
		}
	}
	require.Zero(t, failed)
}

// same reports whether two lines are equal, except for a known difference.
func same(name, their, our string, met []int) bool {
	if their == our {
		return true
	}
	for i, difference := range differences {
		if difference(name, their, our) {
			met[i]++
			return true
		}
	}
	return false
}

// functions writes a file that lists all functions of the apply configurations. It returns the
// overlay that adds the file to the program.
func functions(t *testing.T, dir string) (overlay string) {
	root := filepath.Join("..", "..", "applyconfigurations")
	var imports, entries []string
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		folder := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if err != nil || !entry.IsDir() || path == root || strings.HasPrefix(folder, "internal") {
			return err
		}
		files, err := filepath.Glob(filepath.Join(path, "*.go"))
		require.NoError(t, err)
		alias := strings.ReplaceAll(folder, "/", "")
		before := len(entries)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, decl := range file.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.IsExported() && fn.Type.TypeParams == nil {
					entries = append(entries, fmt.Sprintf("\tfunctions[%q] = %s.%s\n", folder+"."+fn.Name.Name, alias, fn.Name.Name))
				}
			}
		}
		if len(entries) > before {
			imports = append(imports, fmt.Sprintf("import %s \"k8s.io/client-go/applyconfigurations/%s\"\n", alias, folder))
		}
		return nil
	}))
	require.Greater(t, len(entries), 1000)
	slices.Sort(entries)
	file := filepath.Join(dir, "functions.go")
	require.NoError(t, os.WriteFile(file, []byte("package main\n\n"+strings.Join(imports, "")+"\nfunc init() {\n"+strings.Join(entries, "")+"}\n"), 0o600))
	place, err := filepath.Abs(filepath.Join("try", "functions.go"))
	require.NoError(t, err)
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{place: file}})
	require.NoError(t, err)
	overlay = filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, data, 0o600))
	return overlay
}

// try runs all cases with one of the modules, and returns the lines of each case.
func try(t *testing.T, args []string, flags ...string) sides.Cases {
	t.Helper()
	run := exec.Command(sides.Build(t, "./try", flags...), args...)
	// Without streaming lists, which package behaviour compares.
	run.Env = append(os.Environ(), "KUBE_FEATURE_WatchListClient=false")
	return sides.Run(t, run)
}
