package migrate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// workspace writes a workspace with a program and with a module that the program may import.
func workspace(t *testing.T, source, more string) (dir string) {
	t.Setenv("GOWORK", "")
	program := program(t, map[string]string{"main.go": source})
	other := filepath.Join(filepath.Dir(program), "other")
	require.NoError(t, os.MkdirAll(other, 0o755))
	for name, text := range map[string]string{
		filepath.Join(other, "go.mod"):                  "module example.com/other\n\ngo 1.24\n",
		filepath.Join(other, "other.go"):                "package other\n\nfunc Do() {}\n",
		filepath.Join(filepath.Dir(program), "go.work"): "go 1.24\n\nuse (\n\t./" + filepath.Base(program) + "\n\t./other\n)\n" + more,
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	return program
}

func TestWorkspaceModuleIsMigrated(t *testing.T) {
	releases(t)
	dir := workspace(t, "package main\n\nimport (\n\t\"example.com/other\"\n\t\"k8s.io/client-go/tools/cache\"\n)\n\nfunc main() {\n\tother.Do()\n\tcache.NewStore()\n}\n", "")
	out, err := kinformMigrate(t, dir)
	require.NoError(t, err, out)
	require.Contains(t, out, "1 package compiled with its tests")
	require.Contains(t, read(t, dir, "go.mod"), dropIn)
	out, err = kinformMigrate(t, "--undo", dir)
	require.NoError(t, err, out)
	require.NotContains(t, read(t, dir, "go.mod"), "kinform")
}

func TestWorkspaceWithAReplaceLineIsRefused(t *testing.T) {
	releases(t)
	dir := workspace(t, goodMain, "\nreplace k8s.io/client-go => example.com/fork v1.0.0\n")
	before := read(t, dir, "go.mod")
	_, err := kinformMigrate(t, dir)
	require.ErrorContains(t, err, `go.work replaces client-go for all of its modules: remove the line "k8s.io/client-go => example.com/fork v1.0.0" first`)
	require.Equal(t, before, read(t, dir, "go.mod"))
}

func TestWorkspaceHint(t *testing.T) {
	releases(t)
	dir := workspace(t, "package main\n\nimport (\n\t\"example.com/other\"\n\t\"k8s.io/client-go/tools/cache\"\n)\n\nfunc main() {\n\tother.Do()\n\tcache.NewStore()\n}\n", "")
	mod := read(t, dir, "go.mod") + "\nrequire example.com/other v0.0.0\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644))
	_, err := kinformMigrate(t, dir)
	require.ErrorContains(t, err, "go.work, whose other modules go mod tidy does not see")
	require.Equal(t, mod, read(t, dir, "go.mod"))
}
