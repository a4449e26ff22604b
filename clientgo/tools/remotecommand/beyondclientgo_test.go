package remotecommand_test

//lint:file-ignore SA1019 programs may have types of apimachinery's httpstream, which client-go's signatures name

// These tests cover intended differences from client-go.

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	older "k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"
)

func TestExitCodesOfWindows(t *testing.T) {
	// Windows has exit codes of 32 bits. client-go rejects codes above 255 with "invalid exit code
	// value".
	address := serve(t, protocols, func(c *command) { c.exit(failure("NonZeroExitCode", "m", exited("1073741510"))) })
	options := remotecommand.StreamOptions{Stdout: io.Discard}
	err := executor(t, transportWebsocket, v5, address, options).StreamWithContext(t.Context(), options)
	var exit exec.CodeExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 1073741510, exit.Code)
}

func TestUpgradeFailuresMatchBothPackages(t *testing.T) {
	options := remotecommand.StreamOptions{Stdout: io.Discard}
	err := executor(t, transportWebsocket, v5, serveResponse(t, 404, "text/plain", ""), options).StreamWithContext(t.Context(), options)
	require.True(t, httpstream.IsUpgradeFailure(err))
	require.True(t, older.IsUpgradeFailure(err), "programs for an older client-go call this function")
	require.False(t, older.IsUpgradeFailure(errors.Unwrap(err)))
}
