package view

// Comparer is a [Laboratory] that compares ways to read the same list. The page draws the
// measurements as a chart: memory over time, with marks at the first and at the last object.
type Comparer interface {
	// Comparison returns the last comparison, also while it is being measured, or nil. Each frame
	// includes it, and the value that it points to must not change.
	Comparison() *Comparison
}

// Comparison has the measurements of several ways to read a list, made one after another.
type Comparison struct {
	// Objects is the number of objects in the list.
	Objects int `json:"objects"`

	// Ways are in the order of the measurements. The last one may still be running.
	Ways []Way `json:"ways"`
}

// Way is the measurement of one way to read a list.
type Way struct {
	// Name names the way: "list", "paged", "watchlist".
	Name string `json:"name"`

	// First is when the first object had been read, and All when the store had all objects. Both
	// are in seconds since the beginning, and 0 until then.
	First float64 `json:"first"`
	All   float64 `json:"all"`

	// Memory is the memory of the process above its level at the beginning, including garbage. Each
	// moment has the maximum since the moment before. Every frame includes all moments, so there
	// are few of them.
	Memory []Moment `json:"memory"`

	// Peak is the maximum of Memory, in bytes.
	Peak int64 `json:"peak"`
}

// Moment is a pair: seconds since the way began, and bytes.
type Moment [2]float64
