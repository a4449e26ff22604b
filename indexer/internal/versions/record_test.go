package versions

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Memory access limits the speed of Get and of walks: docs/adr/0004.
func TestRecordAndVersionAreOneCacheLineEach(t *testing.T) {
	t.Parallel()
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("with pointers of 4 bytes, records and versions are smaller")
	}
	require.EqualValues(t, 64, unsafe.Sizeof(Record{}))
	require.EqualValues(t, 64, unsafe.Sizeof(Version{}))
	require.EqualValues(t, 64, unsafe.Sizeof(group{}))
}
