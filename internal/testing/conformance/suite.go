package conformance

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Differences are the cases that an implementation fails by design, by name. The value is the
// reason, and begins with the number of the contract.
type Differences map[string]string

// ByChance is the beginning of the reason of a difference that shows only sometimes, depending on
// the scheduling of goroutines. The suite ignores the result of such a case.
const ByChance = "by chance, "

// testCase is a test of one contract, for the subjects that a function open makes.
type testCase[Open any] struct {
	name string
	run  func(p *caseT, open Open)
}

// verify runs the cases. The cases in differences must fail, and all others must pass. attempt runs
// a case once.
func verify[Open any](t *testing.T, cases []testCase[Open], open Open, differences Differences, attempt func(*testing.T, testCase[Open], Open) []string) {
	t.Helper()
	names := map[string]bool{}
	for _, c := range cases {
		names[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			failures := attempt(t, c, open)
			reason, different := differences[c.name]
			switch {
			case strings.HasPrefix(reason, ByChance):
				t.Logf("may differ (%s): %d failures", reason, len(failures))
			case different && len(failures) == 0:
				t.Errorf("the case passes, although it is listed as a difference: %s", reason)
			case different:
				t.Logf("differs (%s): %s", reason, failures[0])
			default:
				for _, failure := range failures {
					t.Error(failure)
				}
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(differences)) {
		if !names[name] {
			t.Errorf("there is no case %q, so it can't be a difference", name)
		}
	}
}

// runOnce runs a case that needs no setup.
func runOnce[Open any](_ *testing.T, c testCase[Open], open Open) []string {
	var p caseT
	p.try(func() { c.run(&p, open) })
	return p.failures
}

// caseT is a testing.T that collects failures, so that a case may fail as expected.
type caseT struct {
	mu       sync.Mutex // guards following
	failures []string
}

// try runs f in a separate goroutine, which a failure ends.
func (p *caseT) try(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				p.errorf("panic: %v\n%s", r, debug.Stack())
			}
		}()
		f()
	}()
	<-done
}

func (p *caseT) errorf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures = append(p.failures, fmt.Sprintf(format, args...))
}

// must ends the case with a failure unless ok is true.
func (p *caseT) must(ok bool, format string, args ...any) {
	if !ok {
		p.errorf(format, args...)
		runtime.Goexit()
	}
}

func (p *caseT) succeeds(err error) {
	p.must(err == nil, "unexpected error: %v", err)
}

// equal ends the case with a failure unless the two values are equal. An empty slice or map equals
// nil.
func (p *caseT) equal(want, got any, what string) {
	if w, g := reflect.ValueOf(want), reflect.ValueOf(got); w.Type() == g.Type() && (w.Kind() == reflect.Slice || w.Kind() == reflect.Map) && w.Len()+g.Len() == 0 {
		return
	}
	p.must(reflect.DeepEqual(want, got), "%s: expected %v, got %v", what, want, got)
}
