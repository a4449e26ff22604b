package demo

import (
	"context"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/apitest"
)

// faultsOnly is a report that records only faults.
type faultsOnly struct {
	report
	reported []string
}

func (r *faultsOnly) fault(what string) { r.reported = append(r.reported, what) }

func TestFaultsAreVariedAndRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(apitest.Options{})
		defer server.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 6*faultInterval+time.Millisecond)
		defer cancel()
		r := &faultsOnly{}
		injectFaults(ctx, server, r)

		require.Len(t, r.reported, 6)
		require.Equal(t, r.reported[0], r.reported[5], "after the last fault, the first must follow again")
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(r.reported))), 5)
		for range 3 {
			answer := httptest.NewRecorder()
			server.ServeHTTP(answer, httptest.NewRequest("GET", "/api/v1/pods", nil))
			require.Equal(t, 200, answer.Code)
		}
	})
}
