package indexer

// replaceVersion is the rule of ApplyRelist: the new resourceVersion replaces the old one, unless
// it is "" or "0".
func replaceVersion(from, to string) string {
	if to == "" || to == "0" {
		return from
	}
	return to
}

// advanceVersion is the rule of Apply: the resourceVersion never goes down (D15). If the two
// versions cannot be compared, the version of the later transaction wins. Every transaction calls
// advanceVersion, so it checks the format only of a version that looks lower.
func advanceVersion(from, to string) string {
	looksLower := len(to) < len(from) || len(to) == len(from) && to < from
	switch {
	case to == "" || to == "0":
		return from
	case looksLower && isDecimal(to) && isDecimal(from):
		return from
	}
	return to
}

// isDecimal reports whether a version is a positive decimal number, and so comparable with other
// versions (KEP-5504). Of two such versions, the longer one is higher. If both have the same
// length, the alphabetically later one is higher.
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
