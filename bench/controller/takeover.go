package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// headStart is how long a second replica runs before the leader is ended.
const headStart = 5 * time.Second

// takeover ends the leader of a side twice, by SIGTERM and by SIGKILL, while widgets change. It
// measures the time from the signal until the other replica has written a status.
func (set settings) takeover(ctx context.Context, s *side, dir string, measured results) (err error) {
	ctx, cancel := context.WithTimeout(ctx, phaseTimeout)
	defer cancel()
	server, address, err := set.startServer()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.kill()) }()
	l := newLoad(address, set.objects)
	defer l.close()
	if err := l.create(ctx); err != nil {
		return err
	}
	started := 0
	replica := func() (*process, error) {
		started++
		return set.startSide(s, dir, address, fmt.Sprintf("replica-%d", started), "-elect", "-workers", "8")
	}
	// leads changes widgets until a replica has written a status.
	leads := func(n int) (at time.Time, err error) {
		name := fmt.Sprintf("replica-%d", n)
		more := func() bool {
			p, failed := l.requestCounts(ctx, reportPath)
			at, err = p.Statuses[name], failed
			return at.IsZero() && err == nil
		}
		_, failed := l.sendEvenly(ctx, 50, more)
		return at, errors.Join(err, failed)
	}
	leader, err := replica()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leader.kill()) }()
	if _, err := leads(started); err != nil {
		return err
	}
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		next, err := replica()
		if err != nil {
			return err
		}
		// Meanwhile all widgets are reconciled, so that the next leader has no backlog.
		err = until(ctx, func() (bool, error) {
			p, err := l.requestCounts(ctx, reportPath)
			return p.Pending == 0 && time.Since(next.started) > headStart, err
		})
		if err != nil {
			return errors.Join(err, next.kill())
		}
		since := time.Now()
		if err := leader.cmd.Process.Signal(signal); err != nil {
			return errors.Join(err, next.kill())
		}
		at, err := leads(started)
		if err != nil {
			return errors.Join(next.failed(err), next.kill())
		}
		measured.add(takeover, "after "+names[signal], s.name, at.Sub(since).Seconds())
		select {
		case <-leader.ended:
		case <-ctx.Done():
			return errors.Join(leader.failed(ctx.Err()), next.kill())
		}
		leader = next
	}
	return nil
}

var names = map[os.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGKILL: "SIGKILL"}
