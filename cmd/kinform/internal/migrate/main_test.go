package migrate

import (
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"testing"

	"go.uber.org/goleak"
)

// heldBy is the name of an environment variable. Its value is the address of a test that delays the
// compiler. If the variable is set, the go command runs this test binary in place of the compiler.
const heldBy = "KINFORM_TEST_HELD_BY"

func TestMain(m *testing.M) {
	if address := os.Getenv(heldBy); address != "" {
		os.Exit(tool(address, os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// tool runs a Go tool. Before it compiles, it waits until the test has closed a connection.
func tool(address string, args []string) int {
	if !slices.Contains(args, "-V=full") {
		if connection, err := net.Dial("tcp", address); err == nil {
			_, _ = io.Copy(io.Discard, connection)
		}
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if cmd.Run() != nil {
		return 1
	}
	return 0
}
