package indexer

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// What Get and walks wait for is memory: docs/adr/0004.
func TestARecordAndAVersionAreOneLineOfTheCacheEach(t *testing.T) {
	t.Parallel()
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("with pointers of 4 bytes it is less")
	}
	require.EqualValues(t, 64, unsafe.Sizeof(record{}))
	require.EqualValues(t, 64, unsafe.Sizeof(version{}))
	require.EqualValues(t, 64, unsafe.Sizeof(group{}))
}
