// Package fakes_test compares the fakes of module clientgo with client-go's fakes.
package fakes_test

import (
	"flag"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/clientgo/proof/internal/sides"
)

var verbose = flag.Bool("table", false, "log the whole page of client-go")

// known has the intended differences. Each has the output of client-go and the output of this
// module.
var known = []struct{ theirs, ours string }{
	// client-go's dynamic fake accepts typed objects. In the result of a get, these have a kind. In
	// a list, they do not.
	{`"items":[{"data":{"k":"v"},"metadata":{"labels":{"name":"typed"}`, `"items":[{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"labels":{"name":"typed"}`},
	// In this module, each of three deletions raises the version, so that a watch can report
	// deletions before it began.
	{`*v1.ConfigMapList {"metadata":{"resourceVersion":"12"},"items":[{"metadata":{"namespace":"a","labels":{"name":""}}`,
		`*v1.ConfigMapList {"metadata":{"resourceVersion":"15"},"items":[{"metadata":{"namespace":"a","labels":{"name":""}}`},
	{`*v1.ConfigMapList {"metadata":{"resourceVersion":"12"},"items":[{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"a","labels":{"name":""}`,
		`*v1.ConfigMapList {"metadata":{"resourceVersion":"15"},"items":[{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"a","labels":{"name":""}`},
}

// TestFakesBehaveLikeClientGo builds the program table with client-go and with this module, and
// compares the outputs.
func TestFakesBehaveLikeClientGo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds all typed clients twice")
	}
	run := func(flags ...string) string {
		return sides.Output(t, exec.Command(sides.Build(t, "./table", flags...)))
	}
	theirs, ours := run(sides.ClientGo), run()
	if *verbose {
		t.Log("\n" + theirs)
	}
	for _, k := range known {
		require.Contains(t, theirs, k.theirs, "client-go's output no longer has this difference")
		require.Contains(t, ours, k.ours, "this module's output no longer has this difference")
		theirs = strings.ReplaceAll(theirs, k.theirs, k.ours)
	}
	a, b := strings.Split(theirs, "\n"), strings.Split(ours, "\n")
	require.Greater(t, len(a), 2000)
	section := map[bool]string{}
	different := 0
	for i := range min(len(a), len(b)) {
		if !strings.HasPrefix(a[i], "  ") {
			section[true] = a[i]
		}
		if a[i] != b[i] && different < 20 {
			different++
			t.Errorf("%s\n  client-go: %s\n  clientgo:  %s", section[true], a[i], b[i])
		}
	}
	require.Len(t, b, len(a))
}
