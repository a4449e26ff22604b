package deltafifo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
)

// G8
func TestUnorderedEventDoesNotAdvanceTheVersion(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	f.replace("5", "a@5")
	f.pop()
	apply := func(event listwatch.EventType, name, rv, through string) {
		require.NoError(t, f.Apply(listwatch.Event[string]{
			Type: event, Item: listwatch.Item[string]{Key: key(name), Object: name + "@" + rv, ResourceVersion: rv}, Unordered: through == "",
		}))
	}

	apply(listwatch.Added, "b", "9", "")
	apply(listwatch.Modified, "a", "7", "")
	b := f.pop()
	require.Equal(t, []string{"b: Added@9", "a: Updated@7"}, text(b))
	require.Equal(t, "5", b.ResourceVersion)

	apply(listwatch.Added, "c", "8", "")
	apply(listwatch.Deleted, "c", "10", "")
	require.NoError(t, f.Bookmark("7"))
	b = f.pop()
	require.Equal(t, []string{"c: Added@8 Deleted@10"}, text(b))
	require.Equal(t, "7", b.ResourceVersion)

	apply(listwatch.Modified, "b", "10", "10")
	require.Equal(t, "10", f.pop().ResourceVersion)
	f.Close()
	require.ErrorIs(t, f.Apply(listwatch.Event[string]{Type: listwatch.Added, Item: one("a", "1")}), deltafifo.ErrClosed)
	require.ErrorContains(t, setup(t, deltafifo.Options{}).Apply(listwatch.Event[string]{}), "cannot become a delta")
}
