package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryProgramIsMeasured(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links three programs and starts them")
	}
	var out strings.Builder
	require.NoError(t, run(1, &out))
	require.NotContains(t, out.String(), "NaN")
	require.Regexp(t, `client-go +plain +kinform +ratio`, out.String())
	require.Regexp(t, `binary, bytes +[1-9]\d{6,} +[1-9]\d{6,} +[1-9]\d{6,} +0\.\d\d`, out.String())
	require.Regexp(t, `packages linked +[1-9]\d+ +[1-9]\d+ +[1-9]\d+ +0`, out.String())
}
