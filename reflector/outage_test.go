package reflector

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/listwatch"
)

// errCut is the error of a connection to a server that was killed.
var errCut = fmt.Errorf("the connection was lost within the response: %w", io.ErrUnexpectedEOF)

// A server stops during a watch. When it is back, it no longer has the version, and at first
// forbids everything.
func TestOutageEndsSoonAfterTheServerIsBack(t *testing.T) {
	for _, c := range []struct{ outage, within time.Duration }{{5 * time.Second, 3 * time.Second}, {20 * time.Second, 7 * time.Second}, {time.Minute, 16 * time.Second}} {
		t.Run(c.outage.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var waits []time.Duration
				for range 200 {
					g := newRig(Options{})
					source := &unreachableServer{script: g.source, until: time.Now().Add(c.outage)}
					g.source.lists = []reply{whole("10"), whole("20", "a@15")}
					g.source.watches = []reply{play(bookmark("10"), errCut)}
					source.back = []reply{refuse(errForbidden), refuse(errExpired), play(bookmark("21"))}
					r, err := New(source, g.sink, Options{Backoff: Backoff{Jitter: 1}})
					require.NoError(t, err)
					ctx, cancel := context.WithCancel(t.Context())
					r.opts.Observer.OnPage = func(p PageInfo) {
						if p.ResourceVersion == "20" {
							waits = append(waits, time.Since(source.until))
							cancel()
						}
					}
					require.NoError(t, r.Run(ctx))
				}
				slices.Sort(waits)
				require.Len(t, waits, 200)
				require.Less(t, waits[100], c.within, "the median wait")
				require.LessOrEqual(t, waits[199], 2*c.within)
				// The clients must not all reconnect at once.
				require.Greater(t, waits[150]-waits[50], c.within/6)
			})
		})
	}
}

// unreachableServer is a script whose server is unreachable until a certain time.
type unreachableServer struct {
	*script
	until time.Time
	back  []reply // replies to watches after that time
}

func (s *unreachableServer) unreachableErr() error {
	switch {
	case len(s.watches) > 0:
		return nil
	case time.Now().Before(s.until):
		return errRefused
	}
	s.watches, s.back = s.back, nil
	return nil
}

func (s *unreachableServer) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[string], error) {
	if err := s.unreachableErr(); err != nil {
		return nil, err
	}
	return s.script.List(ctx, opts)
}

func (s *unreachableServer) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[string], error) {
	if err := s.unreachableErr(); err != nil {
		return nil, err
	}
	return s.script.Watch(ctx, opts)
}

// If a connection breaks soon after an outage, the next wait is about as long as the connection
// lasted. It is not as long as the waits during the outage.
func TestConnectionThatBreaksSoonAfterAnOutageIsReopenedSoon(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{whole("10")}
		g.source.watches = append(times(20, refuse(errBusy)), play(4*time.Second, errCut), play(bookmark("11")))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.NoError(t, g.reflector.Run(ctx))
		require.Equal(t, 30*time.Second, g.reported[19].RetryIn)
		require.Equal(t, 4*time.Second, g.reported[20].RetryIn)
	})
	t.Run("unless every connection breaks at once", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newRig(Options{})
			g.source.lists = times(100, whole("10"))
			g.source.watches = times(100, play(errCut))
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			require.NoError(t, g.reflector.Run(ctx))
			require.Equal(t, 30*time.Second, g.reported[20].RetryIn)
		})
	})
}

// Failures with a response and failures without a response are counted separately. Only success
// resets the back-off.
func TestOutagesAndOtherFailuresAreCountedSeparately(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		for range 12 {
			g.source.lists = append(g.source.lists, refuse(errRefused), refuse(errRefused), refuse(errBroken))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.NoError(t, g.reflector.Run(ctx))
		for n := range 12 {
			require.Equal(t, 800*time.Millisecond, g.reported[3*n].RetryIn)
			require.Equal(t, time.Second, g.reported[3*n+1].RetryIn)
			require.Equal(t, min(800*time.Millisecond<<n, 30*time.Second), g.reported[3*n+2].RetryIn)
			require.Equal(t, 3*n+3, g.reported[3*n+2].Failures)
		}
	})
}

// After an outage of one second, the server's busiest second has at most 10 % more attempts than
// with client-go's clients. After an outage of ten minutes, fewer than a fifteenth of the clients
// reconnect in one second.
func TestClientsReconnectSpreadOverTime(t *testing.T) {
	t.Parallel()
	const clients = 10_000
	busiest := func(outage time.Duration, wait func(n int) time.Duration) (most int) {
		seconds := map[int]int{}
		for range clients {
			at := time.Duration(0)
			for n := 1; at < outage; n++ {
				at += wait(n)
			}
			seconds[int((at-outage)/time.Second)]++
		}
		for _, n := range seconds {
			most = max(most, n)
		}
		return most
	}
	b := Backoff{}.withDefaults()
	ours := func(n int) time.Duration { return b.wait(n, b.OutageFactor, b.Max) }
	theirs := func(n int) time.Duration { // RC-3
		return b.withJitter(float64(min(800*time.Millisecond<<min(n-1, 10), 30*time.Second)))
	}
	short := busiest(time.Second, theirs)
	for _, outage := range []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 20 * time.Second, time.Minute, 10 * time.Minute} {
		t.Logf("%v: at most %d of %d in a second, client-go %d", outage, busiest(outage, ours), clients, busiest(outage, theirs))
		require.Less(t, busiest(outage, ours), short*11/10)
	}
	require.Less(t, busiest(10*time.Minute, ours), clients/15)
}

func TestWhatIsAnOutage(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.EHOSTUNREACH}
	for _, err := range []error{
		dial, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host"}}, &net.OpError{Op: "proxyconnect", Err: dial},
		errRefused, errUnauthorized,
	} {
		require.True(t, isOutage(fmt.Errorf("wrapped: %w", err)), "%v", err)
	}
	for _, err := range []error{
		errCut, errBroken, errForbidden, errBusy, errExpired, errInternal, errNotFound, errOversized, io.EOF, ErrIdle, ErrNoProgress,
		&net.OpError{Op: "read", Err: syscall.ECONNRESET}, apierrors.NewServiceUnavailable(""),
	} {
		require.False(t, isOutage(fmt.Errorf("wrapped: %w", err)), "%v", err)
	}
}

func TestBackoffWithoutGrowth(t *testing.T) {
	t.Parallel()
	for _, b := range []Backoff{
		{Factor: 0.5}, {Factor: math.NaN()}, {Factor: -1}, {OutageFactor: 0.9}, {OutageFactor: math.NaN()}, {Jitter: math.NaN()}, {Jitter: math.Inf(1)},
		{Base: -1}, {Max: -1}, {PermanentMax: -1},
	} {
		_, err := New[string](&script{}, &mirror{}, Options{Backoff: b})
		require.ErrorIs(t, err, errBackoff, "%+v", b)
	}
	for _, b := range []Backoff{
		{Base: math.MaxInt64}, {Max: math.MaxInt64}, {Base: math.MaxInt64, Max: math.MaxInt64, Jitter: -1},
		{Max: math.MaxInt64, Factor: math.Inf(1)}, {Factor: math.MaxFloat64, Jitter: math.MaxFloat64}, {Jitter: -math.MaxFloat64},
	} {
		b := b.withDefaults()
		for n := 1; n < 300; n++ {
			for range 10 {
				require.GreaterOrEqual(t, b.wait(n, b.Factor, b.Max), time.Duration(0), "%+v", b)
				require.GreaterOrEqual(t, b.longestWait(b.PermanentMax), time.Duration(0), "%+v", b)
				require.GreaterOrEqual(t, b.upperBound(time.Duration(n)<<50), time.Duration(0), "%+v", b)
			}
		}
	}
	require.Equal(t, 1.0, Backoff{Factor: 1}.withDefaults().OutageFactor)
}
