package events_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/events"
)

// No event is lost during server failures of any kind, if the server recovers in time.
func TestFailedRequestsAreRetried(t *testing.T) {
	t.Parallel()
	for name, action := range map[string]apitest.Action{
		"429":              apitest.Code(429, 0),
		"429 with a wait":  apitest.TooManyRequests(2 * time.Second),
		"500":              apitest.Code(500, 0),
		"503":              apitest.Code(503, 0),
		"401":              apitest.Code(401, 0),
		"no connection":    apitest.Drop(),
		"hanging":          apitest.Delay(time.Hour),
		"a lost answer":    apitest.CutBody(3),
		"a proxy's page":   apitest.HTML(),
		"not an answer":    apitest.Garbage(),
		"an empty answer":  apitest.Empty(),
		"a taken name":     apitest.Fail(apierrors.NewAlreadyExists(eventsGVR.GroupResource(), "e")),
		"a conflict":       apitest.Fail(apierrors.NewConflict(eventsGVR.GroupResource(), "e", errors.New("changed"))),
		"a longer request": apitest.Delay(5 * time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, events.Options{})
				fault := r.server.Inject(apitest.Fault{Resource: "events", Action: action})
				r.run(t)
				for i := range 50 {
					begun := time.Now()
					r.Normal(pod(fmt.Sprint("web-", i%5)), "Pulled", "the image")
					require.Zero(t, time.Since(begun))
					time.Sleep(time.Second)
				}
				r.balanced(t)
				fault.Remove()
				time.Sleep(10 * time.Minute)
				stats := r.balanced(t)
				require.EqualValues(t, 50, stats.Sent, "%+v", stats)
				require.Zero(t, stats.Waiting)
				require.NoError(t, stats.Failing)
				require.EqualValues(t, 50, r.counted(t))
				require.Len(t, r.stored(t), 5, "no Event exists twice")
				require.Less(t, stats.Failures, uint64(200))
			})
		})
	}
}

func TestRefusedEventsAreDropped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err error
		why events.DropReason
	}{
		{apierrors.NewForbidden(eventsGVR.GroupResource(), "e", errors.New("because it is being terminated")), events.Forbidden},
		{apierrors.NewNotFound(eventsGVR.GroupResource(), "e"), events.NoNamespace},
		{apierrors.NewBadRequest("no"), events.Rejected},
		{apierrors.NewRequestEntityTooLargeError("no"), events.Rejected},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			reported := map[events.DropReason]uint64{}
			r := newRig(t, events.Options{
				Logger:   slog.New(slog.NewTextHandler(&log, nil)),
				Observer: &events.Observer{OnDrop: func(reason events.DropReason, n uint64) { reported[reason] += n }},
			})
			r.server.Inject(apitest.Fault{Verb: "create", Resource: "events", Action: apitest.Fail(tt.err)})
			r.run(t)
			for i := range 20 {
				r.Normal(pod(fmt.Sprint("web-", i)), "Pulled", "the note")
				time.Sleep(time.Second)
			}
			r.stop()
			require.NoError(t, <-r.ended)
			stats := r.balanced(t)
			require.EqualValues(t, 20, stats.Dropped[tt.why], "%+v", stats)
			require.EqualValues(t, 20, stats.Failures, "a refused event is not retried")
			require.Equal(t, map[events.DropReason]uint64{tt.why: 20}, reported)
			require.Equal(t, 1, strings.Count(log.String(), "events are dropped"), "%s", &log)
			require.Contains(t, log.String(), "err=", "the log has the server's error")
			require.NotContains(t, log.String(), "the note")
			require.Zero(t, stats.Series)
		})
	}
}

func TestAnExpiredEventIsCreatedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, events.Options{}).run(t)
		for range 3 {
			r.Normal(pod("web"), "Pulled", "the image")
			time.Sleep(time.Minute)
		}
		stored := r.stored(t)
		require.Len(t, stored, 1)
		require.EqualValues(t, 3, stored[0].Series.Count)
		require.NoError(t, r.server.Delete(eventsGVR, types.NamespacedName{Namespace: "default", Name: stored[0].Name}))
		r.Normal(pod("web"), "Pulled", "the image")
		r.Normal(pod("web"), "Pulled", "the image")
		second := time.Now()
		time.Sleep(2 * time.Minute)
		again := r.stored(t)
		require.Len(t, again, 1)
		require.NotEqual(t, stored[0].Name, again[0].Name)
		require.EqualValues(t, 2, again[0].Series.Count, "the new Event counts only later events")
		require.True(t, second.Equal(again[0].EventTime.Time))
		require.EqualValues(t, 5, r.balanced(t).Sent)
	})
}

// The first name is taken, because another process with an equal clock has used it. The Recorder
// pauses, and then tries another name.
func TestATakenNameIsNotReused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, events.Options{})
		r.server.Inject(apitest.Fault{Verb: "create", Resource: "events", Times: 1, Action: apitest.Fail(apierrors.NewAlreadyExists(eventsGVR.GroupResource(), "e"))})
		r.run(t)
		r.Normal(pod("web"), "Pulled", "the image")
		synctest.Wait()
		require.Empty(t, r.stored(t))
		time.Sleep(2 * time.Second)
		require.Len(t, r.stored(t), 1)
		require.EqualValues(t, 1, r.balanced(t).Created)
	})
}

// The event was stored but the response was lost, and two more events were recorded before the
// retry.
func TestAnEventWithALostResponseCountsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, events.Options{})
		r.server.Inject(apitest.Fault{Verb: "create", Resource: "events", Times: 1, Action: apitest.CutBody(3)})
		r.run(t)
		r.Normal(pod("web"), "Pulled", "the image")
		synctest.Wait()
		require.Len(t, r.stored(t), 1)
		require.Zero(t, r.balanced(t).Sent)
		r.Normal(pod("web"), "Pulled", "the image")
		r.Normal(pod("web"), "Pulled", "the image")
		time.Sleep(time.Minute)
		require.Len(t, r.stored(t), 1)
		require.EqualValues(t, 3, r.counted(t))
		require.EqualValues(t, 3, r.balanced(t).Sent)
	})
}

func TestEventsUnsentForAnHourAreDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := newRig(t, events.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		r.server.Inject(apitest.Fault{Resource: "events", Action: apitest.Code(500, 0)})
		r.run(t)
		r.Normal(pod("web"), "Pulled", "the image")
		time.Sleep(59 * time.Minute)
		require.EqualValues(t, 1, r.balanced(t).Waiting)
		require.True(t, apierrors.IsInternalError(r.Stats().Failing), "%v", r.Stats().Failing)
		time.Sleep(3 * time.Minute)
		r.stop()
		require.NoError(t, <-r.ended)
		stats := r.balanced(t)
		require.EqualValues(t, 1, stats.Dropped[events.Expired])
		require.Less(t, stats.Failures, uint64(80))
		require.LessOrEqual(t, strings.Count(log.String(), "will be retried"), 13, "at most one line every five minutes")
		require.GreaterOrEqual(t, strings.Count(log.String(), "will be retried"), 10)
	})
}

func TestFlushTimeoutLimitsTheEnd(t *testing.T) {
	t.Parallel()
	for name, action := range map[string]apitest.Action{"gone": apitest.Drop(), "hanging": apitest.Delay(time.Hour), "500": apitest.Code(500, 0)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, events.Options{}).run(t)
				r.Normal(pod("web"), "Pulled", "the image")
				synctest.Wait()
				r.server.Inject(apitest.Fault{Resource: "events", Action: action})
				for i := range 10 {
					r.Normal(pod(fmt.Sprint("web-", i)), "Pulled", "the image")
				}
				r.stop()
				begun := time.Now()
				require.NoError(t, <-r.ended)
				require.LessOrEqual(t, time.Since(begun), 5*time.Second)
				require.Greater(t, time.Since(begun), 4*time.Second, "Run retries until FlushTimeout")
				stats := r.balanced(t)
				require.EqualValues(t, 10, stats.Dropped[events.Ended])
				require.Zero(t, stats.Waiting)
				r.Normal(pod("web"), "Pulled", "the image")
				require.EqualValues(t, 11, r.balanced(t).Dropped[events.Ended])
				require.ErrorContains(t, r.Run(context.Background()), "a second time")
			})
		})
	}
}

func TestRunFlushesUnsentEventsAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, events.Options{})
		r.server.Inject(apitest.Fault{Resource: "events", Times: 3, Action: apitest.Code(503, 0)})
		r.run(t)
		for range 5 {
			for i := range 100 {
				r.Normal(pod(fmt.Sprint("web-", i)), "Pulled", "the image")
			}
		}
		r.stop()
		begun := time.Now()
		require.NoError(t, <-r.ended)
		require.Less(t, time.Since(begun), 2*time.Second)
		require.Len(t, r.stored(t), 100)
		require.EqualValues(t, 500, r.counted(t))
		require.EqualValues(t, 500, r.balanced(t).Sent)
	})
}

// An Observer or a Logger that blocks does not delay the recording of events.
func TestRecordNeverBlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		wait := sync.OnceFunc(func() { <-release })
		r := newRig(t, events.Options{MaxSeries: 10, Observer: &events.Observer{OnDrop: func(events.DropReason, uint64) { wait() }}}).run(t)
		begun := time.Now()
		for i := range 1000 {
			r.Normal(pod(fmt.Sprint("web-", i)), "Pulled", "the image")
			r.Normal(nil, "", "")
			r.balanced(t)
			if i == 500 {
				synctest.Wait()
			}
		}
		require.Zero(t, time.Since(begun))
		close(release)
		synctest.Wait()
		stats := r.balanced(t)
		require.LessOrEqual(t, stats.Series, 10)
		require.Positive(t, stats.Dropped[events.Full])
	})
}

// A server may respond with AlreadyExists to every name, for instance because of a broken admission
// webhook. The intervals between requests become longer and longer. After an hour, the event is
// dropped.
func TestTakenNamesAreRetriedWithBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, events.Options{})
		r.server.Inject(apitest.Fault{Verb: "create", Resource: "events", Action: apitest.Fail(apierrors.NewAlreadyExists(eventsGVR.GroupResource(), "e"))})
		r.run(t)
		r.Normal(pod("web"), "Pulled", "the image")
		time.Sleep(10 * time.Minute)
		stats := r.balanced(t)
		require.Less(t, stats.Failures, uint64(20))
		require.True(t, apierrors.IsAlreadyExists(stats.Failing))
		time.Sleep(time.Hour)
		stats = r.balanced(t)
		require.Less(t, stats.Failures, uint64(80))
		require.EqualValues(t, 1, stats.Dropped[events.Expired])
		require.Zero(t, stats.Series)
	})
}
