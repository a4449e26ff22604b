package view

// Comparer is a [Laboratory] that compares ways to read the same list. The page draws the
// measurements as a chart: memory over time, with marks at the first and at the last object.
type Comparer interface {
	// Comparison returns the last comparison, or nil if there was none. While a comparison is being
	// measured, it returns the results so far. Each frame includes the result. The value that the
	// pointer points to must not change.
	Comparison() *Comparison
}

// Comparison has the measurements of several ways to read a list, made one after another.
type Comparison struct {
	// Objects is the number of objects in the list.
	Objects int `json:"objects"`

	// Methods are in the order of the measurements. The last measurement may still be running.
	Methods []ListMethod `json:"ways"`
}

// ListMethod is the measurement of one way to read a list.
type ListMethod struct {
	// Name names the way: "list", "paged", "watchlist".
	Name string `json:"name"`

	// First is the time when the first object had been read. All is the time when the store had all
	// objects. Both are in seconds since the measurement began, and 0 until then.
	First float64 `json:"first"`
	All   float64 `json:"all"`

	// Memory is how far the memory of the process is above its level at the beginning of the
	// measurement, including garbage. Each moment has the maximum since the previous moment. Every
	// frame includes all moments, so there are few of them.
	Memory []MemoryPoint `json:"memory"`

	// Peak is the maximum of Memory, in bytes.
	Peak int64 `json:"peak"`
}

// MemoryPoint is a point of a curve of memory: the seconds since the measurement began, and bytes.
type MemoryPoint [2]float64
