package discovery

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kinform/kinform/internal/spelling"
)

// maxSimilar is the number of names that an error suggests.
const maxSimilar = 3

// similar returns names of resources that the caller may have meant by name, the most likely first.
// It ignores the group in name, because only the group may be wrong.
func similar(resources []Resource, name string) []string {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	type candidate struct {
		name  string
		slips int
	}
	var candidates []candidate
	for _, r := range resources {
		distance := min(spelling.Distance(name, r.Plural), spelling.Distance(name, r.Singular), spelling.Distance(name, strings.ToLower(r.Kind)))
		for _, short := range r.ShortNames {
			if name == short {
				distance = 0
			}
		}
		if distance <= spelling.Tolerance(name) || (len(name) > 2 && strings.HasPrefix(r.Plural, name)) {
			candidates = append(candidates, candidate{r.String(), distance})
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
