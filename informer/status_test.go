package informer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/reflector"
)

// The consumer may store the first list before the reflector records that the list is complete. A
// caller that waits for the sync and calls Healthy at once must get no error.
func TestHealthyBeforeTheReflectorRecordsTheFirstList(t *testing.T) {
	t.Parallel()
	require.NoError(t, Status{Synced: true}.healthy(time.Minute))
	require.ErrorIs(t, Status{Synced: true, Stopped: true}.healthy(time.Minute), ErrStopped)
	require.ErrorIs(t, Status{}.healthy(time.Minute), ErrNotSynced)
	long := reflector.Status{LastListAt: time.Now().Add(-time.Hour)}
	require.ErrorIs(t, Status{Synced: true, Reflector: long}.healthy(time.Minute), ErrStale)
}
