package main

import (
	"slices"
	"testing"
)

func TestStagedModulesAreBumped(t *testing.T) {
	for line, want := range map[string]string{
		"k8s.io/apiserver v0.36.2":                              "k8s.io/apiserver",
		"k8s.io/kms v0.37.2 // indirect":                        "k8s.io/kms",
		"k8s.io/api v0.0.0-20260626213116-2b6c2012d75f":         "k8s.io/api",
		"k8s.io/klog/v2 v2.140.0":                               "",
		"k8s.io/api v0.37.2 => ../api":                          "k8s.io/api",
		"sigs.k8s.io/yaml v1.6.0":                               "",
		"example.com/k8s.io/api v0.37.2":                        "",
		"k8s.io/gengo/v2 v2.0.0-20260408192533-25e2208e0dc3":    "",
		"k8s.io/kube-state-metrics/v2 v2.15.0":                  "",
		"k8s.io/sample-controller v0.0.0":                       "",
		"k8s.io/component-base v0.36.0-alpha.1 // a prerelease": "k8s.io/component-base",
	} {
		var got string
		if found := staged.FindStringSubmatch(line); found != nil {
			got = found[1]
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestPatternsOfADependency(t *testing.T) {
	p := program{module: "example.com/m"}
	if got := patterns(p, nil, "./..."); got[0] != "example.com/m/..." {
		t.Error(got)
	}
	if got := patterns(program{module: "example.com/m", copied: true}, []string{"./a"}); got[0] != "./a" {
		t.Error(got)
	}
}

func TestReplacementsOfADependency(t *testing.T) {
	edits, err := replacements([]byte(`module example.com/m
replace example.com/a => example.com/fork/a v1.2.3
replace example.com/b v1.0.0 => example.com/b v1.1.0
replace example.com/c => ./c
replace k8s.io/api => k8s.io/api v0.36.1
replace k8s.io/kube-openapi => k8s.io/kube-openapi v0.0.0-20260512234627-ef417d054102
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"-replace=example.com/a=example.com/fork/a@v1.2.3",
		"-replace=example.com/b@v1.0.0=example.com/b@v1.1.0",
	}
	if !slices.Equal(edits, want) {
		t.Errorf("%q, want %q", edits, want)
	}
}
