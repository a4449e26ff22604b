package main

import (
	"strings"
	"testing"
)

func TestTableListsRegressionsAndTestsFailingOnBothSides(t *testing.T) {
	before, after := newResult(), newResult()
	for name, outcomes := range map[string][2]string{
		"p TestKept": {"pass", "pass"}, "p TestLost": {"pass", "fail"}, "p TestGone": {"pass", ""}, "p TestWon": {"fail", "pass"}, "p TestBroken": {"fail", "fail"},
	} {
		before.add(name, outcomes[0])
		if outcomes[1] != "" {
			after.add(name, outcomes[1])
		}
	}
	var out strings.Builder
	printTable(&out, []comparison{{program: program{name: "x", module: "example.com/x", version: "v1", kind: "a test"}, before: before, after: after}})
	want := `| program | | with client-go | with kinform | pass with client-go alone |
|---|---|---|---|---:|
| example.com/x@v1 | a test | 3 passed, 2 failed | 2 passed, 2 failed | 2 |
lost: x: p TestGone
lost: x: p TestLost
fails on both sides: x: p TestBroken
`
	if out.String() != want {
		t.Errorf("the table is\n%s\nand should be\n%s", out.String(), want)
	}
}

func TestAFlakyTestIsNotARegression(t *testing.T) {
	r, second := newResult(), newResult()
	for name, outcomes := range map[string][2]string{
		"p ": {"fail", ""}, "p TestUnsteady": {"fail", "pass"}, "p TestKept": {"pass", "pass"},
		"q ": {"fail", "fail"}, "q TestLost": {"fail", "fail"},
	} {
		r.add(name, outcomes[0])
		if outcomes[1] != "" {
			second.add(name, outcomes[1])
		}
	}
	r.mergeRerun(second, []string{"p TestUnsteady", "q TestLost"})
	if got := r.String(); got != "2 passed, 2 failed" {
		t.Error(got)
	}
	if len(r.flaky) != 1 || r.flaky[0] != "p TestUnsteady" {
		t.Error(r.flaky)
	}
}
