package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const source = `package p

import (
	"a"
	"b"
)

import "c"

// T is a type.
type T struct{}

func (T) TestMethod() {}

func TestMain() {}

func TestA() {
	a.A()
}

func Testing() {}

func helper() {}

func TestB() { b.B() }
`

func TestDeclarationsThatDoNotCompileAreDropped(t *testing.T) {
	file, err := parse([]byte(source))
	require.NoError(t, err)
	files := tests{"x_test.go": file}
	require.Equal(t, []string{"TestA", "TestB"}, files.functions())
	require.True(t, files.drop("x_test.go", 18), "line 18 is in the middle of TestA")
	require.False(t, files.drop("x_test.go", 18), "TestA was dropped already")
	require.False(t, files.drop("x_test.go", 1))
	require.False(t, files.drop("y_test.go", 18))
	require.True(t, files.drop("x_test.go", 4))
	require.True(t, files.drop("x_test.go", 8))
	require.Equal(t, []string{"TestB"}, files.functions())
	text := string(file.text)
	require.NotContains(t, text, "TestA")
	require.NotContains(t, text, `"a"`)
	require.NotContains(t, text, `"c"`)
	require.Contains(t, text, `"b"`)
	left, err := parse(file.text)
	require.NoError(t, err, "the remaining text is valid Go")
	require.Len(t, left.parts, 7)
}

func TestAResultNamesUnexplainedFailures(t *testing.T) {
	reasons = map[string]string{"p TestA": "reason", "p TestB": "reason", "q TestC": "reason"}
	r := packageResult{pkg: "p", failingOnlyHere: []string{"p TestA", "p TestD"}}
	require.Equal(t, []string{"p TestB has a reason, and does not fail here alone", "p TestD fails here alone, without a reason"}, r.unexplained())
}

func TestEquivalentsKeepLines(t *testing.T) {
	const text = `package p

func TestA() {
	streamExec := exec.(*wsStreamExecutor)
	if remotecommand.StreamProtocolV5Name != streamExec.negotiated {
		t.Fatal()
	}
	s.startedLock.Lock()
	r.setLastSyncResourceVersion("10")
}
`
	for pkg, want := range map[string]string{"tools/remotecommand": "startedLock", "tools/cache": `v := "10"`, "rest": "wsStreamExecutor"} {
		got := string(rewrite(pkg, []byte(text)))
		require.Equal(t, strings.Count(text, "\n"), strings.Count(got, "\n"), pkg)
		require.Contains(t, got, want, pkg)
		_, err := parse([]byte(got))
		require.NoError(t, err, pkg)
	}
	require.NotContains(t, string(rewrite("tools/remotecommand", []byte(text))), "wsStreamExecutor")
}
