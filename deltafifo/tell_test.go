package deltafifo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/deltafifo"
)

// G8
func TestDeltaThatIsToldWithoutAVersionMovesNone(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	f.replace("5", "a@5")
	f.pop()
	tell := func(deltaType deltafifo.DeltaType, name, rv, through string) {
		require.NoError(t, f.Tell(key(name), deltafifo.Delta[string]{Type: deltaType, Object: name + "@" + rv, ResourceVersion: rv}, through))
	}

	tell(deltafifo.Added, "b", "9", "")
	tell(deltafifo.Updated, "a", "7", "")
	b := f.pop()
	require.Equal(t, []string{"b: Added@9", "a: Updated@7"}, text(b))
	require.Equal(t, "5", b.ResourceVersion)

	tell(deltafifo.Added, "c", "8", "")
	tell(deltafifo.Deleted, "c", "10", "")
	require.NoError(t, f.Bookmark("7"))
	b = f.pop()
	require.Equal(t, []string{"c: Added@8 Deleted@10"}, text(b))
	require.Equal(t, "7", b.ResourceVersion)

	tell(deltafifo.Updated, "b", "10", "10")
	require.Equal(t, "10", f.pop().ResourceVersion)
	f.Close()
	require.ErrorIs(t, f.Tell(key("a"), deltafifo.Delta[string]{Type: deltafifo.Added}, ""), deltafifo.ErrClosed)
}
