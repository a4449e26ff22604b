package exec_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/exec"
)

func TestCodeExitError(t *testing.T) {
	var err error = exec.CodeExitError{Err: errors.New("no such file"), Code: 2}
	exit, ok := errors.AsType[exec.ExitError](err)
	require.True(t, ok)
	require.True(t, exit.Exited())
	require.Equal(t, 2, exit.ExitStatus())
	require.EqualError(t, err, "no such file")
	require.Equal(t, "no such file", exit.String())
}
