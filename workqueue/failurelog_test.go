package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// logbook collects lines, each with the minutes since it was made.
type logbook struct {
	began time.Time

	mu    sync.Mutex // guards following
	lines []string
}

func newLogbook() (*logbook, *slog.Logger) {
	l := &logbook{began: time.Now()}
	return l, slog.New(slog.NewTextHandler(l, nil))
}

func (l *logbook) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, text, _ := strings.Cut(strings.TrimSpace(string(line)), " ") // without the time
	l.lines = append(l.lines, fmt.Sprintf("%v %s", time.Since(l.began).Truncate(time.Minute), text))
	return len(line), nil
}

func (l *logbook) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

func TestFailuresOfAKeyAreLoggedOnceAndCountedEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, logger := newLogbook()
		q := workqueue.New(workqueue.Options[string]{
			Name: "pods", Logger: logger, RateLimiter: workqueue.Exponential[string](10*time.Second, 10*time.Second),
		})
		end := running(t, q, 2, func(context.Context, string) error { return errors.New("no right") })
		q.Add("a")
		time.Sleep(11*time.Minute + time.Second)
		q.Add("b")
		time.Sleep(time.Minute)
		require.NoError(t, end())
		lines := log.all()
		require.Len(t, lines, 4, lines)
		require.Equal(t, `0s level=WARN msg="reconcile failed" queue=pods key=a err="no right" requeues=0`, lines[0])
		require.Regexp(t, `^5m0s level=WARN msg="reconciles keep failing" queue=pods failures=29 since=.* key=a err="no right"$`, lines[1])
		require.Regexp(t, `^10m0s level=WARN msg="reconciles keep failing" queue=pods failures=30 since=`, lines[2])
		require.Equal(t, `11m0s level=WARN msg="reconcile failed" queue=pods key=b err="no right" requeues=0`, lines[3])
	})
}

func TestNoMoreThanTenKeysThatFailAreLoggedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, logger := newLogbook()
		q := workqueue.New(workqueue.Options[string]{Logger: logger})
		end := running(t, q, 2, func(context.Context, string) error { return workqueue.Drop(errors.New("no")) })
		for i := range 1000 {
			q.Add(fmt.Sprint(i))
		}
		time.Sleep(5 * time.Minute)
		q.Add("later")
		synctest.Wait()
		require.NoError(t, end())
		lines := log.all()
		require.Len(t, lines, 12)
		require.Contains(t, lines[9], "0s level=WARN msg=\"reconcile failed and is not retried\"")
		require.Contains(t, lines[10], "5m0s level=WARN msg=\"reconciles keep failing\" queue=\"\" failures=990")
		require.Contains(t, lines[11], "5m0s level=WARN msg=\"reconcile failed and is not retried\" queue=\"\" key=later")
	})
}

func TestLogsGoToTheDefaultLogger(t *testing.T) {
	previous := slog.Default()
	defer slog.SetDefault(previous)
	log, logger := newLogbook()
	slog.SetDefault(logger)
	q := newQueue()
	slog.SetDefault(previous) // The logger at the time of New stays.
	q.Add("a")
	require.NoError(t, q.Run(t.Context(), 1, func(context.Context, string) error {
		q.ShutDown()
		panic("at the disco")
	}))
	lines := log.all()
	require.Len(t, lines, 1)
	for _, part := range []string{"level=ERROR", "queue=test", "key=a", "at the disco", "failurelog_test.go"} {
		require.Contains(t, lines[0], part)
	}
}
