package migrate

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	realCache = "package cache\n\nfunc NewStore() {}\n\nfunc NewMagic() {}\n"
	ourCache  = "package cache\n\nimport _ \"github.com/kinform/kinform/informer\"\n\nfunc NewStore() {}\n"
)

// releases puts a client-go and a kinform into a proxy. This kinform lacks the function NewMagic
// and the package magic.
func releases(t *testing.T) *proxy {
	p := newProxy(t)
	p.release(clientGo, "v0.37.2", "module k8s.io/client-go\n", map[string]string{
		"tools/cache/cache.go": realCache, "magic/magic.go": "package magic\n\nfunc Do() {}\n",
	})
	p.release(dropIn, dropInVersion("v0.1.0"), "module k8s.io/client-go\n\nrequire github.com/kinform/kinform v0.1.0\n", map[string]string{
		"tools/cache/cache.go": ourCache,
	})
	p.release(kinform, "v0.1.0", "module github.com/kinform/kinform\n", map[string]string{"informer/informer.go": "package informer\n"})
	return p
}

// program writes a module that requires client-go.
func program(t *testing.T, files map[string]string) (dir string) {
	dir = t.TempDir()
	files["go.mod"] = "module example.com/program\n\ngo 1.24\n\nrequire k8s.io/client-go v0.37.2\n"
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

const goodMain = "package main\n\nimport \"k8s.io/client-go/tools/cache\"\n\nfunc main() { cache.NewStore() }\n"

// kinformMigrate runs the command, and returns its output.
func kinformMigrate(t *testing.T, args ...string) (string, error) {
	cmd := Command("v0.1.0")
	var out bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func read(t *testing.T, dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(data)
}

// snapshot returns the files of a folder.
func snapshot(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(dir, path)
			files[name] = read(t, dir, name)
		}
		return err
	}))
	return files
}

func goCommand(t *testing.T, dir string, args ...string) {
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, string(said))
}

func TestMigrateAndUndo(t *testing.T) {
	releases(t)
	dir := program(t, map[string]string{"main.go": goodMain})
	before := read(t, dir, "go.mod")

	out, err := kinformMigrate(t, "--dry-run", dir)
	require.NoError(t, err)
	require.Contains(t, out, "replace k8s.io/client-go => github.com/kinform/kinform/clientgo v0.37.2-kinform.0.1.0")
	require.Equal(t, before, read(t, dir, "go.mod"))

	out, err = kinformMigrate(t, dir)
	require.NoError(t, err, out)
	require.Contains(t, out, "\nNext: run go test ./..., and then the program.")
	require.Contains(t, out, "1 package compiled with its tests")
	require.Contains(t, read(t, dir, "go.mod"), "replace k8s.io/client-go => github.com/kinform/kinform/clientgo v0.37.2-kinform.0.1.0")
	require.Contains(t, read(t, dir, "go.sum"), "github.com/kinform/kinform/clientgo v0.37.2-kinform.0.1.0")

	out, err = kinformMigrate(t, dir)
	require.NoError(t, err, "a second time: %s", out)

	_, err = kinformMigrate(t, "--undo", dir)
	require.NoError(t, err)
	require.NotContains(t, read(t, dir, "go.mod"), "kinform")
	require.NotContains(t, read(t, dir, "go.sum"), "kinform")
	require.Contains(t, read(t, dir, "go.sum"), "k8s.io/client-go v0.37.2")
	_, err = kinformMigrate(t, "--undo", dir)
	require.ErrorContains(t, err, "no line of kinform migrate")
}

func TestVendoredModule(t *testing.T) {
	releases(t)
	dir := program(t, map[string]string{"main.go": goodMain})
	goCommand(t, dir, "mod", "tidy")
	goCommand(t, dir, "mod", "vendor")

	out, err := kinformMigrate(t, dir)
	require.NoError(t, err, out)
	require.Contains(t, out, "vendor/ still has client-go: run go mod vendor")
	goCommand(t, dir, "mod", "vendor")
	goCommand(t, dir, "build", "-o", filepath.Join(t.TempDir(), "program"), ".")
	require.Contains(t, read(t, dir, "vendor/modules.txt"), dropIn)

	out, err = kinformMigrate(t, "--undo", dir)
	require.NoError(t, err, out)
	require.Contains(t, out, "vendor/ may still have kinform: run go mod vendor")
	goCommand(t, dir, "mod", "vendor")
	goCommand(t, dir, "build", "-o", filepath.Join(t.TempDir(), "program"), ".")
	require.NotContains(t, read(t, dir, "vendor/modules.txt"), "kinform")
}

func TestCheckoutNeedsTwoReplaceLines(t *testing.T) {
	p := releases(t)
	// go.sum also needs the modules that the tests of a dependency import.
	p.release("example.com/tested", "v1.0.0", "module example.com/tested\n\ngo 1.24\n", map[string]string{"tested.go": "package tested\n"})
	p.release(clientGo, "v0.37.2", "module k8s.io/client-go\n\ngo 1.24\n\nrequire example.com/tested v1.0.0\n", map[string]string{
		"tools/cache/cache.go": realCache, "tools/cache/cache_test.go": "package cache\n\nimport _ \"example.com/tested\"\n",
	})
	checkout := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module github.com/kinform/kinform\n", "informer/informer.go": "package informer\n",
		"clientgo/go.mod":               "module k8s.io/client-go\n\nrequire github.com/kinform/kinform v0.0.0\n",
		"clientgo/tools/cache/cache.go": ourCache,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(checkout, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(checkout, name), []byte(text), 0o644))
	}
	dir := program(t, map[string]string{"main.go": goodMain})
	goCommand(t, dir, "mod", "tidy")
	mod, sum := read(t, dir, "go.mod"), read(t, dir, "go.sum")
	require.Contains(t, sum, "example.com/tested")
	out, err := kinformMigrate(t, "--from", checkout, dir)
	require.NoError(t, err, out)
	require.Contains(t, read(t, dir, "go.mod"), "k8s.io/client-go => "+checkout+"/clientgo")
	require.Contains(t, read(t, dir, "go.mod"), "github.com/kinform/kinform => "+checkout)
	_, err = kinformMigrate(t, "--undo", dir)
	require.NoError(t, err)
	require.Equal(t, mod, read(t, dir, "go.mod"))
	require.Equal(t, sum, read(t, dir, "go.sum"))
}

func TestMissingIdentifiersAreListed(t *testing.T) {
	releases(t)
	dir := program(t, map[string]string{
		"main.go":               "package main\n\nimport \"k8s.io/client-go/tools/cache\"\n\nfunc main() {\n\tcache.NewStore()\n\tcache.NewMagic()\n}\n",
		"other/other.go":        "package other\n\nimport \"k8s.io/client-go/magic\"\n\nfunc Do() { magic.Do() }\n",
		"tested/tested.go":      "package tested\n",
		"tested/tested_test.go": "package tested\n\nimport (\n\t\"testing\"\n\n\t\"k8s.io/client-go/tools/cache\"\n)\n\nfunc TestMagic(*testing.T) { cache.NewMagic() }\n",
	})
	out, err := kinformMigrate(t, dir)
	require.ErrorContains(t, err, "3 places do not compile", out)
	require.ErrorContains(t, err, "kinform migrate --undo")
	require.Regexp(t, `(?m)^main\.go:7: undefined: cache\.NewMagic\n +kinform.* does not have this name`, out)
	require.Regexp(t, `tested/tested_test\.go:9: undefined: cache\.NewMagic`, out)
	require.Regexp(t, `other/other\.go:3: .*k8s\.io/client-go/magic\n +kinform does not have this package`, out)
	require.Contains(t, read(t, dir, "go.mod"), dropIn, "the replace directive must stay")
}

func TestModulesThatCannotBeMigrated(t *testing.T) {
	releases(t)
	const required = "module example.com/program\n\ngo 1.24\n\nrequire k8s.io/client-go v0.37.2\n"
	for name, test := range map[string]struct{ goMod, complaint string }{
		"no client-go":       {"module example.com/program\n", "does not require k8s.io/client-go"},
		"replaced by others": {required + "\nreplace k8s.io/client-go => example.com/fork v1.0.0\n", `the line "k8s.io/client-go => example.com/fork v1.0.0" first`},
		"no go.mod":          {"", "not in a module"},
		"unreadable":         {"modul x\n", "go.mod:1: unknown directive"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if test.goMod != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(test.goMod), 0o644))
			}
			_, err := kinformMigrate(t, dir)
			require.ErrorContains(t, err, test.complaint)
			if test.goMod != "" {
				require.Equal(t, test.goMod, read(t, dir, "go.mod"))
			}
		})
	}
	dir := program(t, map[string]string{"main.go": goodMain})
	before := read(t, dir, "go.mod")
	_, err := kinformMigrate(t, "--version", "v9.9.9", dir)
	require.ErrorContains(t, err, "v0.37.2-kinform.9.9.9")
	require.Equal(t, before, read(t, dir, "go.mod"), "a failed migration must leave go.mod unchanged")
	_, err = os.Stat(filepath.Join(dir, "go.sum"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = kinformMigrate(t, "--from", t.TempDir(), dir)
	require.ErrorContains(t, err, "is not a checkout of kinform")
	_, err = kinformMigrate(t, "--undo", "--dry-run", dir)
	require.ErrorContains(t, err, "exclude each other")
	unreleased := Command("")
	unreleased.SetArgs([]string{dir})
	unreleased.SilenceUsage, unreleased.SilenceErrors = true, true
	require.ErrorContains(t, unreleased.ExecuteContext(t.Context()), "--from")
}

func TestOtherClientGoVersionGetsAHint(t *testing.T) {
	for version, said := range map[string]bool{
		"v0.37.0": false, "v0.37.9": false, "v0.36.1": true, "v0.38.0": true, "v11.0.0+incompatible": true, "v0.0.0-20260626213116-2b6c2012d75f": true,
	} {
		m := &module{file: "go.mod", parsed: goMod{Require: []requirement{{Path: clientGo, Version: version}}}}
		require.Equal(t, said, m.minorMismatch() != "", version)
		if said {
			require.Contains(t, m.minorMismatch(), version)
		}
	}
}

func TestReplaceLineNamesTheClientGoVersion(t *testing.T) {
	require.Contains(t, read(t, "../../../../clientgo", "go.mod"), "\tk8s.io/api "+clientGoVersion+"\n")
}
