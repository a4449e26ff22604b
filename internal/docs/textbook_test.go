package docs

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// endOfFile matches the start of the last comment in each file of the textbook.
var endOfFile = regexp.MustCompile(`^(Package|Packages|The other packages) .* more than this file, for these reasons:`)

// Each file of package plain begins with its idea, and ends with the differences from the tuned
// package. A reader can read all files together in an evening.
func TestTextbookFilesAreShortAndWellFormed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root, "plain", "*.go"))
	require.NoError(t, err)
	lines := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lines += linesOfCode(text)
		if filepath.Base(file) == "doc.go" {
			continue
		}
		require.Regexp(t, `^// The [^.]+\. `, string(text), "%s does not begin with its idea", file)
		end := string(text[strings.LastIndex(string(text), "}\n\n// ")+len("}\n\n"):])
		end = strings.Join(strings.Fields(strings.ReplaceAll(end, "//", "")), " ")
		require.Regexp(t, endOfFile, end, "%s must end with a comment on what the tuned package does in addition, and why", file)
	}
	require.LessOrEqual(t, lines, 820, "lines of code, without comments, blank lines, imports and package clauses")
}

// linesOfCode counts the lines that have code, without imports and package clauses.
func linesOfCode(text []byte) int {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	seen, importing, depth := map[int]bool{}, false, 0
	for {
		at, kind, literal := s.Scan()
		switch {
		case kind == token.EOF:
			return len(seen)
		case kind == token.IMPORT || kind == token.PACKAGE:
			importing = true
		case kind == token.LPAREN:
			depth++
		case kind == token.RPAREN:
			depth--
		}
		if !importing && kind != token.SEMICOLON {
			for n := range strings.Count(literal, "\n") + 1 {
				seen[set.Position(at).Line+n] = true
			}
		}
		if importing && kind == token.SEMICOLON && depth == 0 {
			importing = false
		}
	}
}
