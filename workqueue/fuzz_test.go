package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// FuzzQueue interprets its input as a byte of options and steps of two bytes, an operation and its
// argument. It compares the queue with the model after each step.
func FuzzQueue(f *testing.F) {
	f.Add([]byte("\x00\x01\x21\x00\x01\x03\x00\x00\x01\x02\x20\x04\x00\x03\x00\x07\xff\x08\xff"))
	f.Add([]byte("\x07\x09\x01\x09\x42\x09\x83\x03\x00\x03\x00\x0d\x01\x04\x00\x02\x40\x0e\x00\x0c\x03"))
	// A delay and a MinInterval of the same key end together, and the key was added as well.
	f.Add([]byte("\x01\x00\x00\x03\x00\x04\x00\x00\x00\x01\xc0\x02\x30"))
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) == 0 || len(input) > 600 {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, input[0])
			for steps := input[1:]; len(steps) >= 2; steps = steps[2:] {
				r.step(steps[0], steps[1])
				r.compare()
			}
			r.finish()
		})
	})
}

func TestTheQueueBehavesAsItsModelOnLongWalks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, byte(seed))
			random := rand.New(rand.NewPCG(seed, 0))
			for range 300 {
				op := byte(random.IntN(ops))
				if op == opShutDown || op == opDrain { // finish does both
					op = opGet
				}
				r.step(op, byte(random.Uint32()))
				r.compare()
			}
			r.finish()
		})
	}
}

// rig applies the same steps to a queue and its model.
type rig struct {
	t     *testing.T
	q     *workqueue.Queue[byte]
	m     model
	start time.Time

	results chan result
	blocked map[int]context.CancelFunc // cancels the Gets that have not returned
	gets    int
	waits   map[byte][]chan error // the channels that parked keys wait for

	drains  int
	drained chan error
}

// result is the result of a Get.
type result struct {
	get int
	key byte
	err error
}

func newRig(t *testing.T, options byte) *rig {
	r := &rig{
		t:       t,
		m:       newModel(),
		start:   time.Now(),
		results: make(chan result, 1000),
		blocked: make(map[int]context.CancelFunc),
		waits:   make(map[byte][]chan error),
		drained: make(chan error, 1000),
	}
	opts := workqueue.Options[byte]{
		RateLimiter: workqueue.Exponential[byte](time.Second, 8*time.Second),
		Ageing:      -1,
	}
	if options&1 != 0 {
		r.m.interval = 10 * time.Second
		opts.MinInterval = r.m.interval
	}
	if options&2 != 0 {
		r.m.weights = []int{1, 2, 3}
		opts.Group = func(key byte) string { return fmt.Sprint(r.m.group(key)) }
		opts.Weight = func(group string) int { return r.m.weights[group[0]-'0'] }
	}
	if options&4 != 0 {
		r.m.ageing = 3
		opts.Ageing = 3
	}
	r.q = workqueue.New(opts)
	t.Cleanup(r.q.ShutDown) // in case the test fails
	return r
}

// The operations of a step.
const (
	opAdd = iota
	opAddAfter
	opSleep
	opGet
	opDone    // of a processing key, if any
	opDoneAny // of any key
	opEndGet  // ends one of the blocked Gets, if any
	opShutDown
	opDrain
	opAddWith
	opAddLater
	opCancel
	opRetry
	opPark
	opUnpark
	opForget
	opTryGet
	ops
)

func (r *rig) step(op, arg byte) {
	key := arg % 8
	plain := &modelWork{causes: workqueue.Causes{Count: 1}}
	switch op % ops {
	case opAdd:
		r.q.Add(key)
		r.m.add(key, plain)
	case opAddAfter:
		d := time.Duration(arg/8) * time.Second
		if k := r.m.key(key); arg/8 >= 24 && k.cool > 0 {
			d = k.cool - r.m.now // both end at the same time
		}
		r.q.AddAfter(key, d)
		r.m.addLater(key, d, workqueue.Earliest, plain)
	case opSleep:
		time.Sleep(time.Duration(arg) * time.Second / 4)
	case opGet:
		r.get()
	case opDone:
		if n := len(r.m.processing); n > 0 {
			key = r.m.processing[int(arg)%n]
		}
		r.q.Done(key)
		r.m.done(key)
	case opDoneAny:
		r.q.Done(key)
		r.m.done(key)
	case opEndGet:
		r.endGet()
	case opShutDown:
		if arg > 0xf0 {
			r.q.ShutDown()
			r.m.shutDown()
		}
	case opDrain:
		if arg > 0xf0 || r.m.shut {
			r.drain()
		}
	case opAddWith, opAddLater:
		r.addWith(key, op%ops == opAddLater, arg/8)
	case opCancel:
		require.Equal(r.t, r.m.cancel(key), r.q.Cancel(key), "cancel %d", key)
	case opRetry:
		r.q.Retry(key)
		r.m.retry(key)
	case opPark:
		r.park(key)
	case opUnpark:
		r.unpark(key, arg)
	case opForget:
		r.q.Forget(key)
		r.m.key(key).failures = 0
	case opTryGet:
		if len(r.blocked) > 0 {
			return // nothing is ready
		}
		_, ok := r.q.TryGet()
		require.Equal(r.t, len(r.m.ready) > 0, ok)
		if ok {
			r.m.take()
		}
	}
}

// addWith adds the key with options that five bits encode.
func (r *rig) addWith(key byte, delayed bool, how byte) {
	opts := workqueue.AddOptions{Priority: int(how%4) * 10, Cause: []string{"", "a", "b", "c"}[how/4%4]}
	if delayed {
		opts.After = []time.Duration{0, 3, 6, 9, 12, 15, 18, -1}[how%8] * time.Second
		opts.Delay = workqueue.DelayMode(how % 3)
	}
	r.q.AddWith(key, opts)
	work := &modelWork{priority: opts.Priority, causes: workqueue.Causes{First: opts.Cause, Last: opts.Cause, Count: 1}}
	r.m.addLater(key, opts.After, opts.Delay, work)
}

func (r *rig) park(key byte) {
	over := make(chan error, 1)
	r.q.Park(key, func(ctx context.Context) error {
		select {
		case err := <-over:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	if !r.m.shut {
		r.waits[key] = append(r.waits[key], over)
	}
	r.m.park(key)
}

func (r *rig) unpark(key, arg byte) {
	waits := r.waits[key]
	if len(waits) == 0 || r.m.shut {
		return
	}
	one := int(arg) % len(waits)
	waits[one] <- []error{nil, errors.New("the store has ended")}[arg%2]
	r.waits[key] = slices.Delete(waits, one, one+1)
	r.m.unpark(key)
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

func (r *rig) endGet() {
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

// compare waits until every goroutine is idle, and compares all visible state.
func (r *rig) compare() {
	synctest.Wait()
	r.m.handOut()
	time.Sleep(time.Nanosecond) // so that no two steps happen at the same time
	synctest.Wait()
	r.m.advance(time.Since(r.start))

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
	r.m.handed, r.m.over = nil, 0

	require.NoError(r.t, r.q.Verify())
	require.Equal(r.t, len(r.m.ready), r.q.Len())
	require.Equal(r.t, r.m.states(), r.states())

	if r.m.drained() {
		for ; r.drains > 0; r.drains-- {
			require.NoError(r.t, <-r.drained)
		}
	}
	require.Empty(r.t, r.drained)
}

// states returns the model's result of Inspect.
func (r *rig) states() []workqueue.KeyState[byte] {
	var states []workqueue.KeyState[byte]
	for _, state := range r.q.Inspect() {
		if !state.Processing && !state.Dirty && !state.Parked && state.Until.IsZero() {
			require.False(r.t, state.Cooling.IsZero(), "key %d is kept only because it is cooling", state.Key)
			continue
		}
		state.Group = ""
		state.Started, state.ReadySince, state.Cooling, state.Until = time.Time{}, time.Time{}, time.Time{}, time.Time{}
		states = append(states, state)
	}
	slices.SortFunc(states, func(a, b workqueue.KeyState[byte]) int { return int(a.Key) - int(b.Key) })
	return states
}

// finish works on all remaining keys and drains.
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
