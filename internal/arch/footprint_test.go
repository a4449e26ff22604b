package arch_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a program may cost that does nothing but run a typed informer of pods: 11 MB,
// a megabyte being 10^6 bytes, with the names of directories that are compiled in. As
// these are other ones on each machine, the test leaves them out, and the bound is
// lower by 30 kB: they took 12 to 29. For comparison, with such names: the same program
// with only net/http and k8s.io/api/core/v1 has 10,387,721 bytes and 270 packages (Go
// 1.26, linux/amd64).
const (
	maxBytes    = 10_970_000
	maxPackages = 280 // standard library and the program itself included
)

func TestFootprintOfAPodInformer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links a program, which takes seconds")
	}
	if platform := runtime.GOOS + "/" + runtime.GOARCH; platform != "linux/amd64" {
		t.Skip("the bounds are for linux/amd64, and this is " + platform)
	}
	const program = "./internal/arch/testdata/podinformer"

	binary := filepath.Join(t.TempDir(), "podinformer")
	run(t, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", binary, program)
	info, err := os.Stat(binary)
	require.NoError(t, err)
	packages := bytes.Count(run(t, "go", "list", "-deps", program), []byte("\n"))

	t.Logf("a typed pod informer: %d bytes of at most %d, %d packages of at most %d", info.Size(), maxBytes, packages, maxPackages)
	const reason = "a small program is why people leave client-go; see what grew with go tool nm -size -sort size"
	if info.Size() > maxBytes {
		t.Errorf("the program has %d bytes, %d more than allowed, because %s", info.Size(), info.Size()-maxBytes, reason)
	}
	if packages > maxPackages {
		t.Errorf("the program links %d packages, %d more than allowed, because %s", packages, packages-maxPackages, reason)
	}
}
