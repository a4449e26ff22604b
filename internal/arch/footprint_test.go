package arch_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// These limits bound what an informer adds to a program that has only net/http and
// k8s.io/api/core/v1. The limit is below a megabyte because rest.For decodes the types of
// k8s.io/api by the tags of their fields. Their Unmarshal methods, 635 kB, are not linked. The
// limit includes 60 kB for clear code, and 40 kB for the containment of panics in a program's own
// code. It includes 4 kB for package reshare, and 4 kB to compare objects whose version has not
// changed, and 4 kB for the boundaries between the rooms of rest. Both programs are built without
// directory names, because those differ on each machine.
const (
	maxAdded = 600_000
	// These are the packages with the standard library and the program itself. Four of them are
	// rooms of rest: redact, budget, auth, decode.
	maxPackages = 296
)

func TestFootprintOfAPodInformer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links two programs, which takes seconds")
	}
	if platform := runtime.GOOS + "/" + runtime.GOARCH; platform != "linux/amd64" {
		t.Skip("the bounds are for linux/amd64, and this is " + platform)
	}
	baseline, size := sizeOf(t, "baseline"), sizeOf(t, "podinformer")
	packages := bytes.Count(run(t, "go", "list", "-deps", program("podinformer")), []byte("\n"))

	t.Logf("a typed pod informer: %d bytes, %d of them beside %d of net/http and the types, at most %d; %d packages of at most %d",
		size, size-baseline, baseline, maxAdded, packages, maxPackages)
	const reason = "a small program is why people leave client-go; see what grew with go tool nm -size -sort size"
	if size-baseline > maxAdded {
		t.Errorf("the informer adds %d bytes to its program, %d more than allowed, because %s", size-baseline, size-baseline-maxAdded, reason)
	}
	if packages > maxPackages {
		t.Errorf("the program links %d packages, %d more than allowed, because %s", packages, packages-maxPackages, reason)
	}
}

func program(name string) string { return "./internal/arch/testdata/" + name }

// sizeOf builds a stripped program, and returns its size in bytes.
func sizeOf(t *testing.T, name string) int64 {
	t.Helper()
	binary := filepath.Join(t.TempDir(), name)
	run(t, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", binary, program(name))
	info, err := os.Stat(binary)
	require.NoError(t, err)
	return info.Size()
}
