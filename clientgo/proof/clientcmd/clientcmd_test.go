// Package clientcmd compares clientgo/tools/clientcmd with client-go's package. It compares the
// results of files, overrides and flags.
package clientcmd_test

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/clientgo/proof/internal/sides"
)

// differences maps each document whose result differs from client-go's to the reason.
var differences = map[string]string{
	"proxy bad":      "an error does not contain an unparsable address, which may have a password",
	"same name":      "the error names duplicate entries, and omits their content, which may be secret",
	"same extension": "the error names duplicate entries, and omits their content, which may be secret",
}

func TestKubeconfigsLoadLikeInClientGo(t *testing.T) {
	theirs, ours := try(t, sides.ClientGo), try(t)
	require.Greater(t, len(ours), 500)
	different := 0
	for _, key := range slices.Sorted(maps.Keys(theirs)) {
		if theirs[key] == ours[key] {
			continue
		}
		if isKnown(key) {
			different++
			continue
		}
		t.Errorf("%s\nclient-go: %s\nhere:      %s", key, theirs[key], ours[key])
	}
	require.Len(t, ours, len(theirs))
	t.Logf("%d lines, %d of which are known to differ", len(ours), different)
}

func isKnown(key string) bool {
	for document := range differences {
		if strings.HasPrefix(key, document+" ") {
			return true
		}
	}
	return false
}

// try returns the output of the program with one of the modules, as a map. In each line, the text
// before the colon is the key, and the rest is the value.
func try(t *testing.T, flags ...string) map[string]string {
	lines := map[string]string{}
	for line := range strings.Lines(sides.Output(t, exec.Command(sides.Build(t, "./try", flags...)))) {
		key, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		require.NotContains(t, lines, key)
		lines[key] = text
	}
	return lines
}
