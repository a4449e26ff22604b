package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommittedFilesAreUpToDate(t *testing.T) {
	const module = "../../.."
	files, err := generate(module)
	require.NoError(t, err)
	compared := 0
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(module, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // not generated yet
		}
		require.NoError(t, err)
		require.True(t, string(want) == string(got), "%s differs from the output of `go run ./internal/generate/clients`", name)
		compared++
	}
	require.Greater(t, compared, 50)
}

func TestPlurals(t *testing.T) {
	all, err := generate("../../..")
	require.NoError(t, err)
	core := string(all["kubernetes/typed/core/v1/zz_generated.go"])
	for _, name := range []string{"Endpoints(", "Pods(", "ComponentStatuses(", "ResourceQuotas("} {
		require.Contains(t, core, name)
	}
	require.Contains(t, string(all["kubernetes/typed/networking/v1/zz_generated.go"]), "NetworkPolicies(")
	require.Contains(t, string(all["kubernetes/typed/networking/v1/zz_generated.go"]), "Ingresses(")
}
