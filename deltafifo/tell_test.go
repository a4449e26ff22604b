package deltafifo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
)

// G8
func TestDeltaThatIsToldWithoutAVersionMovesNone(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	f.replace("5", "a@5")
	f.pop()
	tell := func(event listwatch.EventType, name, rv, through string) {
		require.NoError(t, f.Apply(listwatch.Event[string]{
			Type: event, Item: listwatch.Item[string]{Key: key(name), Object: name + "@" + rv, ResourceVersion: rv}, Unordered: through == "",
		}))
	}

	tell(listwatch.Added, "b", "9", "")
	tell(listwatch.Modified, "a", "7", "")
	b := f.pop()
	require.Equal(t, []string{"b: Added@9", "a: Updated@7"}, text(b))
	require.Equal(t, "5", b.ResourceVersion)

	tell(listwatch.Added, "c", "8", "")
	tell(listwatch.Deleted, "c", "10", "")
	require.NoError(t, f.Bookmark("7"))
	b = f.pop()
	require.Equal(t, []string{"c: Added@8 Deleted@10"}, text(b))
	require.Equal(t, "7", b.ResourceVersion)

	tell(listwatch.Modified, "b", "10", "10")
	require.Equal(t, "10", f.pop().ResourceVersion)
	f.Close()
	require.ErrorIs(t, f.Apply(listwatch.Event[string]{Type: listwatch.Added, Item: one("a", "1")}), deltafifo.ErrClosed)
	require.ErrorContains(t, setup(t, deltafifo.Options{}).Apply(listwatch.Event[string]{}), "cannot become a delta")
}
