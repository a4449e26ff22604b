package indexer

import "k8s.io/apimachinery/pkg/util/resourceversion"

// restart is the rule for a resourceVersion that replaces the one before, unless
// nothing is known of it.
func restart(from, to string) string {
	if to == "" || to == "0" {
		return from
	}
	return to
}

// advance is the rule for one that rises and never falls (D15). Where the two
// cannot be compared, what was said last counts.
func advance(from, to string) string {
	if to == "" || to == "0" || to == from {
		return from
	}
	if order, err := resourceversion.CompareResourceVersion(to, from); err == nil && order < 0 {
		return from
	}
	return to
}
