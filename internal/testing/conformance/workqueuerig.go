package conformance

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing/synctest"
	"time"
)

// workQueueRig is a work queue, with the calls that wait for it.
type workQueueRig struct {
	WorkQueue
	failure string
}

// must ends the case with a failure unless ok is true.
func (r *workQueueRig) must(ok bool, format string, args ...any) {
	if !ok {
		r.failure = fmt.Sprintf(format, args...)
		runtime.Goexit()
	}
}

// blockingCall is a call that may block.
type blockingCall struct {
	what     string
	returned chan struct{}
	panicked any
	key      string
	shutDown bool
}

// begin starts a call in a goroutine, and returns when the call has returned or blocks.
func (r *workQueueRig) begin(what string, call func(*blockingCall)) *blockingCall {
	w := &blockingCall{what: what, returned: make(chan struct{})}
	go func() {
		defer close(w.returned)
		defer func() { w.panicked = recover() }()
		call(w)
	}()
	synctest.Wait()
	return w
}

func (r *workQueueRig) get() *blockingCall {
	return r.begin("Get", func(w *blockingCall) { w.key, w.shutDown = r.Get() })
}

func (r *workQueueRig) drain() *blockingCall {
	return r.begin("ShutDownWithDrain", func(*blockingCall) { r.ShutDownWithDrain() })
}

// hasReturned reports whether the call has returned.
func (w *blockingCall) hasReturned() bool {
	synctest.Wait()
	select {
	case <-w.returned:
		return true
	default:
		return false
	}
}

func (r *workQueueRig) requireBlocked(w *blockingCall) {
	if w.hasReturned() { // only then may the other fields be read
		r.must(false, "%s has returned, with the key %q", w.what, w.key)
	}
}

func (r *workQueueRig) requireReturned(w *blockingCall) {
	r.must(w.hasReturned(), "%s has not returned", w.what)
	r.must(w.panicked == nil, "%s: panic: %v", w.what, w.panicked)
}

// requireGot requires that a Get has returned this key.
func (r *workQueueRig) requireGot(w *blockingCall, key string) {
	r.requireReturned(w)
	r.must(w.key == key && !w.shutDown, "expected the key %q, got %q, shut down: %t", key, w.key, w.shutDown)
}

// requireKeys requires that these keys are handed out, in this order, and calls Done for each.
func (r *workQueueRig) requireKeys(keys ...string) {
	for _, key := range keys {
		r.requireGot(r.get(), key)
		r.Done(key)
	}
}

// requireEmpty requires that no key is ready now.
func (r *workQueueRig) requireEmpty() {
	synctest.Wait()
	r.must(r.Len() == 0, "there are %d keys", r.Len())
}

// requireShutDown requires that a Get returns shutdown.
func (r *workQueueRig) requireShutDown() {
	w := r.get()
	r.requireReturned(w)
	r.must(w.shutDown, "got the key %q", w.key)
}

// pass lets virtual time pass.
func (r *workQueueRig) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// try runs a case in a separate goroutine, which a failure ends.
func (r *workQueueRig) try(run func(*workQueueRig)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.failure = fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		run(r)
	}()
	<-done
}

// end releases all blocked calls, and gives slow goroutines time to end.
func (r *workQueueRig) end() {
	func() {
		defer func() { _ = recover() }() // not every queue can be shut down twice
		r.ShutDown()
	}()
	time.Sleep(time.Minute)
}
