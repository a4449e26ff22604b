package invariant_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/invariant"
)

func TestCheckPanicsOnlyWhenEnabledAndBroken(t *testing.T) {
	t.Parallel()

	require.NotPanics(t, func() { invariant.Check(true, "never said") })

	broken := func() { invariant.Check(false, "key %s has %d places", "a", 2) }
	if invariant.Enabled {
		require.PanicsWithValue(t, "broken invariant: key a has 2 places", broken)
	} else {
		require.NotPanics(t, broken)
	}
}
