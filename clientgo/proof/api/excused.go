package main

import "strings"

// excused lists the accepted differences by package, with a part of apidiff's message and a reason.
// It is empty.
var excused []struct{ path, difference, reason string }

// excuse moves the accepted differences out of c.differences. Their identifiers still count as
// missing.
func (c *comparison) excuse() {
	var others []string
	for _, difference := range c.differences {
		found := false
		for _, e := range excused {
			if e.path == c.path && strings.Contains(difference, e.difference) {
				found, c.reason = true, e.reason
				c.excused++
			}
		}
		if !found {
			others = append(others, difference)
		}
	}
	c.differences = others
}

// outlived returns the paths of the excuses that no longer match a difference.
func outlived(all []comparison) (paths []string) {
	for _, e := range excused {
		for _, c := range all {
			if c.path == e.path && c.reason != e.reason {
				paths = append(paths, e.path+": "+e.difference)
			}
		}
	}
	return paths
}
