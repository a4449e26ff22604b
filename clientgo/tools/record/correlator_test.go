package record_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	testclock "k8s.io/utils/clock/testing"
)

func event(clock *testclock.FakeClock, message string) *v1.Event {
	now := metav1.NewTime(clock.Now())
	return &v1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "a.1", Namespace: "b"},
		InvolvedObject: v1.ObjectReference{Kind: "Pod", Namespace: "b", Name: "a", UID: "u", APIVersion: "v1"},
		Source:         v1.EventSource{Component: "c"}, Reason: "R", Message: message, Count: 1, Type: "Normal",
		FirstTimestamp: now, LastTimestamp: now,
	}
}

func TestTheCountContinuesFromTheServersEvent(t *testing.T) {
	clock := testclock.NewFakeClock(time.Unix(1000, 0))
	c := record.NewEventCorrelator(clock)
	result, err := c.EventCorrelate(event(clock, "m"))
	require.NoError(t, err)
	require.Nil(t, result.Patch)
	first := result.Event.DeepCopy()
	first.ResourceVersion, first.Count = "7", 40 // another process has counted the same event
	c.UpdateState(first)
	clock.Step(time.Second)
	result, err = c.EventCorrelate(event(clock, "m"))
	require.NoError(t, err)
	require.Equal(t, int32(41), result.Event.Count)
	require.Equal(t, "7", result.Event.ResourceVersion)
	require.Equal(t, first.FirstTimestamp, result.Event.FirstTimestamp)
	require.JSONEq(t, `{"count":41,"lastTimestamp":"1970-01-01T00:16:41Z","message":"m"}`, string(result.Patch))
	_, err = c.EventCorrelate(nil)
	require.Error(t, err)
}

func TestASourceHasABurst(t *testing.T) {
	clock := testclock.NewFakeClock(time.Unix(1000, 0))
	c := record.NewEventCorrelator(clock)
	skipped := 0
	for i := range 30 {
		result, err := c.EventCorrelate(event(clock, fmt.Sprint("m", i)))
		require.NoError(t, err)
		if result.Skip {
			skipped++
		}
	}
	require.Equal(t, 5, skipped)
	other := event(clock, "m")
	other.InvolvedObject.Name = "another"
	result, _ := c.EventCorrelate(other)
	require.False(t, result.Skip)
	clock.Step(301 * time.Second)
	result, _ = c.EventCorrelate(event(clock, "m"))
	require.False(t, result.Skip)

	filter := record.NewEventSourceObjectSpamFilter(10, 2, 1./10, clock, func(e *v1.Event) string { return e.Message })
	var too []bool
	for _, message := range []string{"a", "a", "a", "b"} {
		too = append(too, filter.Filter(event(clock, message)))
	}
	require.Equal(t, []bool{false, false, true, false}, too)
}

func TestAnOldGroupExpires(t *testing.T) { // each result is client-go's
	clock := testclock.NewFakeClock(time.Unix(1030, 0))
	a := record.NewEventAggregator(10, record.EventAggregatorByReasonFunc, record.EventAggregatorByReasonMessageFunc, 3, 10, clock)
	for i := range 5 {
		got, key := a.EventAggregate(event(clock, fmt.Sprint("m", i)))
		if i < 2 {
			require.Equal(t, "a.1", got.Name)
			require.Equal(t, fmt.Sprint("cPodbauv1NormalRm", i), key)
			continue
		}
		require.Equal(t, fmt.Sprintf("a.%x", clock.Now().UnixNano()), got.Name)
		require.Equal(t, fmt.Sprint("(combined from similar events): m", i), got.Message)
		require.Equal(t, "cPodbauv1NormalR", key)
		require.Equal(t, int32(1), got.Count)
	}
	clock.Step(10 * time.Second)
	_, key := a.EventAggregate(event(clock, "m9"))
	require.Equal(t, "cPodbauv1NormalR", key)
	clock.Step(11 * time.Second)
	got, key := a.EventAggregate(event(clock, "m9"))
	require.Equal(t, "cPodbauv1NormalRm9", key)
	require.Equal(t, "m9", got.Message)
}

// The event of a group has no annotations, because annotations belong to a single event. Each type
// has its own burst.
func TestAnAggregatedEventHasNoAnnotations(t *testing.T) {
	clock := testclock.NewFakeClock(time.Unix(1000, 0))
	c := record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{Clock: clock, MaxEvents: 2, BurstSize: 2})
	for i := range 3 {
		e := event(clock, fmt.Sprint("m", i))
		e.Annotations, e.ReportingController = map[string]string{"x": "y"}, "r"
		result, err := c.EventCorrelate(e)
		require.NoError(t, err)
		require.Equal(t, i == 2, result.Skip)
		if i == 1 {
			require.Empty(t, result.Event.Annotations)
			require.Empty(t, result.Event.ReportingController)
		}
	}
	warning := event(clock, "m")
	warning.Type = "Warning"
	result, err := c.EventCorrelate(warning)
	require.NoError(t, err)
	require.False(t, result.Skip)
}
