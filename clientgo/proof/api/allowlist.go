package main

import "strings"

// allowlist lists the accepted differences by package, with a part of apidiff's message and a
// reason. It is empty.
var allowlist []struct{ path, difference, reason string }

// applyAllowlist moves the accepted differences out of c.differences. Their identifiers still count
// as missing.
func (c *comparison) applyAllowlist() {
	var others []string
	for _, difference := range c.differences {
		found := false
		for _, e := range allowlist {
			if e.path == c.path && strings.Contains(difference, e.difference) {
				found, c.reason = true, e.reason
				c.allowed++
			}
		}
		if !found {
			others = append(others, difference)
		}
	}
	c.differences = others
}

// unusedEntries returns the paths of the allowlist entries that no longer match a difference.
func unusedEntries(all []comparison) (paths []string) {
	for _, e := range allowlist {
		for _, c := range all {
			if c.path == e.path && c.reason != e.reason {
				paths = append(paths, e.path+": "+e.difference)
			}
		}
	}
	return paths
}
