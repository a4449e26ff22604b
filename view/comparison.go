package view

// Comparer is a [Laboratory] that compares several methods to read the same list. The page draws
// the measurements as a chart: memory over time, with marks at the first and at the last object.
type Comparer interface {
	// Comparison returns the last comparison, or nil if there was none. While a comparison is being
	// measured, it returns the results so far. Each frame includes the result. The program must not
	// change the returned value later.
	Comparison() *Comparison
}

// Comparison has the measurements of several methods to read a list, made one after another.
type Comparison struct {
	// Objects is the number of objects in the list.
	Objects int `json:"objects"`

	// Methods are in the order of the measurements. The last measurement may still be running.
	Methods []ListMethod `json:"ways"`
}

// ListMethod is the measurement of one method to read a list.
type ListMethod struct {
	// Name names the method: "list", "paged", "watchlist".
	Name string `json:"name"`

	// First is the time when the first object was read. All is the time when the store had all
	// objects. Both are in seconds since the measurement began, and 0 until then.
	First float64 `json:"first"`
	All   float64 `json:"all"`

	// Memory is by how much the memory of the process exceeds its size at the beginning of the
	// measurement. Memory includes garbage. Each point has the maximum since the previous point.
	// Every frame includes all points, so there are few of them.
	Memory []MemoryPoint `json:"memory"`

	// Peak is the maximum of Memory, in bytes.
	Peak int64 `json:"peak"`
}

// MemoryPoint is a point of a memory curve: seconds since the measurement began, and bytes.
type MemoryPoint [2]float64
