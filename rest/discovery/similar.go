package discovery

import (
	"cmp"
	"slices"
	"strings"
)

// maxSimilar is how many names an error suggests.
const maxSimilar = 3

// similar returns the names of those resources that name is likely a slip for,
// the likeliest first. A group in name is passed over: the right name in the
// wrong group is a slip, too.
func similar(resources []Resource, name string) []string {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	type candidate struct {
		name  string
		slips int
	}
	var candidates []candidate
	for _, r := range resources {
		slips := min(distance(name, r.Plural), distance(name, r.Singular), distance(name, strings.ToLower(r.Kind)))
		for _, short := range r.ShortNames {
			if name == short {
				slips = 0
			}
		}
		if slips <= tolerance(name) || (len(name) > 2 && strings.HasPrefix(r.Plural, name)) {
			candidates = append(candidates, candidate{r.String(), slips})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.slips, b.slips) })
	var names []string
	for _, c := range candidates {
		if len(names) < maxSimilar && !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// tolerance is how many slips a word of this length may have.
func tolerance(word string) int { return min(1+len(word)/4, 3) }

// distance is the number of letters to insert, remove or exchange to get from a
// to b (Levenshtein). It keeps one row of the table at a time.
func distance(a, b string) int {
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
