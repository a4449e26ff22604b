package sink

// Use is what becomes of the objects of a list or a watch. It decides what they may share with each other.
type Use uint8

const (
	// Kept is a caller or a store of the program's own, to whom the objects belong.
	Kept Use = iota

	// Cached is the cache of a shared informer, whose objects nobody may change, though some programs do.
	Cached

	// Transformed is a function that may change each object in place.
	Transformed
)
