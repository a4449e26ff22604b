package workqueue_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// FuzzQueue reads its input as steps of two bytes, what to do and with what, and
// compares the queue with the model after each.
func FuzzQueue(f *testing.F) {
	f.Add([]byte("\x01\x21\x00\x01\x03\x00\x00\x01\x02\x20\x04\x00\x03\x00\x07\xff\x08\xff"))
	f.Fuzz(func(t *testing.T, steps []byte) {
		if len(steps) > 600 {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			for ; len(steps) >= 2; steps = steps[2:] {
				r.step(steps[0], steps[1])
				r.compare()
			}
			r.finish()
		})
	})
}

func TestTheQueueBehavesAsItsModelOnLongWalks(t *testing.T) {
	t.Parallel()
	weights := []byte{0, 0, 1, 1, 2, 3, 3, 4, 4, 5, 6} // no shutdown, which finish does
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			random := rand.New(rand.NewPCG(seed, 0))
			for range 500 {
				arg := byte(random.Uint32())
				r.step(weights[random.IntN(len(weights))], arg)
				r.compare()
			}
			r.finish()
		})
	}
}

// rig drives a queue and its model through the same steps.
type rig struct {
	t     *testing.T
	q     *workqueue.Queue[byte]
	m     model
	start time.Time

	results chan result
	blocked map[int]context.CancelFunc // of the Gets that have not returned
	gets    int

	drains  int
	drained chan error
}

// result is what a Get returned.
type result struct {
	get int
	key byte
	err error
}

func newRig(t *testing.T) *rig {
	return &rig{
		t:       t,
		q:       workqueue.New(workqueue.Options[byte]{}),
		m:       model{dirty: make(map[byte]bool)},
		start:   time.Now(),
		results: make(chan result, 1000),
		blocked: make(map[int]context.CancelFunc),
		drained: make(chan error, 1000),
	}
}

func (r *rig) now() time.Duration { return time.Since(r.start) }

func (r *rig) step(op, arg byte) {
	key := arg % 8
	switch op % 9 {
	case 0:
		r.q.Add(key)
		r.m.add(key)
	case 1:
		d := time.Duration(arg/8) * time.Second
		r.q.AddAfter(key, d)
		r.m.addAfter(key, r.now(), d)
	case 2:
		time.Sleep(time.Duration(arg) * time.Second / 4)
		r.m.advance(r.now())
	case 3:
		r.get()
	case 4: // of a key that is processing, if there is one
		if n := len(r.m.processing); n > 0 {
			key = r.m.processing[int(arg)%n]
		}
		r.q.Done(key)
		r.m.done(key)
	case 5: // of any key
		r.q.Done(key)
		r.m.done(key)
	case 6:
		r.cancel()
	case 7:
		if arg > 0xf0 {
			r.q.ShutDown()
			r.m.shutDown()
		}
	case 8:
		if arg > 0xf0 || r.m.shut {
			r.drain()
		}
	}
}

// get starts a Get.
func (r *rig) get() {
	ctx, cancel := context.WithCancel(r.t.Context())
	id := r.gets
	r.gets++
	r.blocked[id] = cancel
	r.m.waiting++
	go func() {
		key, err := r.q.Get(ctx)
		r.results <- result{id, key, err}
	}()
}

// cancel ends one of the blocked Gets, if there is one.
func (r *rig) cancel() {
	for id, cancel := range r.blocked {
		cancel()
		synctest.Wait()
		got := <-r.results
		require.Equal(r.t, id, got.get)
		require.ErrorIs(r.t, got.err, context.Canceled)
		delete(r.blocked, id)
		r.m.waiting--
		return
	}
}

func (r *rig) drain() {
	r.drains++
	go func() { r.drained <- r.q.Drain(r.t.Context()) }()
	r.m.shutDown()
}

// compare lets everything settle and compares what can be seen.
func (r *rig) compare() {
	synctest.Wait()
	r.m.settle()

	var handed []byte
	over := 0
	for len(r.results) > 0 {
		got := <-r.results
		r.blocked[got.get]()
		delete(r.blocked, got.get)
		if errors.Is(got.err, workqueue.ErrShutDown) {
			over++
			continue
		}
		require.NoError(r.t, got.err)
		handed = append(handed, got.key)
	}
	require.ElementsMatch(r.t, r.m.handed, handed)
	require.Equal(r.t, r.m.over, over)
	require.Len(r.t, r.blocked, r.m.waiting)

	s := r.q.Stats()
	require.Equal(r.t,
		[]int{len(r.m.ready), r.m.countDirty(), len(r.m.processing), len(r.m.delayed)},
		[]int{s.Ready, s.Dirty, s.Processing, s.Delayed}, "ready, dirty, processing, delayed")
	var inspected []byte
	for _, state := range r.q.Inspect() {
		if state.Processing {
			inspected = append(inspected, state.Key)
		}
	}
	require.ElementsMatch(r.t, r.m.processing, inspected)
	require.NoError(r.t, r.q.Verify())

	if r.m.drained() {
		for ; r.drains > 0; r.drains-- {
			require.NoError(r.t, <-r.drained)
		}
	}
	require.Empty(r.t, r.drained)
}

// finish works on everything that is left and drains.
func (r *rig) finish() {
	r.drain()
	r.compare()
	for !r.m.drained() {
		if len(r.m.ready) > 0 {
			r.get()
			r.compare()
		}
		if len(r.m.processing) > 0 {
			key := r.m.processing[0]
			r.q.Done(key)
			r.m.done(key)
			r.compare()
		}
	}
}
