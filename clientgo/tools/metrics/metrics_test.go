package metrics

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type counter struct{ calls int }

func (c *counter) Increment(string)      { c.calls++ }
func (c *counter) Observe(time.Duration) { c.calls++ }

func TestOnlyTheFirstRegistrationIsUsed(t *testing.T) {
	TransportCreateCalls.Increment("hit") // no metric is registered yet
	first, second, registered := &counter{}, &counter{}, 0
	Register(RegisterOpts{TransportCreateCalls: first, ClientCertRotationAge: first, RegisterFn: func() { registered++ }})
	Register(RegisterOpts{TransportCreateCalls: second, RegisterFn: func() { registered += 10 }})
	require.Zero(t, registered)
	EnsureRegistered()
	EnsureRegistered()
	require.Equal(t, 1, registered)
	TransportCreateCalls.Increment("hit")
	ClientCertRotationAge.Observe(time.Second)
	ExecPluginPolicyCalls.Increment("allowed")
	require.Equal(t, 2, first.calls)
	require.Zero(t, second.calls)
}
