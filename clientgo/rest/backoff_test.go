package rest_test

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// aheadClock is a clock that is an hour ahead of the real clock.
type aheadClock struct{ clock.RealClock }

func (aheadClock) Now() time.Time { return time.Now().Add(time.Hour) }

func TestURLBackoffWaitsLongerWithEachFailureOfAHost(t *testing.T) {
	b := &rest.URLBackoff{Backoff: flowcontrol.NewFakeBackOff(time.Second, time.Minute, aheadClock{})}
	of := func(path string) *url.URL { return &url.URL{Scheme: "https", Host: "server", Path: path} }
	b.UpdateBackoff(of("/a"), nil, 429)
	b.UpdateBackoff(of("/b"), nil, 503)
	require.Equal(t, 2*time.Second, b.CalculateBackoff(of("/c")))
	require.Zero(t, b.CalculateBackoff(&url.URL{Host: "other"}))
	// Measured by the clock of Backoff, the failure has just happened.
	require.True(t, b.Backoff.IsInBackOffSinceUpdate("server", time.Now().Add(time.Hour)))

	b.UpdateBackoff(of("/a"), errors.New("connection reset"), 0)
	require.Zero(t, b.CalculateBackoff(of("/a")), "as with client-go, a network error does not count as a failure")
}
