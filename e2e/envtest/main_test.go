// Package envtest_test tests controller-runtime's envtest with the control plane that "kinform
// envtest-assets" writes. It needs no other server.
package envtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// assets is the directory that has the programs. binary is the command that wrote them.
var assets, binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kinform-envtest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	assets, binary = filepath.Join(dir, "assets"), filepath.Join(dir, "kinform")
	for _, cmd := range []*exec.Cmd{
		exec.Command("go", "build", "-C", "../../cmd/kinform", "-trimpath", "-o", binary, "."),
		exec.Command(binary, "envtest-assets", assets),
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n%s", cmd, err, out)
			return 1
		}
	}
	return m.Run()
}
