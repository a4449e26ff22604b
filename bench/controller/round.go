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

// patience is the time limit of a phase. A phase usually takes seconds.
const patience = 10 * time.Minute

// round runs one side once, on a fresh server.
func (set settings) round(ctx context.Context, s *side, workers int, dir string, measured results) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
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
	r := &rounds{settings: set, side: s, load: l, dir: dir, workers: workers, measured: measured}
	if err := r.first(ctx); err != nil {
		return err
	}
	if err := l.check(ctx); err != nil {
		return err
	}
	return r.again(ctx)
}

// rounds is the state of one round of a side.
type rounds struct {
	settings
	side     *side
	load     *load
	dir      string
	workers  int
	measured results

	process *process
	before  probe.Report // at the beginning of the phase
	begun   time.Time
}

func (r *rounds) start(phase string) (err error) {
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
	r.begun = r.process.begun
	if profiles != "" {
		_, err = r.process.order("profile")
	}
	return err
}

// first starts a controller that reconciles all widgets for the first time, and then changes the
// widgets.
func (r *rounds) first(ctx context.Context) (err error) {
	if err := r.start("first"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.process.kill()) }()
	if err := r.settled(ctx, created, r.objects); err != nil {
		return err
	}
	end := time.Now().Add(r.steady)
	changes, err := r.load.pace(ctx, r.rate, func() bool { return time.Now().Before(end) })
	if err != nil {
		return err
	}
	if err := r.settled(ctx, paced, changes); err != nil {
		return err
	}
	if err := r.load.changeAll(ctx); err != nil {
		return err
	}
	if err := r.settled(ctx, changed, r.objects); err != nil {
		return err
	}
	if err := r.memory("first"); err != nil {
		return err
	}
	return r.process.stop()
}

// again starts the controller a second time, when all widgets are reconciled already.
func (r *rounds) again(ctx context.Context) (err error) {
	if _, err := r.load.gate(ctx, gateNext); err != nil {
		return err
	}
	if err := r.start("restart"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.process.kill()) }()
	var now probe.Report
	err = until(ctx, func() (_ bool, err error) {
		now, err = r.process.order("report")
		return !now.EachHadOne.IsZero(), err
	})
	if err != nil {
		return err
	}
	r.add(restart, "start to first reconcile", now.FirstTurn.Sub(r.begun).Seconds())
	r.add(restart, "start until each had its turn", now.EachHadOne.Sub(r.begun).Seconds())
	if err := r.settled(ctx, restart, r.objects); err != nil {
		return err
	}
	if err := r.memory(restart); err != nil {
		return err
	}
	return r.process.stop()
}

func (r *rounds) add(phase, row string, value float64) {
	r.measured.add(phase, row, r.side.name, value)
}

// settled waits until every change is reconciled and no more reconciles follow, and records the
// phase.
func (r *rounds) settled(ctx context.Context, phase string, changes int) error {
	err := until(ctx, func() (bool, error) {
		p, err := r.load.gate(ctx, gateReport)
		return p.Pending == 0, err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", phase, r.process.failed(err))
	}
	wall := time.Since(r.begun)
	now, err := r.process.order("report")
	if err != nil {
		return err
	}
	for same := 0; same < 5; { // a controller's own writes cause reconciles as well
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
		turns := now.Turns
		if now, err = r.process.order("report"); err != nil {
			return err
		}
		if same++; now.Turns != turns {
			same = 0
		}
	}
	p, err := r.load.gate(ctx, gateNext)
	if err != nil {
		return err
	}
	n, turns, cpu := float64(changes), float64(now.Turns-r.before.Turns), (now.CPU - r.before.CPU).Seconds()
	r.add(phase, "CPU per object", cpu/n)
	r.add(phase, "CPU per turn", cpu/turns)
	r.add(phase, "turns per object", turns/n)
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
	r.begun = time.Now()
	r.before, err = r.process.order("report")
	return err
}

// memory records the memory of a process at its end.
func (r *rounds) memory(phase string) error {
	if phase == "first" {
		phase = changed
	}
	now, err := r.process.order("heap")
	r.add(phase, "peak RSS", float64(now.PeakRSS))
	r.add(phase, "live heap", float64(now.Heap))
	return err
}
