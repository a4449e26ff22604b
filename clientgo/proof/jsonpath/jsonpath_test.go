// Package jsonpath compares clientgo/util/jsonpath with client-go's package, expression by
// expression.
package jsonpath_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/clientgo/proof/internal/sides"
)

// differences maps each expression whose result differs from client-go's to the reason.
var differences = map[string]string{
	`{.}`:                              "an empty name does not find an embedded struct",
	`{.@}`:                             "an empty name does not find an embedded struct",
	`{.$}`:                             "an empty name does not find an embedded struct",
	`{. name}`:                         "an empty name does not find an embedded struct",
	`{...}`:                            "an empty name does not find an embedded struct",
	`{['']}`:                           "an empty name does not find an embedded struct",
	`{range .nothing[*]}{.name}{end}x`: "a range without values has no output",
	`{range .missing[*]}{.name}{end}x`: "a range without values has no output",
	`{range .items[*]}{.name}`:         "a range without an end ends with the expression",
	`{.items[*].ports[*]}`:             "an empty list does not end the search",
	`{.items[?(@.ports[5])].name}`:     "an operand whose evaluation fails counts as missing",
	`{.items[?(@[0])].name}`:           "an operand whose evaluation fails counts as missing",
	`{.s.*}`:                           "a string has no elements",
	`{"\\"}`:                           "a backslash may be the last character of a string",
	`{.items[?('a=b'=='a=b')].name}`:   "a string may contain a comparison operator",
	`{range ..labels}{.app}{end}`:      "a range without values has no output",
	`{.items[*] end}`:                  "an end without a range is reported first",
	`{range .items[*] end}`:            "an end without a range is reported first",
	`{.items[?(@.ports[1])].name}`:     "an operand whose evaluation fails counts as missing",
}

func TestExpressionsEvaluateLikeInClientGo(t *testing.T) {
	expressions, err := os.ReadFile("expressions.txt")
	require.NoError(t, err)
	corpus, err := filepath.Glob("../../util/jsonpath/testdata/fuzz/FuzzExpression/*")
	require.NoError(t, err)
	require.NotEmpty(t, corpus)
	for _, name := range corpus {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		_, value, _ := strings.Cut(string(text), "string(")
		expressions = append(expressions, strings.TrimSuffix(strings.TrimSpace(value), ")")+"\n"...)
	}
	theirs, ours := try(t, expressions, sides.ClientGo), try(t, expressions)
	require.Len(t, ours, bytes.Count(expressions, []byte("\n")))
	different := 0
	for i, our := range ours {
		expression, err := strconv.Unquote(our[0])
		require.NoError(t, err)
		equal := same(theirs[i], our)
		if _, known := differences[expression]; known {
			if !equal {
				different++
			}
			continue
		}
		if equal {
			continue
		}
		for n, line := range our {
			if n >= len(theirs[i]) || line != theirs[i][n] {
				t.Errorf("%s\nclient-go: %.200s\nhere:      %.200s", expression, strings.Join(theirs[i][min(n, len(theirs[i])):], "\n"), line)
				break
			}
		}
	}
	t.Logf("%d expressions, %d of which are known to differ", len(ours), different)
}

// same reports whether an expression has the same results. If client-go panics, any result is
// accepted.
func same(theirs, ours []string) bool {
	if len(theirs) != len(ours) {
		return false
	}
	for i := range ours {
		if strings.HasSuffix(ours[i], ": panic") || (theirs[i] != ours[i] && !strings.HasSuffix(theirs[i], ": panic")) {
			return false
		}
	}
	return true
}

// try evaluates expressions with one of the modules. It returns the output lines of each
// expression.
func try(t *testing.T, expressions []byte, flags ...string) (blocks [][]string) {
	program := exec.Command(sides.Build(t, "./try", flags...))
	program.Stdin = bytes.NewReader(expressions)
	for line := range strings.Lines(sides.Output(t, program)) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "\t") {
			blocks = append(blocks, nil)
		}
		blocks[len(blocks)-1] = append(blocks[len(blocks)-1], line)
	}
	return blocks
}
