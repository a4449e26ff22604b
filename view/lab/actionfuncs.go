package lab

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
)

// Do performs the action of a button. It first waits until the pipeline runs. If the action
// restarts the informer, Do waits until the old informer has ended.
func (l *Lab) Do(ctx context.Context, action string, values map[string]string) (string, error) {
	select {
	case <-l.ready:
	case <-ctx.Done():
		return "", ctx.Err()
	case <-l.ended:
		return "", errEnded
	}
	if isClosed(l.ended) {
		return "", errEnded
	}
	do, known := actionFuncs[action]
	if !known {
		return "", fmt.Errorf("there is no action %q", action)
	}
	return do(l, ctx, inputs(values))
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// inputs are the values of an action's inputs. Package view has checked them.
type inputs map[string]string

func (in inputs) number(id string) int {
	n, _ := strconv.Atoi(in[id])
	return n
}

func (in inputs) milliseconds() time.Duration {
	return time.Duration(in.number("ms")) * time.Millisecond
}

// actionFuncs are the functions of the buttons, by action. Each function returns a sentence about
// its effect.
var actionFuncs = map[string]func(*Lab, context.Context, inputs) (string, error){
	"reset": (*Lab).reset,
	"pause": func(l *Lab, _ context.Context, in inputs) (string, error) {
		return l.setGate(in["stage"], (*gate).pause, "is paused")
	},
	"step": func(l *Lab, _ context.Context, in inputs) (string, error) {
		return l.setGate(in["stage"], (*gate).step, "takes one more")
	},
	"resume": func(l *Lab, _ context.Context, in inputs) (string, error) {
		return l.setGate(in["stage"], (*gate).resume, "goes on")
	},

	"create": func(l *Lab, _ context.Context, in inputs) (string, error) {
		n := in.number("n")
		return fmt.Sprintf("%d pods were created", n), l.objects.create(n)
	},
	"update": func(l *Lab, _ context.Context, in inputs) (string, error) {
		n, err := l.objects.update(in.number("n"))
		return fmt.Sprintf("%d pods were changed", n), err
	},
	"delete": func(l *Lab, _ context.Context, in inputs) (string, error) {
		n, err := l.objects.remove(in.number("n"))
		return fmt.Sprintf("%d pods were deleted", n), err
	},
	"burst": func(l *Lab, _ context.Context, in inputs) (string, error) {
		n := in.number("n")
		return fmt.Sprintf("one pod was changed %d times", n), l.objects.updateHot(n)
	},
	"hot": func(l *Lab, _ context.Context, in inputs) (string, error) {
		l.hotRate.Store(int64(in.number("n")))
		return "one pod is changed " + in["n"] + " times a second", nil
	},
	"rate": func(l *Lab, _ context.Context, in inputs) (string, error) {
		l.rate.Store(int64(in.number("n")))
		return in["n"] + " pods are written a second", nil
	},
	"other": func(l *Lab, _ context.Context, in inputs) (string, error) {
		n := in.number("n")
		return fmt.Sprintf("%d config maps were created and deleted", n), l.objects.writeOther(n)
	},

	"drop": func(l *Lab, _ context.Context, _ inputs) (string, error) {
		return fmt.Sprintf("watches that were cut: %d", l.server.DropWatches("pods")), nil
	},
	"expire": func(l *Lab, ctx context.Context, _ inputs) (string, error) {
		_, err := l.expireHistory(ctx, 0)
		return "the server has forgotten its past", err
	},
	"vanish": func(l *Lab, ctx context.Context, in inputs) (string, error) {
		n, err := l.expireHistory(ctx, in.number("n"))
		return fmt.Sprintf("%d pods were deleted, and no watch reports the deletions", n), err
	},
	"throttle": (*Lab).throttle,
	"delay": func(l *Lab, _ context.Context, in inputs) (string, error) {
		l.path.delay.Store(int64(in.milliseconds()))
		return "each event takes " + in["ms"] + " ms to arrive", nil
	},
	"skip": func(l *Lab, _ context.Context, in inputs) (string, error) {
		l.path.dropNext.Store(int64(in.number("n")))
		return "the next events will be lost: " + in["n"], nil
	},
	// One 410 response is not enough. After a single one, the reflector may start a watch from an
	// older version, to compare the events.
	"relist": func(l *Lab, ctx context.Context, _ inputs) (string, error) {
		_, err := l.expireHistory(ctx, 0)
		return "the server refuses the next watch, so the reflector must list again", err
	},
	"fetch": func(l *Lab, ctx context.Context, in inputs) (string, error) {
		return "another informer has begun; snapshot by: " + in["how"], l.changeSettings(ctx, func(c *settings) { c.fetch = in["how"] })
	},
	"encoding": func(l *Lab, ctx context.Context, in inputs) (string, error) {
		encoding := map[string]rest.Encoding{"protobuf": rest.Protobuf, "json": rest.JSON}[in["encoding"]]
		return "another informer has begun; encoding: " + in["encoding"], l.changeSettings(ctx, func(c *settings) { c.encoding = encoding })
	},
	"compare": func(l *Lab, ctx context.Context, in inputs) (string, error) {
		return l.comparisons.compare(ctx, in.number("n"))
	},

	"omit": func(l *Lab, ctx context.Context, in inputs) (string, error) {
		return "another informer has begun; left out: " + in["parts"], l.changeSettings(ctx, func(c *settings) { c.omit = in["parts"] != "nothing" })
	},

	"slow": func(l *Lab, _ context.Context, in inputs) (string, error) {
		l.handlerDelay.Store(int64(in.milliseconds()))
		return "a call of the handler takes " + in["ms"] + " ms", nil
	},
	"policy": func(l *Lab, ctx context.Context, in inputs) (string, error) {
		for _, overflow := range []informer.Overflow{informer.Coalesce, informer.Block, informer.Unbounded} {
			if overflow.String() == in["overflow"] {
				return "another informer has begun; when the mailbox is full: " + in["overflow"], l.changeSettings(ctx, func(c *settings) { c.overflow = overflow })
			}
		}
		return "", fmt.Errorf("there is no rule %q for a full mailbox", in["overflow"])
	},
	"resync": func(l *Lab, _ context.Context, _ inputs) (string, error) {
		l.consumer.Load().handler.Resync()
		return "the handler is called once more for every object in the store", nil
	},
	"crash": func(l *Lab, ctx context.Context, _ inputs) (string, error) {
		return "the informer has ended, and another one has begun", l.restartInformer(ctx)
	},

	"work": func(l *Lab, _ context.Context, in inputs) (string, error) {
		l.reconcileDelay.Store(int64(in.milliseconds()))
		return "a reconcile takes " + in["ms"] + " ms", nil
	},
	"fail": func(l *Lab, _ context.Context, in inputs) (string, error) {
		l.failurePercent.Store(int64(in.number("percent")))
		return in["percent"] + " % of the reconciles fail", nil
	},
	"workers": func(l *Lab, _ context.Context, in inputs) (string, error) {
		l.workers.Store(int64(in.number("n")))
		return in["n"] + " workers take keys", l.queue.SetWorkers(in.number("n"))
	},
}

func (l *Lab) gates() map[string]*gate {
	return map[string]*gate{"watch": &l.path.gate, "fifo": &l.fifoGate, "handlers": &l.handlerGate, "workers": &l.workerGate}
}

// setGate changes the gate of a stage.
func (l *Lab) setGate(stage string, do func(*gate), said string) (string, error) {
	g := l.gates()[stage]
	if g == nil {
		return "", fmt.Errorf("there is no stage %q", stage)
	}
	do(g)
	return stage + ": the stage " + said, nil
}

// reset restores the initial settings, and clears the comparison. The objects stay as they are.
func (l *Lab) reset(ctx context.Context, _ inputs) (string, error) {
	for _, g := range l.gates() {
		g.resume()
	}
	for _, value := range l.zeroSettings() {
		value.Store(0)
	}
	l.rate.Store(int64(l.opts.Rate))
	l.workers.Store(int64(l.opts.Workers))
	l.throttleNext(0)
	if !l.comparisons.busy.Load() {
		l.comparisons.last.Store(nil)
	}
	err := l.queue.SetWorkers(l.opts.Workers)
	if l.currentSettings() != initialSettings {
		err = errors.Join(err, l.changeSettings(ctx, func(c *settings) { *c = initialSettings }))
	}
	return "everything is as at the beginning, except the objects", err
}

// expireHistory cuts the watch and blocks its reconnect while it deletes n pods and the server
// drops its history. It returns the number of deleted pods.
func (l *Lab) expireHistory(ctx context.Context, n int) (int, error) {
	fault := l.server.Inject(apitest.Fault{Verb: "watch", Resource: "pods", Action: apitest.Code(503, 0)})
	defer fault.Remove()
	l.server.DropWatches("pods")
	for l.server.Watches("pods") > 0 && ctx.Err() == nil {
		sleep(ctx, time.Millisecond)
	}
	// The version at which the reflector resumes must be older than the server's history.
	before := l.objects.writeOther(1)
	n, err := l.objects.remove(n)
	after := l.objects.writeOther(1)
	l.server.Compact()
	return n, errors.Join(before, err, after)
}

// throttle cuts the watch, and makes the requests that follow fail.
func (l *Lab) throttle(_ context.Context, in inputs) (string, error) {
	l.throttleNext(in.number("n"))
	return "requests that will get 429: " + in["n"], nil
}

// throttleNext makes exactly the next n requests fail.
func (l *Lab) throttleNext(n int) {
	var next *apitest.InjectedFault
	if n > 0 {
		next = l.server.Inject(apitest.Fault{Resource: "pods", Times: n, Action: apitest.TooManyRequests(time.Second)})
		l.server.DropWatches("pods")
	}
	if before := l.throttleFault.Swap(next); before != nil {
		before.Remove()
	}
}
