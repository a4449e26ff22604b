package listwatch

// HashUID returns 64 bits that stand for an object's metadata.uid, and 0 for "". It is
// what [Item].UIDHash is. The same UID gives the same number in every process and in
// every version of this module: the number may be kept in a file.
//
// It is there to tell apart two objects that had one name, one after another. The UIDs
// of Kubernetes are random, so two of them have the same number once in 2^64 times:
// then the second object is taken for a change of the first, as it would be without
// UIDs. Text of 36 bytes for each object would cost a store a tenth of what it keeps of
// small ones.
func HashUID[S ~string | ~[]byte](uid S) uint64 {
	if len(uid) == 0 {
		return 0
	}
	// FNV-1a.
	hash := uint64(14695981039346656037)
	for i := range len(uid) {
		hash = (hash ^ uint64(uid[i])) * 1099511628211
	}
	return max(hash, 1)
}

// OtherUID reports whether two numbers that [HashUID] has returned are of different
// objects. Where one of them is 0, its object has no UID or that is not known, and
// nothing tells the two apart.
func OtherUID(a, b uint64) bool { return a != b && a != 0 && b != 0 }
