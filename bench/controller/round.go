package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/kinform/kinform/bench/controller/internal/probe"
	"github.com/kinform/kinform/bench/internal/report"
)

// These are the phases of a round.
const (
	created  = "all are new"
	paced    = "even pace"
	changed  = "all change"
	restart  = "restart"
	takeover = "takeover"
)

// phaseTimeout is the time limit of a phase. A phase usually takes seconds.
const phaseTimeout = 10 * time.Minute

// round runs one side once, on a fresh server.
func (set settings) round(ctx context.Context, s *side, workers int, dir string, measured results) (err error) {
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
	r := &sideRound{settings: set, side: s, load: l, dir: dir, workers: workers, measured: measured}
	if err := r.firstRun(ctx); err != nil {
		return err
	}
	if err := l.check(ctx); err != nil {
		return err
	}
	return r.secondRun(ctx)
}

// sideRound is the state of one round of a side.
type sideRound struct {
	settings
	side     *side
	load     *load
	dir      string
	workers  int
	measured results

	process *process
	before  probe.Report // at the beginning of the phase
	started time.Time
}

func (r *sideRound) start(phase string) (err error) {
	profiles := ""
	if r.profiles != "" {
		profiles = filepath.Join(r.profiles, fmt.Sprintf("%s-%d-%s", r.side.source, r.workers, phase))
	}
	r.before = probe.Report{}
	r.process, err = r.startSide(r.side, r.dir, r.load.address, "widgets",
		"-workers", strconv.Itoa(r.workers), "-expect", strconv.Itoa(r.objects), "-profile", profiles)
	if err != nil {
		return err
	}
	r.started = r.process.started
	if profiles != "" {
		_, err = r.process.command("profile")
	}
	return err
}

// firstRun starts a controller that reconciles all widgets for the first time, and then changes the
// widgets.
func (r *sideRound) firstRun(ctx context.Context) (err error) {
	if err := r.start("first"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.process.kill()) }()
	if err := r.waitUntilSettled(ctx, created, r.objects); err != nil {
		return err
	}
	end := time.Now().Add(r.steady)
	changes, err := r.load.sendEvenly(ctx, r.rate, func() bool { return time.Now().Before(end) })
	if err != nil {
		return err
	}
	if err := r.waitUntilSettled(ctx, paced, changes); err != nil {
		return err
	}
	if err := r.load.changeAll(ctx); err != nil {
		return err
	}
	if err := r.waitUntilSettled(ctx, changed, r.objects); err != nil {
		return err
	}
	if err := r.memory("first"); err != nil {
		return err
	}
	return r.process.stop()
}

// secondRun starts the controller a second time, when all widgets are reconciled already.
func (r *sideRound) secondRun(ctx context.Context) (err error) {
	if _, err := r.load.requestCounts(ctx, nextPath); err != nil {
		return err
	}
	if err := r.start("restart"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.process.kill()) }()
	var now probe.Report
	err = until(ctx, func() (_ bool, err error) {
		now, err = r.process.command("report")
		return !now.AllReconciled.IsZero(), err
	})
	if err != nil {
		return err
	}
	r.add(restart, "start to first reconcile", now.FirstReconcile.Sub(r.started).Seconds())
	r.add(restart, "start until all are reconciled", now.AllReconciled.Sub(r.started).Seconds())
	if err := r.waitUntilSettled(ctx, restart, r.objects); err != nil {
		return err
	}
	if err := r.memory(restart); err != nil {
		return err
	}
	return r.process.stop()
}

func (r *sideRound) add(phase, row string, value float64) {
	r.measured.add(phase, row, r.side.name, value)
}

// waitUntilSettled waits until every change is reconciled and no more reconciles follow, and
// records the phase.
func (r *sideRound) waitUntilSettled(ctx context.Context, phase string, changes int) error {
	err := until(ctx, func() (bool, error) {
		p, err := r.load.requestCounts(ctx, reportPath)
		return p.Pending == 0, err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", phase, r.process.failed(err))
	}
	wall := time.Since(r.started)
	now, err := r.process.command("report")
	if err != nil {
		return err
	}
	for same := 0; same < 5; { // a controller's own writes also cause reconciles
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
		reconciles := now.Reconciles
		if now, err = r.process.command("report"); err != nil {
			return err
		}
		if same++; now.Reconciles != reconciles {
			same = 0
		}
	}
	p, err := r.load.requestCounts(ctx, nextPath)
	if err != nil {
		return err
	}
	n, reconciles, cpu := float64(changes), float64(now.Reconciles-r.before.Reconciles), (now.CPU - r.before.CPU).Seconds()
	r.add(phase, "CPU per object", cpu/n)
	r.add(phase, "CPU per reconcile", cpu/reconciles)
	r.add(phase, "reconciles per object", reconciles/n)
	r.add(phase, "allocated per object", float64(now.Bytes-r.before.Bytes)/n)
	r.add(phase, "allocations per object", float64(now.Allocations-r.before.Allocations)/n)
	if phase == created || phase == changed {
		r.add(phase, "objects per second", n/wall.Seconds())
	}
	if phase == paced {
		slices.Sort(p.Took)
		r.add(phase, "change to status, p50", report.Quantile(p.Took, 0.5).Seconds())
		r.add(phase, "change to status, p99", report.Quantile(p.Took, 0.99).Seconds())
	}
	var all, conflicts float64
	for what, count := range p.Requests["widgets"] {
		r.measured.add(phase, requestRow+what, r.side.name, float64(count))
		all += float64(count)
		if isConflict(what) {
			conflicts += float64(count)
		}
	}
	r.add(phase, "requests per object", all/n)
	r.add(phase, "409 (conflicts, repeated creates)", conflicts)
	// The next phase begins now.
	r.started = time.Now()
	r.before, err = r.process.command("report")
	return err
}

// memory records the memory of a process at its end.
func (r *sideRound) memory(phase string) error {
	if phase == "first" {
		phase = changed
	}
	now, err := r.process.command("heap")
	r.add(phase, "peak RSS", float64(now.PeakRSS))
	r.add(phase, "live heap", float64(now.Heap))
	return err
}
