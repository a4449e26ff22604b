package main

import (
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/bench/clientgo"
)

// TestMain does not use goleak, because client-go does not wait for its recorders' goroutines.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "server" {
		// the driver starts this test binary as the server
		if err := serve(os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	clientgo.Quiet()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	os.Exit(m.Run())
}

func TestEveryRowIsMeasured(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(settings{runs: 1, events: 200}, &out))
	for _, r := range rows {
		require.Contains(t, out.String(), "\n"+r.name+", CPU, ns")
	}
	require.Regexp(t, `sent: of different objects, requests +1\.000 +1\.000 +1\.000 +1\.00 +1\.00\n`, out.String())
	require.NotContains(t, out.String(), "NaN")
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 170)
	}
}
