package informer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/reflector"
)

// The consumer may have stored the first list before the reflector has noted that it
// handed it over: whoever waited for the sync and asks at once is told of no ailment.
func TestHealthyInTheMomentBeforeTheFirstListIsNoted(t *testing.T) {
	t.Parallel()
	require.NoError(t, Status{Synced: true}.healthy(time.Minute))
	require.ErrorIs(t, Status{Synced: true, Stopped: true}.healthy(time.Minute), ErrStopped)
	require.ErrorIs(t, Status{}.healthy(time.Minute), ErrNotSynced)
	long := reflector.Status{LastListAt: time.Now().Add(-time.Hour)}
	require.ErrorIs(t, Status{Synced: true, Reflector: long}.healthy(time.Minute), ErrStale)
}
