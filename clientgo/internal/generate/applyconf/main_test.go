package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommittedFilesAreUpToDate(t *testing.T) {
	a, err := load()
	require.NoError(t, err)
	files, err := a.files()
	require.NoError(t, err)
	require.Greater(t, len(files), 40)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("../../../applyconfigurations", name))
		require.NoError(t, err)
		require.True(t, string(want) == string(got), "%s differs from the output of `go run ./internal/generate/applyconf`", name)
	}
}
