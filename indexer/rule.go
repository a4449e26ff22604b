package indexer

// restart is the rule for a resourceVersion that replaces the one before, unless
// nothing is known of it.
func restart(from, to string) string {
	if to == "" || to == "0" {
		return from
	}
	return to
}

// advance is the rule for one that rises and never falls (D15). Where the two cannot be
// compared, the later transaction's version counts. Every transaction comes here, so
// that only a version which looks lower is looked at closely.
func advance(from, to string) string {
	looksLower := len(to) < len(from) || len(to) == len(from) && to < from
	switch {
	case to == "" || to == "0":
		return from
	case looksLower && isDecimal(to) && isDecimal(from):
		return from
	}
	return to
}

// isDecimal reports whether a version can be compared with others, as KEP-5504
// says: it is a positive decimal number. Of two of them the longer one is higher,
// or else the one that comes later in the alphabet.
func isDecimal(version string) bool {
	if version == "" || version[0] == '0' {
		return false
	}
	for i := 0; i < len(version); i++ {
		if version[i] < '0' || version[i] > '9' {
			return false
		}
	}
	return true
}
