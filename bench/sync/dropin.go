package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kinform/kinform/bench/internal/report"
	"github.com/kinform/kinform/bench/internal/subject"
)

// These programs are built twice from the same sources: with client-go, and with the replace
// directive for module clientgo. dropin.mod is bench's go.mod with this directive.
const (
	manager = "manager" // the cache of a manager of controller-runtime
	lister  = "lister"  // a program that lists everything once, without a watch

	dropinSuffix = "+line"
	dropinModule = "dropin.mod"
)

// buildWithDropin builds the programs without and with the replace directive.
func buildWithDropin(dir string) error {
	file, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("finding go.mod: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(file)))
	for _, program := range []string{clientgo, manager, lister} {
		for suffix, flags := range map[string][]string{"": nil, dropinSuffix: {"-modfile=" + dropinModule}} {
			args := append(append([]string{"build"}, flags...), "-o", filepath.Join(dir, program+suffix), sources+program)
			cmd := exec.Command("go", args...)
			cmd.Dir, cmd.Stderr = root, os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%v: %w", cmd, err)
			}
		}
	}
	return nil
}

// dropinKinds returns the programs without and with the replace directive. Compared programs are
// next to each other.
func dropinKinds() (kinds []kind) {
	both := func(program, encoding, shape string) {
		kinds = append(kinds, kind{program, encoding, subject.List, shape}, kind{program + dropinSuffix, encoding, subject.List, shape})
	}
	for _, shape := range []string{subject.Full, subject.Transformed} {
		for _, encoding := range []string{subject.Protobuf, subject.JSON} {
			for _, program := range []string{clientgo, manager} {
				both(program, encoding, shape)
			}
		}
	}
	for _, shape := range []string{subject.Unstructured, subject.UnstructuredTransformed} {
		both(manager, subject.JSON, shape)
	}
	both(lister, subject.Protobuf, subject.Full)
	both(lister, subject.JSON, subject.Full)
	both(lister, subject.JSON, subject.Unstructured)
	return kinds
}

// watches reports whether a program continues after its first list.
func (k kind) watches() bool { return strings.TrimSuffix(k.program, dropinSuffix) != lister }

// dropinGoals are the ratios that a program must reach with the replace directive. listerGoals are
// the ratios for the lister, which must not become slower or larger. The lister saves less, because
// the objects of its list share only strings.
var (
	dropinGoals = map[*metric]float64{syncWall: 0.6, syncCPU: 0.6, peakRSS: 0.55, liveHeap: 0.55, eventRate: 2}
	listerGoals = map[*metric]float64{syncWall: 1, syncCPU: 1, peakRSS: 1, liveHeap: 1}
)

// dropinComparison compares each program without the replace directive to the same program with it.
func (r results) dropinComparison() report.Table {
	t := report.Table{{"the same program, medians", "client-go", "with the line", "ratio", "target", ""}}
	for _, k := range dropinKinds() {
		with, goals := k, dropinGoals
		if !k.watches() {
			goals = listerGoals
		}
		with.program += dropinSuffix
		for _, m := range []*metric{syncWall, syncCPU, peakRSS, liveHeap, relistBytes, relistCPU, eventRate, eventCPU} {
			theirs, ok := r.median(k, m)
			ours, measured := r.median(with, m)
			if !ok || !measured {
				continue
			}
			ratio := ours / theirs
			target, verdict := m.verdict(ratio, goals[m])
			t.Add(fmt.Sprintf("%s, %s, %s: %s", k.program, k.encoding, k.shape, m.name), m.number(theirs)+" "+m.unit, m.number(ours)+" "+m.unit,
				fmt.Sprintf("%.2f", ratio), target, verdict)
		}
	}
	return t
}
