// Package spelling finds names that are similar to a misspelt one.
package spelling

import (
	"cmp"
	"slices"
)

// Similar returns the names that the writer of word may have meant, the most likely first.
func Similar(word string, names []string) []string {
	type candidate struct {
		name  string
		edits int
	}
	var candidates []candidate
	for _, name := range names {
		if edits := Distance(word, name); edits <= Tolerance(word) {
			candidates = append(candidates, candidate{name, edits})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.edits, b.edits) })
	similar := make([]string, len(candidates))
	for i, c := range candidates {
		similar[i] = c.name
	}
	return similar
}

// Tolerance returns how many wrong letters a similar word may have, for a word of this length.
func Tolerance(word string) int { return min(1+len(word)/4, 3) }

// Distance returns the number of letters to insert, remove or exchange to get from a to b
// (Levenshtein). It keeps only one row of the table in memory.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
