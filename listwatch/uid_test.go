package listwatch

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// Files of package warmstart contain these numbers: they must never change.
func TestHashOfAUIDIsTheSameForever(t *testing.T) {
	require.Equal(t, uint64(0), HashUID(""))
	require.Equal(t, uint64(0xaf63dc4c8601ec8c), HashUID("a"))
	uid := types.UID("0b3dd2f0-5e0e-4a0c-9a53-6b1c2f1f6f5e")
	require.Equal(t, HashUID(uid), HashUID([]byte(uid)))
	require.NotEqual(t, HashUID(uid), HashUID("0b3dd2f0-5e0e-4a0c-9a53-6b1c2f1f6f5f"))
}

func TestUnknownUIDIsNotAnotherObject(t *testing.T) {
	require.True(t, OtherUID(1, 2))
	require.False(t, OtherUID(1, 1))
	require.False(t, OtherUID(0, 1))
	require.False(t, OtherUID(1, 0))
}
