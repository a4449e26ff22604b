package listwatch

// HashUID returns 64 bits that stand for an object's metadata.uid, and 0 for "". It computes
// [Item].UIDHash. The number of a UID is the same in every process and in every version of this
// module, so it may be stored in a file.
//
// The number distinguishes two objects that had the same name, one after the other. Kubernetes'
// UIDs are random, so two of them have the same number once in 2^64 cases. In that case the second
// object looks like a change of the first. The UID itself would take 36 bytes for each object, a
// tenth of the memory that a store needs for a small object.
func HashUID[S ~string | ~[]byte](uid S) uint64 {
	if len(uid) == 0 {
		return 0
	}
	// The algorithm is FNV-1a.
	hash := uint64(14695981039346656037)
	for i := range len(uid) {
		hash = (hash ^ uint64(uid[i])) * 1099511628211
	}
	return max(hash, 1)
}

// OtherUID reports whether two results of [HashUID] belong to different objects. It returns false
// if one of them is 0, because that object has no UID or an unknown UID.
func OtherUID(a, b uint64) bool { return a != b && a != 0 && b != 0 }
