package informer_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
)

// logbook is a log of lines, each with the time since the log began.
type logbook struct {
	began time.Time

	mu    sync.Mutex // guards following
	lines []string
}

func newLogbook() (*logbook, *slog.Logger) {
	l := &logbook{began: time.Now()}
	return l, slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "stack" {
			return slog.Attr{}
		}
		return a
	}}))
}

func (l *logbook) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf("%v %s", time.Since(l.began), strings.TrimSpace(string(line))))
	return len(line), nil
}

func (l *logbook) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.lines...)
}

// manyItems returns more objects than a mailbox holds.
func manyItems() (items []listwatch.Item[*obj]) {
	for i := range 3 * informer.DefaultMailbox {
		items = append(items, item(fmt.Sprint(i), fmt.Sprint(i+1), "x"))
	}
	return items
}

func TestLogsGoToTheDefaultLoggerWithTheInformersName(t *testing.T) {
	previous := slog.Default()
	defer slog.SetDefault(previous)
	var log *logbook
	synctest.Test(t, func(t *testing.T) {
		book, logger := newLogbook()
		log = book
		slog.SetDefault(logger)
		r := newRig(t, informer.Options[*corev1.Pod]{Name: "web"})
		slog.SetDefault(previous) // The logger at the time of New stays.
		r.add(func(informer.Event[*corev1.Pod]) { panic("no") }, informer.HandlerOptions{})
		_, err := r.server.Create(newPod(key(1)))
		require.NoError(t, err)
		r.server.Inject(apitest.Fault{Verb: "list", Times: 3, Action: apitest.Code(503, 0)})
		r.runSynced()
		synctest.Wait()
		require.NoError(t, r.stop())
	})
	lines := log.all()
	require.Len(t, lines, 3, lines)
	require.Contains(t, lines[0], `level=WARN msg="Attempt failed" informer=web phase=listing err="GET http`)
	both := strings.Join(lines[1:], "\n") // from two goroutines, at the same moment
	require.Contains(t, both, `level=INFO msg=Recovered informer=web failures=3`)
	require.Contains(t, both, `level=ERROR msg="handler panicked; the event counts as handled" informer=web handler=handler-1`)
}

func TestAHandlerThatPanicsIsLoggedEveryFiveMinutes(t *testing.T) {
	log, logger := newLogbook()
	inBubble(t, informer.Options[*corev1.Pod]{Logger: logger}, func(t *testing.T, r *rig) {
		log.began = time.Now()
		r.add(func(informer.Event[*corev1.Pod]) { panic("no") }, informer.HandlerOptions{Resync: time.Minute})
		for n := range 5 {
			_, err := r.server.Create(newPod(key(n)))
			require.NoError(t, err)
		}
		r.runSynced()
		time.Sleep(14*time.Minute + time.Second)
		require.NoError(t, r.stop())
		var lines []string
		for _, line := range log.all() {
			require.Contains(t, line, "panic=no")
			when, _, _ := strings.Cut(line, " ")
			_, panics, _ := strings.Cut(line, " panics=")
			lines = append(lines, when+" "+panics)
		}
		require.Equal(t, []string{"0s 1", "5m0s 26", "10m0s 51"}, lines)
	})
}

// A list, a resync or a burst of more objects than a mailbox holds fills it, but the handler is not
// slow.
func TestAFastHandlerIsNotLoggedAsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, logger := newLogbook()
		inf := newInformer(t, newFake("5000", manyItems()...), informer.Options[*obj]{Logger: logger})
		for range 20 {
			_, err := inf.AddHandler(func(informer.Event[*obj]) {}, informer.HandlerOptions{Resync: time.Minute})
			require.NoError(t, err)
		}
		stop := start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		time.Sleep(testsize.Scale(10*time.Minute, 3*time.Minute))
		stop()
		require.Empty(t, log.all())
	})
}

// The handler takes a second for each event, and is more than two minutes behind at each resync.
func TestASlowHandlerIsLoggedEveryFiveMinutesAndWhenItHasCaughtUp(t *testing.T) { // D24
	synctest.Test(t, func(t *testing.T) {
		log, logger := newLogbook()
		inf := newInformer(t, newFake("5000", manyItems()[:150]...), informer.Options[*obj]{Name: "things", Logger: logger})
		r, err := inf.AddHandler(func(informer.Event[*obj]) { time.Sleep(time.Second) },
			informer.HandlerOptions{Name: "sleepy", Mailbox: 5, Resync: 12 * time.Minute})
		require.NoError(t, err)
		stop := start(t, inf)
		require.NoError(t, r.WaitForSync(t.Context()))
		time.Sleep(32 * time.Minute)
		stop()
		require.Equal(t, []string{
			`12m10s level=WARN msg="handler is slow, and events wait" informer=things handler=sleepy waiting=139 oldest=10s meanwhile="events of one object are merged"`,
			`14m30s level=INFO msg="handler has caught up" informer=things handler=sleepy`,
			`24m10s level=WARN msg="handler is slow, and events wait" informer=things handler=sleepy waiting=139 oldest=10s meanwhile="events of one object are merged"`,
			`26m30s level=INFO msg="handler has caught up" informer=things handler=sleepy`,
		}, log.all())
	})
}

func TestAHandlerThatNeverReturnsIsLogged(t *testing.T) {
	for overflow, want := range map[informer.Overflow]string{
		informer.Block:     "the informer and its other handlers wait",
		informer.Coalesce:  "events of one object are merged",
		informer.Unbounded: "memory grows with each event",
	} {
		t.Run(overflow.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log, logger := newLogbook()
				f := newFake("1", item("a", "1", "x"))
				inf := newInformer(t, f, informer.Options[*obj]{Logger: logger})
				ctx, release := context.WithCancel(t.Context())
				_, err := inf.AddHandler(func(informer.Event[*obj]) { <-ctx.Done() }, informer.HandlerOptions{Name: "stuck", Mailbox: 1, Overflow: overflow})
				require.NoError(t, err)
				stop := start(t, inf)
				require.NoError(t, inf.WaitForSync(t.Context()))
				f.Events <- ev(listwatch.Modified, "a", "2", "x")
				f.Events <- ev(listwatch.Modified, "a", "3", "x")
				synctest.Wait()
				require.Empty(t, log.all())
				time.Sleep(6 * time.Minute)
				if overflow != informer.Block { // With Block, the informer checks by itself.
					f.Events <- ev(listwatch.Modified, "a", "4", "x")
				}
				synctest.Wait()
				lines := log.all()
				require.NotEmpty(t, lines)
				require.LessOrEqual(t, len(lines), 2)
				require.Contains(t, lines[0], `handler=stuck`)
				require.Contains(t, lines[0], want)
				release()
				synctest.Wait()
				lines = log.all()
				require.Contains(t, lines[len(lines)-1], "handler has caught up")
				stop()
			})
		})
	}
}
