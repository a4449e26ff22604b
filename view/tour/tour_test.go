package tour

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/view/lab"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// learner follows the instructions of the lessons.
type learner struct {
	t    *testing.T
	lab  *lab.Lab
	next func() numbers // returns the numbers of the next frame
	now  numbers

	was, began numbers
}

// Each lesson works in a laboratory, and the numbers confirm the right answer.
func TestEachLesson(t *testing.T) {
	for _, n := range testsize.Sample([]int{2, 1, 3, 4, 5, 6, 7, 8, 9, 10}, 3) {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			begin(t).take(read(t, n))
		})
	}
}

func begin(t *testing.T) *learner {
	laboratory, err := lab.New(lab.Options{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- laboratory.Run(ctx) }()
	l := &learner{t: t, lab: laboratory}
	_, all, err := laboratory.View().Frames(ctx, "pods")
	require.NoError(t, err)
	frames, read := make(chan numbers), make(chan bool)
	go func() {
		defer close(read)
		for frame := range all {
			select {
			case frames <- numbersOf(frame):
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-read
		require.NoError(t, <-ended)
	})
	l.next = func() numbers {
		select {
		case l.now = <-frames:
		case <-time.After(time.Minute):
			require.FailNow(t, "a frame must arrive within a minute")
		}
		return l.now
	}
	l.next()
	return l
}

func numbersOf(f *view.Frame) numbers {
	all := numbers{}
	for _, b := range f.Boxes {
		for id, n := range b.Numbers {
			all[b.ID+"."+id] = n
		}
	}
	for stage, version := range map[string]string{"server": f.Versions.Server, "reflector": f.Versions.Reflector, "fifo": f.Versions.Fifo, "store": f.Versions.Store} {
		if n, err := strconv.ParseFloat(version, 64); err == nil {
			all["version."+stage] = n
		}
	}
	return all
}

func (l *learner) take(lesson Lesson) {
	l.t.Helper()
	l.do(lesson.Begin.Do)
	l.until(lesson.Begin.Until)
	l.began = l.now
	for n, step := range lesson.Steps {
		if step.Do == nil {
			continue
		}
		l.t.Logf("step %d", n+1)
		l.next()
		l.was = l.next()
		l.do(step.Do)
		l.until(step.Until)
		for _, id := range step.Same {
			require.Contains(l.t, l.now, id)
			require.Equal(l.t, l.was[id], l.now[id], "step %d: %s stays the same", n+1, id)
		}
	}
	q := lesson.Question
	l.until(q.Answers[q.Right].When)
	for n, a := range q.Answers {
		if n != q.Right {
			require.False(l.t, holds(l.t, a.When, l.now, l.was, l.began), "only the right answer may be true, not this one: %s", a.EN)
		}
	}
	l.do(lesson.End)
}

func (l *learner) do(all []Do) {
	l.t.Helper()
	for _, one := range all {
		if one.Action == "" {
			l.until(one.Until)
			continue
		}
		n := slices.IndexFunc(l.lab.Actions(), func(a view.Action) bool { return a.ID == one.Action })
		require.GreaterOrEqual(l.t, n, 0, "the laboratory cannot %s", one.Action)
		values := map[string]string{}
		for _, input := range l.lab.Actions()[n].Inputs {
			values[input.ID] = input.Default
			if v, ok := one.Values[input.ID]; ok {
				require.NoError(l.t, input.Check(v), one.Action)
				values[input.ID] = v
			}
		}
		for id := range one.Values {
			require.Contains(l.t, values, id, one.Action)
		}
		_, err := l.lab.Do(context.Background(), one.Action, values)
		require.NoError(l.t, err, one.Action)
	}
}

// until(conditions) waits until a frame meets the conditions. It skips the first frame, which may
// be older than the action.
func (l *learner) until(conditions []string) {
	l.t.Helper()
	l.next()
	for began := time.Now(); !holds(l.t, conditions, l.next(), l.was, l.began); {
		if time.Since(began) > 2*time.Minute {
			var lines []string
			for _, id := range slices.Sorted(maps.Keys(l.now)) {
				lines = append(lines, fmt.Sprintf("%s %v -> %v -> %v", id, l.began[id], l.was[id], l.now[id]))
			}
			require.FailNow(l.t, "this does not come true", "%q\n%s", conditions, strings.Join(lines, "\n"))
		}
	}
}
