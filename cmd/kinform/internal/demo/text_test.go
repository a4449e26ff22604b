package demo

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

func TestBriefKeepsThreeDigits(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0:                       "0s",
		999:                     "999ns",
		1_004:                   "1µs",
		45_234:                  "45.2µs",
		999_960:                 "1ms",
		1_234_500:               "1.23ms",
		12_345_678_901:          "12.3s",
		63 * time.Second:        "1m3s",
		-500 * time.Millisecond: "-500ms",
	} {
		require.Equal(t, want, brief(d))
	}
}

func TestLinesFitATerminalOf80Columns(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := newTextReport(&out)
	r.started(Options{Pods: 100_000, Namespaces: 1000}, "http://127.0.0.1:65535", "http://127.0.0.1:65535/")
	r.synced(100_000, 123456789)
	r.journeyEnded(journey{
		Type: informer.Updated, Key: types.NamespacedName{Namespace: "ns-19", Name: "churn-0-000000"}, ResourceVersion: "9999999",
		FIFO: 123456, Mailbox: 12345678, Workqueue: 1234567890, Worker: 99999999,
	})
	r.fault("every watch is cut off")
	r.draining()
	r.summary(Summary{Objects: 100_000, Events: 10_000_000, Enqueued: 10_000_000, Reconciled: 10_000_000})
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
	}
	require.Contains(t, out.String(), " Updated ns-19/churn-0-000000 9999999  123µs 12.3ms  1.23s  100ms  1.35s\n")
}

func TestFailuresAreReportedWithoutTheRequest(t *testing.T) {
	t.Parallel()
	failed := reflector.Error{
		Phase: reflector.Watching, Failures: 1, RetryIn: 1234 * time.Millisecond,
		Err: &rest.Error{Method: "GET", URL: "http://127.0.0.1/api/v1/pods?a=1&b=2", Err: errors.New("cut & gone")},
	}
	var text, json bytes.Buffer
	newTextReport(&text).failed(failed)
	require.Contains(t, text.String(), "!! watching failed, next attempt in 1.23s: cut & gone\n")
	newJSONReport(&json).failed(failed)
	require.Equal(t, `{"type":"error","phase":"watching","error":"cut & gone","failures":1,"retry_in_ms":1234}`+"\n", json.String())
}

func TestLinesPerSecondAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := newTextReport(&out)
		changes := func(n int) (lines int) {
			out.Reset()
			for range n {
				r.journeyEnded(journey{Type: informer.Added, Key: web})
			}
			return strings.Count(out.String(), "Added")
		}
		require.Equal(t, linesPerSecond, changes(linesPerSecond+3))
		require.Equal(t, 0, changes(1))
		time.Sleep(time.Second)
		require.Equal(t, 2, changes(2))
		require.Contains(t, out.String(), "and 4 more\n")

		require.Equal(t, linesPerSecond-2, changes(linesPerSecond))
		r.draining()
		require.Contains(t, out.String(), "and 2 more\n\nThe churn has stopped")
		r.summary(Summary{})
		require.Equal(t, 1, strings.Count(out.String(), "more"))
	})
}
