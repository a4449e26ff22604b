package subject

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// Main is the main function of a measured client. open makes the client. Main returns when the
// driver sends no more commands, and exits on a failure.
func Main(open func(Task) (Informer, error)) {
	if err := run(open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process is a running measured client.
type process struct {
	task     Task
	profile  profiler
	informer Informer
	updates  updates
	reports  *json.Encoder
	ended    chan error
}

func run(open func(Task) (Informer, error)) error {
	p := &process{task: parseTask(), reports: json.NewEncoder(os.Stdout), ended: make(chan error, 1)}
	p.task.Updated = p.updates.countDown
	p.profile = profiler(p.task.profile)

	ctx, cancel := context.WithCancel(context.Background())
	if err := p.sync(ctx, open); err != nil {
		cancel()
		return err
	}
	for orders := bufio.NewScanner(os.Stdin); orders.Scan(); {
		if err := p.execute(orders.Text()); err != nil {
			cancel()
			return err
		}
	}
	cancel()
	return <-p.ended
}

// sync makes the client and waits until it has all objects.
func (p *process) sync(ctx context.Context, open func(Task) (Informer, error)) error {
	before := liveHeap()
	stop, err := p.profile.cpu("sync")
	if err != nil {
		return err
	}
	start := takeBaseline()
	if p.informer, err = open(p.task); err != nil {
		return err
	}
	go func() { p.ended <- p.informer.Run(ctx) }()
	if err := p.wait(p.informer.Synced()); err != nil {
		return err
	}
	r := start.report("synced")
	r.PeakRSS, r.Objects = peakRSS(), p.informer.Len()
	if err := stop(); err != nil {
		return err
	}
	r.Heap = liveHeap() - before
	if err := p.profile.heap("sync"); err != nil {
		return err
	}
	return p.reports.Encode(r)
}

// wait waits until c is closed, or the client fails.
func (p *process) wait(c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case err := <-p.ended:
		return fmt.Errorf("the client has ended: %w", err)
	}
}

// execute executes a command.
func (p *process) execute(command string) error {
	name, argument, _ := strings.Cut(command, " ")
	var reached func() error
	switch name {
	case "expect":
		var n int64
		if _, err := fmt.Sscan(argument, &n); err != nil {
			return fmt.Errorf("command %q: %w", command, err)
		}
		seen := p.updates.expect(n)
		reached = func() error { return p.wait(seen) }
	case "relist":
		reached = func() error { return p.waitForRelist(argument) }
	default:
		return fmt.Errorf("unknown command %q", command)
	}
	stop, err := p.profile.cpu(name)
	if err != nil {
		return err
	}
	start := takeBaseline()
	if err := p.reports.Encode(Report{Phase: "ready"}); err != nil {
		return err
	}
	if err := reached(); err != nil {
		return err
	}
	done := start.report("done")
	if err := stop(); err != nil {
		return err
	}
	if err := p.profile.heap(name); err != nil {
		return err
	}
	return p.reports.Encode(done)
}

// waitForRelist waits until the client has processed a list with this version, and until its queues
// and handlers have done the work that follows.
func (p *process) waitForRelist(version string) error {
	for p.informer.ResourceVersion() != version {
		select {
		case err := <-p.ended:
			return fmt.Errorf("the client has ended: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	waitUntilQuiet()
	return nil
}

// updates counts a handler's events down to zero.
type updates struct {
	missing atomic.Int64
	seen    chan struct{}
}

// expect starts to count. The channel is closed at the n-th update from now.
func (u *updates) expect(n int64) <-chan struct{} {
	u.seen = make(chan struct{})
	u.missing.Store(n)
	return u.seen
}

func (u *updates) countDown() {
	if u.missing.Add(-1) == 0 {
		close(u.seen)
	}
}
