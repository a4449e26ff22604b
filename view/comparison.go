package view

// Comparer is a [Laboratory] that measures ways of reading one and the same list. The page draws what it has measured, as a
// chart: memory over time, with marks at the first object and at the last one.
type Comparer interface {
	// Comparison is the last one, also while it is measured; nil if there is none. It is part of each frame, and what it
	// points to does not change.
	Comparison() *Comparison
}

// Comparison is what ways of reading a list have taken, one after another.
type Comparison struct {
	// Objects is how many there are in the list.
	Objects int `json:"objects"`

	// Ways are in the order in which they were measured. The last one may not have ended.
	Ways []Way `json:"ways"`
}

// Way is a way of reading a list.
type Way struct {
	// Name names the way: "list", "paged", "watchlist".
	Name string `json:"name"`

	// First is when the first object had been read, and All when all were in the store, in seconds since it began; 0 until then.
	First float64 `json:"first"`
	All   float64 `json:"all"`

	// Memory is how much more the process had than at the beginning, what is garbage included: the most since the moment
	// before. There are few enough moments for each frame to have them.
	Memory []Moment `json:"memory"`

	// Peak is the most of Memory, in bytes.
	Peak int64 `json:"peak"`
}

// Moment is a time in seconds since the way began, and bytes.
type Moment [2]float64
