package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkout makes a repository with the modules of a release, and one module that is not released.
func checkout(t *testing.T) release {
	root := t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "none"))
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "tester")
		t.Setenv("GIT_"+who+"_EMAIL", "tester@example.com")
	}
	write(t, root, "VERSION", "0.1.0\n")
	write(t, root, "CHANGELOG.md", "# Changelog\n\n## 0.1.0, the first release\n\n- All of it.\n")
	write(t, root, "LICENSE", "Anyone may use it.\n") // Go adds it to the zips of all modules
	write(t, root, ".gitignore", "/bin/\n")
	write(t, root, "go.mod", "module "+kinform+"\n\ngo 1.26.0\n")
	write(t, root, "listwatch/listwatch.go", "package listwatch\n\nfunc List() {}\n")
	const requires = "\n\ngo 1.26.0\n\nrequire github.com/kinform/kinform v0.0.0\n"
	for folder, up := range map[string]string{"clientgo": "../", "metrics": "../", "tracing": "../", "cmd/kinform": "../..", "bench": "../"} {
		write(t, root, folder+"/go.mod", "module "+moduleOf(folder)+requires+"\n// Only for the checkout.\nreplace github.com/kinform/kinform => "+up+"\n")
		write(t, root, folder+"/any.go", "package any\n\nimport _ \"github.com/kinform/kinform/listwatch\"\n")
	}
	git(t, root, "init", "--quiet", "--initial-branch=main")
	commit(t, root)
	return release{root: root, number: "0.1.0", clientGo: "v0.37.2"}
}

func write(t *testing.T, root, name, text string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
}

func read(t *testing.T, root, name string) string {
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(text)
}

func git(t *testing.T, root string, args ...string) string {
	said, err := output(t.Context(), root, nil, "git", args...)
	require.NoError(t, err)
	return said
}

func commit(t *testing.T, root string) {
	git(t, root, "add", "--all")
	git(t, root, "commit", "--quiet", "-m", "Change")
}

func TestAReleaseCommitRequiresPublishedVersions(t *testing.T) {
	r := checkout(t)
	head := git(t, r.root, "rev-parse", "HEAD")
	w, err := newReleaseClone(t.Context(), r, t.TempDir())
	require.NoError(t, err)
	require.Equal(t, head, git(t, w.clone, "rev-parse", "HEAD^"), "the release is one commit on top of the checkout")

	for _, folder := range folders[1:] {
		mod, sum := read(t, w.clone, folder+"/go.mod"), read(t, w.clone, folder+"/go.sum")
		require.Contains(t, mod, "require github.com/kinform/kinform v0.1.0\n")
		require.NotContains(t, mod, "replace")
		require.NotContains(t, mod, "Only for the checkout")
		require.Equal(t, 1, strings.Count(sum, "github.com/kinform/kinform v0.1.0 h1:"))
	}
	require.Equal(t, "module github.com/kinform/kinform/bench\n\ngo 1.26.0\n\nrequire github.com/kinform/kinform v0.1.0\n\n"+
		"// Only for the checkout.\nreplace github.com/kinform/kinform => ../\n", read(t, w.clone, "bench/go.mod"))
	require.Equal(t, "clientgo/v0.37.2-kinform.0.1.0\ncmd/kinform/v0.1.0\nmetrics/v0.1.0\ntracing/v0.1.0\nv0.1.0", git(t, w.clone, "tag", "--points-at", w.commit))

	// A program on the released module gets the released sums too.
	program := t.TempDir()
	write(t, program, "go.mod", "module example.com/program\n\ngo 1.26.0\n\nrequire k8s.io/client-go v0.37.2\n\nreplace k8s.io/client-go => github.com/kinform/kinform/clientgo v0.37.2-kinform.0.1.0\n")
	write(t, program, "main.go", "package main\n\nimport _ \"k8s.io/client-go\"\n\nfunc main() {}\n")
	env := append(w.env, "GOMODCACHE="+filepath.Join(w.dir, "program", "modules"))
	_, err = output(t.Context(), program, env, "go", "mod", "tidy")
	require.NoError(t, err)
	require.Subset(t, strings.Split(read(t, program, "go.sum"), "\n"), strings.Split(read(t, w.clone, "clientgo/go.sum"), "\n"))

	require.Empty(t, git(t, r.root, "tag"))
	require.Empty(t, git(t, r.root, "status", "--porcelain"))
	require.NoError(t, w.publishBranch(t.Context(), ""))
	require.Empty(t, git(t, r.root, "tag"), "only the maintainer sets tags")
	require.Equal(t, w.commit, git(t, r.root, "rev-parse", "release-v0.1.0"))
	require.Equal(t, head, git(t, r.root, "rev-parse", "HEAD"))

	again, err := newReleaseClone(t.Context(), r, t.TempDir())
	require.NoError(t, err)
	require.Equal(t, w.commit, again.commit)
}

func TestWhatPreventsARelease(t *testing.T) {
	require.NoError(t, checkout(t).checkReady(t.Context()))
	for complaint, spoil := range map[string]func(t *testing.T, root string){
		"the work tree has changes: commit or remove them\n?? new.go":                         func(t *testing.T, root string) { write(t, root, "new.go", "package kinform\n") },
		"the work tree has changes: commit or remove them\nM VERSION":                         func(t *testing.T, root string) { write(t, root, "VERSION", "0.2.0\n") },
		`the top section of CHANGELOG.md is for version "Unreleased", file VERSION has 0.1.0`: changelogOf("# Changelog\n\n## Unreleased\n\n## 0.1.0\n"),
		`the top section of CHANGELOG.md is for version "0.1.01", file VERSION has 0.1.0`:     changelogOf("# Changelog\n\n## [0.1.01] - 2026-11-27\n"),
		"CHANGELOG.md has no section":                                                         changelogOf("# Changelog\n"),
		"tags of this version exist: clientgo/v0.37.2-kinform.0.1.0, tracing/v0.1.0": func(t *testing.T, root string) {
			git(t, root, "tag", "v0.0.9")
			git(t, root, "tag", "clientgo/v0.37.2-kinform.0.1.0")
			git(t, root, "tag", "tracing/v0.1.0")
		},
	} {
		r := checkout(t)
		spoil(t, r.root)
		require.ErrorContains(t, r.checkReady(t.Context()), complaint)
	}
}

func changelogOf(text string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		write(t, root, "CHANGELOG.md", text)
		commit(t, root)
	}
}

func TestVersions(t *testing.T) {
	root := t.TempDir()
	write(t, root, "clientgo/go.mod", "module k8s.io/client-go\n\nrequire (\n\tk8s.io/api v0.37.2\n\tk8s.io/klog/v2 v2.140.0\n)\n")
	write(t, root, "VERSION", "1.20.3\n")
	r, err := readRelease(root)
	require.NoError(t, err)
	require.Equal(t, []string{"v1.20.3", "clientgo/v0.37.2-kinform.1.20.3", "metrics/v1.20.3", "tracing/v1.20.3", "cmd/kinform/v1.20.3"}, r.tags())
	for _, number := range []string{"", "v0.1.0", "0.1", "0.1.0-rc.1", "0.01.0", "0.1.0+meta"} {
		write(t, root, "VERSION", number+"\n")
		_, err := readRelease(root)
		require.ErrorContains(t, err, "write three numbers, such as 0.1.0", number)
	}
}

func TestAnIncompatibleChangeMustBeInTheChangelog(t *testing.T) {
	r := checkout(t)
	require.NoError(t, r.compareAPI(t.Context(), t.TempDir(), ""), "without an earlier release, any change is allowed")

	base := git(t, r.root, "rev-parse", "HEAD")
	write(t, r.root, "listwatch/listwatch.go", "package listwatch\n\nfunc List(all bool) {}\n")
	require.ErrorContains(t, r.compareAPI(t.Context(), t.TempDir(), base), "packages changed incompatibly: listwatch.")

	write(t, r.root, "CHANGELOG.md", "# Changelog\n\n## 0.2.0\n\n- `listwatch` is better.\n\n## 0.1.0\n\n### Incompatible changes\n\n- `listwatch`: it was new.\n")
	require.ErrorContains(t, r.compareAPI(t.Context(), t.TempDir(), base), "packages changed incompatibly: listwatch.")
	write(t, r.root, "CHANGELOG.md", "# Changelog\n\n## 0.2.0\n\n### Incompatible changes\n\n- `listwatch`: List takes an argument.\n")
	require.NoError(t, r.compareAPI(t.Context(), t.TempDir(), base))
}

func TestTheFolderOfAChange(t *testing.T) {
	for change, want := range map[string][2]string{
		"- ./rest/sharing.Guard: removed":                            {"", "rest/sharing"},
		"- Version: removed":                                         {"", "kinform"},
		"- package github.com/kinform/kinform/view/lab: removed":     {"", "view/lab"},
		"- package github.com/kinform/kinform: removed":              {"", "kinform"},
		"- New: changed from func() to func(./listwatch.Lister)":     {"metrics", "metrics"},
		"- ./tools/cache.(*Queue).Pop, method set: removed":          {"clientgo", "clientgo/tools/cache"},
		"- package k8s.io/client-go/util/workqueue: removed":         {"clientgo", "clientgo/util/workqueue"},
		"- (*Metrics).Collect: changed from func() to func(int)":     {"metrics", "metrics"},
		"- ./informer/sources.Merge[T any]: changed from any to ...": {"", "informer/sources"},
	} {
		require.Equal(t, want[1], packageOf(want[0], change), change)
	}
}
