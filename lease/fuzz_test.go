package lease

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
)

// FuzzRecord reads an arbitrary Lease and writes a record into it. The record is the same when it
// is read again, and other fields are unchanged.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"spec":{"holderIdentity":"a","leaseDurationSeconds":15,"acquireTime":"2026-01-02T03:04:05.678901Z","renewTime":"2026-01-02T03:04:05.678901+02:00","leaseTransitions":2147483647}}`))
	f.Add([]byte(`{"metadata":{"labels":{"a":"b"}},"spec":{"leaseDurationSeconds":-1,"leaseTransitions":-2147483648,"strategy":"OldestEmulationVersion","preferredHolder":"b"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var lease coordinationv1.Lease
		if json.Unmarshal(data, &lease) != nil {
			return
		}
		r := recordOf(&lease)
		require.GreaterOrEqual(t, r.duration, time.Duration(0))
		require.GreaterOrEqual(t, r.nextTransitions(), r.transitions)
		require.True(t, r.equal(r))
		written := lease.DeepCopy()
		at := writeTime(r.renewed)
		require.False(t, at.Equal(r.renewed))
		next := record{holder: "next", duration: 15 * time.Second, acquired: at, renewed: at, transitions: r.nextTransitions()}
		next.write(written, map[string]string{"app": "greeter"})
		require.True(t, recordOf(written).equal(next))
		require.Equal(t, lease.Spec.Strategy, written.Spec.Strategy)
		require.Equal(t, lease.Spec.PreferredHolder, written.Spec.PreferredHolder)
		for name, value := range lease.Labels {
			if name != "app" {
				require.Equal(t, value, written.Labels[name])
			}
		}
		encoded, err := json.Marshal(written)
		require.NoError(t, err)
		var decoded coordinationv1.Lease
		require.NoError(t, json.Unmarshal(encoded, &decoded))
		require.True(t, recordOf(&decoded).equal(next))
	})
}
