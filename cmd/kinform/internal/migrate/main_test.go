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

// heldBy is the environment variable with the address of a test that holds the compiler up. The go command runs this program in the
// compiler's place then.
const heldBy = "KINFORM_TEST_HELD_BY"

func TestMain(m *testing.M) {
	if address := os.Getenv(heldBy); address != "" {
		os.Exit(tool(address, os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// tool runs a tool of Go. Before it compiles, it waits until the test has closed a connection.
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
