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
	told []string
}

func (r *faultsOnly) fault(what string) { r.told = append(r.told, what) }

func TestTroubleIsVariedAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(apitest.Options{})
		defer server.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 6*faultEvery+time.Millisecond)
		defer cancel()
		r := &faultsOnly{}
		makeTrouble(ctx, server, r)

		require.Len(t, r.told, 6)
		require.Equal(t, r.told[0], r.told[5], "then it begins again")
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(r.told))), 5)
		for range 3 {
			answer := httptest.NewRecorder()
			server.ServeHTTP(answer, httptest.NewRequest("GET", "/api/v1/pods", nil))
			require.Equal(t, 200, answer.Code)
		}
	})
}
