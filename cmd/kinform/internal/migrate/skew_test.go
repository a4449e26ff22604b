package migrate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// versionReleases puts releases of client-go, kinform and k8s.io/api into a proxy. Some versions
// match each other and some do not.
func versionReleases(t *testing.T) *proxy {
	p := newProxy(t)
	for _, v := range []string{"v0.36.0", "v0.37.2", "v0.38.0"} {
		p.release("k8s.io/api", v, "module k8s.io/api\n\ngo 1.24\n", map[string]string{"core/v1/types.go": "package v1\n\ntype Pod struct{}\n"})
	}
	cache := map[string]string{"tools/cache/cache.go": "package cache\n\nimport v1 \"k8s.io/api/core/v1\"\n\nfunc NewStore() v1.Pod { return v1.Pod{} }\n"}
	for _, v := range []string{"v0.36.0", "v0.37.2"} {
		p.release(clientGo, v, "module k8s.io/client-go\n\ngo 1.24\n\nrequire k8s.io/api "+v+"\n", cache)
	}
	p.release(dropIn, dropInVersion("v0.1.0"), "module k8s.io/client-go\n\ngo 1.24\n\nrequire k8s.io/api v0.37.2\n", cache)
	return p
}

// versionProgram writes a module that requires these versions of client-go and k8s.io/api.
func versionProgram(t *testing.T, client, api, more string) (dir string) {
	dir = program(t, map[string]string{"main.go": "package main\n\nimport (\n\tv1 \"k8s.io/api/core/v1\"\n\t\"k8s.io/client-go/tools/cache\"\n)\n\nvar pod v1.Pod\n\nfunc main() { cache.NewStore() }\n"})
	text := "module example.com/program\n\ngo 1.24\n\nrequire (\n\tk8s.io/api " + api + "\n\tk8s.io/client-go " + client + "\n)\n" + more
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644))
	return dir
}

func TestUndoRestoresRaisedVersions(t *testing.T) {
	versionReleases(t)
	dir := versionProgram(t, "v0.36.0", "v0.36.0", "")
	before := read(t, dir, "go.mod")
	out, err := kinformMigrate(t, dir)
	require.NoError(t, err, out)
	require.Contains(t, out, "requires client-go v0.36.0, but kinform has the names of v0.37")
	require.Regexp(t, `k8s\.io/api v0\.37\.2\n`, read(t, dir, "go.mod"))
	require.Contains(t, read(t, dir, "go.mod"), "clientgo v0.37.2-kinform.0.1.0 // kinform migrate: had k8s.io/api v0.36.0 -> v0.37.2\n")
	migrated := read(t, dir, "go.mod")
	out, err = kinformMigrate(t, dir)
	require.NoError(t, err, out)
	require.Equal(t, migrated, read(t, dir, "go.mod"), "a second migration must change nothing")

	out, err = kinformMigrate(t, "--undo", dir)
	require.NoError(t, err, out)
	require.Equal(t, before, read(t, dir, "go.mod"))
}

func TestUndoRestoresTheGoVersion(t *testing.T) {
	p := versionReleases(t)
	p.release(dropIn, dropInVersion("v0.2.0"), "module k8s.io/client-go\n\ngo 1.26.0\n\nrequire k8s.io/api v0.37.2\n", map[string]string{
		"tools/cache/cache.go": "package cache\n\nimport v1 \"k8s.io/api/core/v1\"\n\nfunc NewStore() v1.Pod { return v1.Pod{} }\n",
	})
	dir := versionProgram(t, "v0.36.0", "v0.36.0", "")
	before := read(t, dir, "go.mod")
	out, err := kinformMigrate(t, "--version", "v0.2.0", dir)
	require.NoError(t, err, out)
	require.Contains(t, read(t, dir, "go.mod"), "\ngo 1.26.0\n")
	require.Contains(t, out, "go.mod: go 1.24 becomes 1.26.0: kinform's client-go requires it")

	out, err = kinformMigrate(t, "--undo", dir)
	require.NoError(t, err, out)
	require.Equal(t, before, read(t, dir, "go.mod"))
}

// A second migration, to another version of kinform, raises more modules. Undo also restores the
// versions that the first migration has raised.
func TestUndoRestoresVersionsOfTwoMigrations(t *testing.T) {
	p := othersReleases(t)
	for n, v := range []string{"v0.1.0", "v0.2.0", "v0.3.0"} {
		if n > 0 {
			p.release(kinform, v, "module github.com/kinform/kinform\n\ngo 1.26.0\n\nrequire example.com/raised v1.2.0\n", map[string]string{
				"informer/informer.go": "package informer\n\nimport _ \"example.com/raised\"\n",
			})
		}
	}
	p.release("example.com/more", "v1.0.0", "module example.com/more\n\ngo 1.24\n", map[string]string{"more.go": "package more\n"})
	p.release(dropIn, dropInVersion("v0.2.0"), "module k8s.io/client-go\n\ngo 1.26.0\n\nrequire (\n\texample.com/more v1.0.0\n\texample.com/raised v1.2.0\n\tgithub.com/kinform/kinform v0.2.0\n)\n", map[string]string{
		"tools/cache/cache.go": ourCache, "tools/cache/more.go": "package cache\n\nimport _ \"example.com/more\"\n",
	})
	p.release(dropIn, dropInVersion("v0.3.0"), "module k8s.io/client-go\n\ngo 1.26.0\n\nrequire (\n\texample.com/lost v1.0.0\n\texample.com/raised v1.2.0\n\tgithub.com/kinform/kinform v0.3.0\n)\n", map[string]string{
		"tools/cache/cache.go": ourCache, "tools/cache/lost.go": "package cache\n\nimport _ \"example.com/lost\"\n",
	})
	dir := program(t, map[string]string{"main.go": goodMain})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(othersMod), 0o644))
	goCommand(t, dir, "mod", "tidy")
	mod, sum := read(t, dir, "go.mod"), read(t, dir, "go.sum")
	for _, version := range []string{"v0.1.0", "v0.2.0", "v0.2.0", "v0.3.0"} {
		out, err := kinformMigrate(t, "--version", version, dir)
		require.NoError(t, err, out)
	}
	require.Contains(t, read(t, dir, "go.mod"), "clientgo v0.37.2-kinform.0.3.0 // kinform migrate: had go 1.24 -> 1.26.0, toolchain go1.24.3 -> none, example.com/raised v1.0.0 -> v1.2.0\n")

	out, err := kinformMigrate(t, "--undo", dir)
	require.NoError(t, err, out)
	require.Equal(t, mod, read(t, dir, "go.mod"))
	require.Equal(t, sum, read(t, dir, "go.sum"))
}

// othersReleases puts modules into a proxy. client-go and kinform need some of them in different
// versions, and only client-go needs one of them.
func othersReleases(t *testing.T) *proxy {
	p := newProxy(t)
	for _, v := range []string{"v1.0.0", "v1.1.0", "v1.2.0"} {
		p.release("example.com/raised", v, "module example.com/raised\n\ngo 1.24\n", map[string]string{"raised.go": "package raised\n"})
	}
	p.release("example.com/lost", "v1.0.0", "module example.com/lost\n\ngo 1.24\n", map[string]string{"lost.go": "package lost\n"})
	p.release(clientGo, "v0.37.2", "module k8s.io/client-go\n\ngo 1.24\n\nrequire (\n\texample.com/lost v1.0.0\n\texample.com/raised v1.0.0\n)\n", map[string]string{
		"tools/cache/cache.go": "package cache\n\nimport (\n\t_ \"example.com/lost\"\n\t_ \"example.com/raised\"\n)\n\nfunc NewStore() {}\n",
	})
	p.release(kinform, "v0.1.0", "module github.com/kinform/kinform\n\ngo 1.26.0\n\nrequire example.com/raised v1.1.0\n", map[string]string{
		"informer/informer.go": "package informer\n\nimport _ \"example.com/raised\"\n",
	})
	p.release(dropIn, dropInVersion("v0.1.0"), "module k8s.io/client-go\n\ngo 1.26.0\n\nrequire (\n\texample.com/raised v1.1.0\n\tgithub.com/kinform/kinform v0.1.0\n)\n", map[string]string{
		"tools/cache/cache.go": ourCache,
	})
	return p
}

const othersMod = "module example.com/program\n\ngo 1.24\n\ntoolchain go1.24.3\n\nrequire k8s.io/client-go v0.37.2\n\n" +
	"require (\n\texample.com/lost v1.0.0 // indirect\n\texample.com/raised v1.0.0 // indirect\n)\n"

func TestUndoRestoresIndirectVersions(t *testing.T) {
	othersReleases(t)
	dir := program(t, map[string]string{"main.go": goodMain})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(othersMod), 0o644))
	out, err := kinformMigrate(t, dir)
	require.NoError(t, err, out)
	migrated := read(t, dir, "go.mod")
	require.NotContains(t, migrated, "\ntoolchain")
	require.Contains(t, migrated, "example.com/raised v1.1.0 // indirect")
	require.NotContains(t, migrated, "\texample.com/lost")

	out, err = kinformMigrate(t, "--undo", dir)
	require.NoError(t, err, out)
	require.Equal(t, othersMod, read(t, dir, "go.mod"))
}

func TestUndoKeepsLaterChanges(t *testing.T) {
	othersReleases(t)
	dir := program(t, map[string]string{"main.go": goodMain})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(othersMod), 0o644))
	out, err := kinformMigrate(t, dir)
	require.NoError(t, err, out)
	edited := strings.Replace(read(t, dir, "go.mod"), "example.com/raised v1.1.0 // indirect", "example.com/raised v1.2.0 // indirect", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(edited), 0o644))

	out, err = kinformMigrate(t, "--undo", dir)
	require.NoError(t, err, out)
	require.Equal(t, strings.Replace(othersMod, "raised v1.0.0", "raised v1.2.0", 1), read(t, dir, "go.mod"))
}

// If the go command switches the toolchain in order to raise the version of Go, it adds a toolchain
// directive.
func TestUndoRemovesTheToolchain(t *testing.T) {
	othersReleases(t)
	dir := program(t, map[string]string{"main.go": goodMain})
	const line = "\nreplace k8s.io/client-go => github.com/kinform/kinform/clientgo v0.37.2-kinform.0.1.0 // kinform migrate: had go 1.24 -> 1.26.0, toolchain none -> go1.26.1\n"
	raised := strings.NewReplacer("go 1.24\n", "go 1.26.0\n", "go1.24.3", "go1.26.1").Replace(othersMod)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(raised+line), 0o644))
	out, err := kinformMigrate(t, "--undo", dir)
	require.NoError(t, err, out)
	require.Equal(t, strings.Replace(othersMod, "toolchain go1.24.3\n\n", "", 1), read(t, dir, "go.mod"))
}

func TestPinnedOldModuleIsRefused(t *testing.T) {
	versionReleases(t)
	dir := versionProgram(t, "v0.37.2", "v0.37.2", "\nreplace k8s.io/api => k8s.io/api v0.36.0\n")
	before := read(t, dir, "go.mod")
	_, err := kinformMigrate(t, dir)
	require.ErrorContains(t, err, `replaces k8s.io/api by a version that is older than v0.37, for which kinform's client-go is made: remove the line "k8s.io/api => k8s.io/api v0.36.0" first`)
	require.Equal(t, before, read(t, dir, "go.mod"))
}

func TestNewerModuleGetsAHint(t *testing.T) {
	versionReleases(t)
	out, err := kinformMigrate(t, versionProgram(t, "v0.37.2", "v0.38.0", ""))
	require.NoError(t, err, out)
	require.Contains(t, out, "the module builds with k8s.io/api v0.38.0, but kinform's client-go is made for v0.37")
	out, err = kinformMigrate(t, versionProgram(t, "v0.37.2", "v0.37.2", ""))
	require.NoError(t, err, out)
	require.NotContains(t, out, "builds with")
	require.NotContains(t, out, "requires client-go")
}

func TestUnavailableModuleIsNotRemoved(t *testing.T) {
	// In this case, go mod tidy -e would remove the requirement.
	versionReleases(t)
	dir := versionProgram(t, "v0.37.2", "v0.37.2", "\nrequire example.com/gone v1.0.0\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tools.go"), []byte("//go:build tools\n\npackage main\n\nimport _ \"example.com/gone/generator\"\n"), 0o644))
	before := read(t, dir, "go.mod")
	_, err := kinformMigrate(t, dir)
	require.ErrorContains(t, err, "example.com/gone")
	require.Equal(t, before, read(t, dir, "go.mod"))
}

func TestUndoKeepsImportedKinform(t *testing.T) {
	releases(t)
	checkout := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module github.com/kinform/kinform\n", "informer/informer.go": "package informer\n",
		"clientgo/go.mod":               "module k8s.io/client-go\n\nrequire github.com/kinform/kinform v0.0.0\n",
		"clientgo/tools/cache/cache.go": ourCache,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(checkout, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(checkout, name), []byte(text), 0o644))
	}
	dir := program(t, map[string]string{"main.go": "package main\n\nimport (\n\t_ \"github.com/kinform/kinform/informer\"\n\t\"k8s.io/client-go/tools/cache\"\n)\n\nfunc main() { cache.NewStore() }\n"})
	out, err := kinformMigrate(t, "--from", checkout, dir)
	require.NoError(t, err, out)
	out, err = kinformMigrate(t, "--undo", dir)
	require.NoError(t, err, out)
	require.NotContains(t, read(t, dir, "go.mod"), "client-go => ")
	require.Contains(t, read(t, dir, "go.mod"), "replace github.com/kinform/kinform => "+checkout)
}

// A module that is added because of the replace directive requires newer versions of other modules.
// Undo has to remove the added module before it can restore these versions.
func TestUndoRemovesAddedModules(t *testing.T) {
	p := newProxy(t)
	for _, v := range []string{"v1.0.0", "v1.1.0"} {
		p.release("example.com/metric", v, "module example.com/metric\n\ngo 1.24\n", map[string]string{"metric.go": "package metric\n"})
		p.release("example.com/trace", v, "module example.com/trace\n\ngo 1.24\n\nrequire example.com/metric "+v+"\n", map[string]string{
			"trace.go": "package trace\n\nimport _ \"example.com/metric\"\n",
		})
	}
	p.release("example.com/log", "v1.1.0", "module example.com/log\n\ngo 1.24\n\nrequire example.com/trace v1.1.0\n\nrequire example.com/metric v1.1.0 // indirect\n", map[string]string{
		"log.go": "package log\n\nimport _ \"example.com/trace\"\n",
	})
	p.release("sigs.k8s.io/controller-runtime", "v0.25.2", "module sigs.k8s.io/controller-runtime\n\ngo 1.24\n\nrequire (\n\texample.com/trace v1.0.0\n\tk8s.io/client-go v0.37.2\n)\n\nrequire example.com/metric v1.0.0 // indirect\n", map[string]string{
		"runtime.go": "package runtime\n\nimport (\n\t_ \"example.com/trace\"\n\t_ \"k8s.io/client-go/tools/cache\"\n)\n",
	})
	p.release(clientGo, "v0.37.2", "module k8s.io/client-go\n\ngo 1.24\n", map[string]string{"tools/cache/cache.go": realCache})
	p.release(kinform, "v0.1.0", "module github.com/kinform/kinform\n\ngo 1.24\n\nrequire example.com/log v1.1.0\n\nrequire (\n\texample.com/metric v1.1.0 // indirect\n\texample.com/trace v1.1.0 // indirect\n)\n", map[string]string{
		"informer/informer.go": "package informer\n\nimport _ \"example.com/log\"\n",
	})
	p.release(dropIn, dropInVersion("v0.1.0"), "module k8s.io/client-go\n\ngo 1.24\n\nrequire github.com/kinform/kinform v0.1.0\n", map[string]string{"tools/cache/cache.go": ourCache})
	dir := program(t, map[string]string{
		"cmd/main.go": "package main\n\nimport (\n\t\"k8s.io/client-go/tools/cache\"\n\t_ \"sigs.k8s.io/controller-runtime\"\n)\n\nfunc main() { cache.NewStore() }\n",
	})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/program\n\ngo 1.24\n\ngodebug default=go1.24\n\nrequire (\n\tk8s.io/client-go v0.37.2\n\tsigs.k8s.io/controller-runtime v0.25.2\n)\n"), 0o644))
	goCommand(t, dir, "mod", "tidy")
	mod, sum := read(t, dir, "go.mod"), read(t, dir, "go.sum")

	out, err := kinformMigrate(t, dir)
	require.NoError(t, err, out)
	require.Contains(t, read(t, dir, "go.mod"), "example.com/log v1.1.0 // indirect")
	before, _, found := strings.Cut(out, "compiling the module")
	require.True(t, found, out)
	require.Contains(t, before, "go.mod: example.com/metric v1.0.0 becomes v1.1.0: kinform requires it")
	require.Contains(t, before, "go.mod: example.com/trace v1.0.0 becomes v1.1.0: kinform requires it")

	out, err = kinformMigrate(t, "--undo", dir)
	require.NoError(t, err, out)
	require.Equal(t, mod, read(t, dir, "go.mod"))
	require.Equal(t, sum, read(t, dir, "go.sum"))
}

// A replace directive with a version does not apply to other versions.
func TestReplaceOfAnotherVersionIsKept(t *testing.T) {
	versionReleases(t)
	const pins = "\nreplace (\n\tk8s.io/api v0.0.0 => k8s.io/api v0.36.0\n\tk8s.io/client-go v0.0.0 => example.com/fork v1.0.0\n)\n"
	dir := versionProgram(t, "v0.36.0", "v0.36.0", pins)
	before := read(t, dir, "go.mod")
	out, err := kinformMigrate(t, dir)
	require.NoError(t, err, out)
	migrated := read(t, dir, "go.mod")
	require.Contains(t, migrated, "k8s.io/client-go v0.0.0 => example.com/fork v1.0.0\n", "a replace directive for another version must get no comment")
	require.Contains(t, migrated, dropIn+" v0.37.2-kinform.0.1.0 // kinform migrate: had k8s.io/api v0.36.0 -> v0.37.2\n")
	out, err = kinformMigrate(t, "--undo", dir)
	require.NoError(t, err, out)
	require.Equal(t, before, read(t, dir, "go.mod"))

	for pin, complaint := range map[string]string{
		"k8s.io/client-go v0.36.0 => example.com/fork v1.0.0": "replaces client-go already",
		// This pinned version is in use.
		"k8s.io/api v0.37.2 => k8s.io/api v0.36.0": "replaces k8s.io/api by a version that is older",
	} {
		dir = versionProgram(t, "v0.36.0", "v0.36.0", "\nreplace "+pin+"\n")
		before = read(t, dir, "go.mod")
		_, err = kinformMigrate(t, dir)
		require.ErrorContains(t, err, complaint)
		require.ErrorContains(t, err, pin)
		require.Equal(t, before, read(t, dir, "go.mod"))
	}
}

func TestDryRunPrintsTheChanges(t *testing.T) {
	versionReleases(t)
	dir := versionProgram(t, "v0.36.0", "v0.36.0", "")
	before := read(t, dir, "go.mod")
	out, err := kinformMigrate(t, "--dry-run", dir)
	require.NoError(t, err, out)
	require.Contains(t, out, "go.mod would get: replace k8s.io/client-go => github.com/kinform/kinform/clientgo v0.37.2-kinform.0.1.0\n")
	require.Contains(t, out, "go.mod: k8s.io/api v0.36.0 would become v0.37.2: kinform's client-go requires it\n")
	require.Contains(t, out, "nothing was changed, and nothing was compiled")
	require.NotContains(t, out, "becomes")
	require.Equal(t, before, read(t, dir, "go.mod"))
	require.NoFileExists(t, filepath.Join(dir, "go.sum"))
}

// The program can break because of a raised module that is not client-go.
func TestRaisedModuleThatBreaksTheProgramIsReported(t *testing.T) {
	p := releases(t)
	const history = "example.com/history"
	p.release(history, "v1.0.0", "module example.com/history\n\ngo 1.24\n", map[string]string{"history.go": "package history\n\nfunc Query() (int, error) { return 0, nil }\n"})
	p.release(history, "v1.1.0", "module example.com/history\n\ngo 1.24\n", map[string]string{"history.go": "package history\n\nfunc Query() (int, string, error) { return 0, \"\", nil }\n"})
	p.release(kinform, "v0.2.0", "module github.com/kinform/kinform\n\ngo 1.24\n\nrequire example.com/history v1.1.0\n", map[string]string{"informer/informer.go": "package informer\n"})
	p.release(dropIn, dropInVersion("v0.2.0"), "module k8s.io/client-go\n\ngo 1.24\n\nrequire github.com/kinform/kinform v0.2.0\n", map[string]string{"tools/cache/cache.go": ourCache})
	p.release("example.com/library", "v1.0.0", "module example.com/library\n\ngo 1.24\n\nrequire example.com/history v1.0.0\n", map[string]string{
		"library.go": "package library\n\nimport \"example.com/history\"\n\nfunc Do() (int, error) { return history.Query() }\n",
	})
	dir := program(t, map[string]string{
		"main.go":        "package main\n\nimport (\n\t\"example.com/history\"\n\t\"k8s.io/client-go/tools/cache\"\n)\n\nfunc main() {\n\tvalue, err := history.Query()\n\tprintln(value, err)\n\tcache.NewMagic()\n}\n",
		"using/using.go": "package using\n\nimport _ \"example.com/library\"\n",
		"other/other.go": "package other\n",
	})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/program\n\ngo 1.24\n\nrequire (\n\texample.com/history v1.0.0\n\texample.com/library v1.0.0\n\tk8s.io/client-go v0.37.2\n)\n"), 0o644))
	out, err := kinformMigrate(t, "--version", "v0.2.0", dir)
	require.ErrorContains(t, err, "3 places do not compile")
	const raised = `\n +the file imports example\.com/history, which the line has raised from v1\.0\.0 to v1\.1\.0`
	require.Regexp(t, `(?m)^main\.go:9: assignment mismatch: .*`+raised, out)
	require.Regexp(t, `library\.go:5 \(example\.com/library\): .*`+raised, out)
	require.Regexp(t, `(?m)^main\.go:11: undefined: cache\.NewMagic\n +kinform`, out, "an undefined name of client-go must not be attributed to the raised module")
	require.Contains(t, out, "1 of 3 packages compiled with their tests, and ")
}

func TestChangesOfTwoMigrationsAreMerged(t *testing.T) {
	of := func(had, has string) []versionChange { return []versionChange{{"example.com/m", had, has}} }
	for name, tt := range map[string]struct{ earlier, later, all []versionChange }{
		"raised again":       {of("v1.0.0", "v1.1.0"), of("v1.1.0", "v1.2.0"), of("v1.0.0", "v1.2.0")},
		"taken back":         {of("v1.0.0", "v1.1.0"), of("v1.1.0", "v1.0.0"), nil},
		"set in between":     {of("v1.0.0", "v1.1.0"), of("v1.1.5", "v1.2.0"), of("v1.1.5", "v1.2.0")},
		"by the first only":  {of("v1.0.0", "v1.1.0"), nil, of("v1.0.0", "v1.1.0")},
		"by the second only": {nil, of("v1.0.0", "v1.1.0"), of("v1.0.0", "v1.1.0")},
	} {
		require.ElementsMatch(t, tt.all, mergeChanges(tt.earlier, tt.later), name)
	}
}
