package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/bench/internal/report"
)

// quick returns an output of all programs with -quick. Its numbers have no meaning.
func quick(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "quick.txt"))
	require.NoError(t, err)
	return string(data)
}

func TestEveryNumberIsFound(t *testing.T) {
	t.Parallel()
	text, err := filled(quick(t))
	require.NoError(t, err)
	require.Contains(t, text, "| binary | 29.5 MB | 9.9 MB | 11.4 MB | – | 0.9 |")
	require.Contains(t, text, "| first sync, wall, JSON | 1.14 s | 0.72 s | 0.37 s | 1.45 s | 1.9 |")
	require.Contains(t, text, "| first sync, wall, protobuf | 0.14 s | – | 0.07 s | 0.22 s | – |")
	require.Contains(t, text, "| watch, events, JSON | 2498 per s | 3075 per s | 15004 per s | 4287 per s | 4.9 |")
	require.Contains(t, text, "| update, index values as before | 356 ns | 1515 ns | 309 ns | – | 4.9 |")
	require.Contains(t, text, "| iterate over all objects | 37.7 µs | 23.3 µs | 10.4 µs | – | 2.2 |")
	require.Contains(t, text, "| from Add to Get, uniform, 4 workers, p50 | 1.1 µs | 6271.5 µs | 827.1 µs | – | 7.6 |")
	require.Contains(t, text, "Jain's index) | 0.46 | 0.46 | 1.00 | – | 2.2 |")
	require.Contains(t, text, "\nMeasured 2026-11-22 18:17 UTC, commit a887ef8be9c5, client-go v0.37.2; AMD EPYC, GOMAXPROCS 2")
	require.Equal(t, strings.Count(empty(), "\n"), strings.Count(text, "\n"))
}

func TestARowThatIsMissingIsAnError(t *testing.T) {
	t.Parallel()
	_, err := filled(strings.ReplaceAll(quick(t), "update, index values as before", "update, index values as ever "))
	require.ErrorContains(t, err, `no value in row "update, index values as before"`)
}

func TestThereIsNoFactorWithoutANumber(t *testing.T) {
	t.Parallel()
	require.Equal(t, none, trick{}.factor("32 B", "0 B"))
	require.Equal(t, none, trick{}.factor(none, "2 s"))
	require.Equal(t, "2.0", trick{}.factor("4 s", "2 s"))
	require.Equal(t, "0.5", trick{moreIsBetter: true}.factor("4 per s", "2 per s"))
}

func TestTheTableOfADocumentIsReplaced(t *testing.T) {
	t.Parallel()
	document := "# plain\n\n" + begin + "old\n" + end + "\nmore\n"
	replaced, err := replace(document, "new\n")
	require.NoError(t, err)
	require.Equal(t, "# plain\n\n"+begin+"new\n"+end+"\nmore\n", replaced)
	_, err = replace("# plain\n", "new\n")
	require.ErrorContains(t, err, "are missing")
}

var numbers = regexp.MustCompile(`(?m)^(\| [^|*]+ \|)([^|]*\|){5}`)

// If the rows in this package have changed, the table must be written again.
func TestTheTextbooksREADMEHasTheTable(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "plain", "README.md"))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(data), begin)
	written, _, found := strings.Cut(rest, end)
	require.True(t, found)
	table := func(text string) string {
		// without the line below it, which says when it was measured
		rows, _, _ := strings.Cut(text, "\n\n")
		return rows
	}
	blank := func(text string) string { return strings.TrimSpace(numbers.ReplaceAllString(text, "$1 | | | | |")) }
	require.Equal(t, blank(table(empty())), blank(table(written)))
}

func TestEachRowShowsDifferentNumbers(t *testing.T) {
	t.Parallel()
	seen := map[cellRef]string{}
	for _, g := range groups {
		for _, r := range g.tricks {
			require.NotEmpty(t, r.trick, r.what)
			require.Empty(t, seen[r.kinform], r.what)
			seen[r.kinform] = r.what
		}
	}
	require.Len(t, report.Parse(quick(t)), 11)
}
