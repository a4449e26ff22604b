package view

// Line is one line of what the page, the terminal and recordings read: JSON, with one of its fields. A stream and
// a recording begin with a Hello; frames follow.
type Line struct {
	Hello *Hello `json:"hello,omitempty"`
	Frame *Frame `json:"frame,omitempty"`
}

// FormatVersion is the version of the format. Readers skip fields that they don't know; it changes only
// when they would be wrong to.
const FormatVersion = 1

// Hello says what the frames after it are about.
type Hello struct {
	Version int    `json:"version"`
	Title   string `json:"title"`

	// Name is the pipeline that the frames are of.
	Name string `json:"name"`

	// Start is when frames begin to count, in milliseconds since 1970, and Every the time between two frames in
	// milliseconds.
	Start int64 `json:"start"`
	Every int64 `json:"every"`

	// Boxes are those of the picture, from left to right, and Numbers what there is in each.
	Boxes   []BoxInfo `json:"boxes"`
	Numbers []Number  `json:"numbers"`

	// Actions are what can be done; see [Laboratory].
	Actions []Action `json:"actions,omitempty"`
}

// BoxInfo describes a box of the picture.
type BoxInfo struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Help  string `json:"help"`
}

// Number describes a number of a box.
type Number struct {
	Box   string `json:"box"`
	ID    string `json:"id"`
	Label string `json:"label"`
	Help  string `json:"help"`

	// Kind is "gauge" for a number that is now, "counter" for one that only grows, which has a rate as
	// well, and "time" for quantiles.
	Kind string `json:"kind"`

	// Unit is "s" for seconds, "B" for bytes, "%" for percent, "" for a count of things, and "bool" for
	// yes (1) and no (0).
	Unit string `json:"unit,omitempty"`
}

// Frame is a pipeline at one moment: an informer, and the queues that its handlers fill. Each stage is of
// one moment; they are read one after another.
type Frame struct {
	// Seq is the number of the frame. Numbers are missing where a viewer was too slow.
	Seq uint64 `json:"seq"`

	// At is the time since Hello.Start in milliseconds.
	At float64 `json:"at"`

	// Boxes are the server, reflector, fifo, store and handlers of the informer, and then for each queue its queue and
	// its workers.
	Boxes []Box `json:"boxes"`

	// Handlers and Indexes are those of the informer.
	Handlers []Handler `json:"handlers,omitempty"`
	Indexes  []Index   `json:"indexes,omitempty"`

	// Versions are how far each stage is.
	Versions Versions `json:"versions"`

	// Keys are those of each queue, by its name, as far as they are few enough to be shown.
	Keys map[string]Keys `json:"keys,omitempty"`

	// Wrong says what is wrong, the worst first; empty if nothing is.
	Wrong []string `json:"wrong,omitempty"`

	// Events are a sample of what happened since the frame before, in the order of their times. Of the
	// objects, one of Scale is in the sample, with all of its events; Lost events had no
	// room.
	Events []Event `json:"events,omitempty"`
	Scale  uint64  `json:"scale"`
	Lost   uint64  `json:"lost,omitempty"`

	// Laboratory is the state of the laboratory, such as what is paused.
	Laboratory map[string]string `json:"laboratory,omitempty"`

	// Comparison is what the laboratory has measured; see [Comparer].
	Comparison *Comparison `json:"comparison,omitempty"`

	Cost Cost `json:"cost"`
}

// Box has the numbers of a box, by their ids. Those that are not known are absent.
type Box struct {
	ID string `json:"id"`

	// Name is that of the queue, for a box of one, else that of the informer.
	Name string `json:"name"`

	// State is a word or a few, such as "watching".
	State string `json:"state,omitempty"`

	// Numbers are gauges and counters, Rates the counters' rates a second, over about the last second, and
	// Times the quantiles of times.
	Numbers map[string]float64 `json:"n,omitempty"`
	Rates   map[string]float64 `json:"r,omitempty"`
	Times   map[string]Times   `json:"t,omitempty"`
}

// Handler is the state of one handler.
type Handler struct {
	Name      string  `json:"name"`
	Synced    bool    `json:"synced"`
	Waiting   int     `json:"waiting"`
	Oldest    float64 `json:"oldest"` // seconds
	Delivered uint64  `json:"delivered"`
	Coalesced uint64  `json:"coalesced"`
	Panics    uint64  `json:"panics"`
	Wait      Times   `json:"wait"`
	Run       Times   `json:"run"`
}

// Index is an index of the store.
type Index struct {
	Name   string `json:"name"`
	Values int    `json:"values"`
}

// Versions are resourceVersions, "" where they are not known.
type Versions struct {
	Server    string `json:"server,omitempty"`
	Oldest    string `json:"oldest,omitempty"`
	Reflector string `json:"reflector,omitempty"`
	Fifo      string `json:"fifo,omitempty"`
	Store     string `json:"store,omitempty"`
}

// Keys are the keys of a queue, those with workers first, then the ready ones, then those that wait.
type Keys struct {
	// All is how many there are. List has the first ones of them. It is empty if there are too many to
	// look at.
	All  int   `json:"all"`
	List []Key `json:"list,omitempty"`

	// Levels are how many of the ready ones are of which priority, the highest first.
	Levels []Level `json:"levels,omitempty"`

	// Limits describe the rate limiter of the queue, as far as they are known.
	Limits *Limits `json:"limits,omitempty"`
}

// Level is how many keys of a priority are ready.
type Level struct {
	Priority int `json:"priority"`
	Ready    int `json:"ready"`
}

// Limits describe a rate limiter; see workqueue.Limits. What is not known is 0.
type Limits struct {
	// Base and Longest are of the wait of each key, in seconds.
	Base    float64 `json:"base,omitempty"`
	Longest float64 `json:"longest,omitempty"`

	// Burst, PerSecond and Tokens are of the bucket that all keys have in common.
	Burst     int     `json:"burst,omitempty"`
	PerSecond float64 `json:"perSecond,omitempty"`
	Tokens    float64 `json:"tokens"`
}

// Key is a key of a queue.
type Key struct {
	Key string `json:"key"`

	// Processing, Dirty, Ready and Parked are those of workqueue.KeyState.
	Processing bool `json:"processing,omitempty"`
	Dirty      bool `json:"dirty,omitempty"`
	Ready      bool `json:"ready,omitempty"`
	Parked     bool `json:"parked,omitempty"`

	// For is for how long it has been with a worker or ready, and In how long until it is due, in
	// seconds; 0 where that does not apply.
	For float64 `json:"for,omitempty"`
	In  float64 `json:"in,omitempty"`

	Adds     int `json:"adds,omitempty"`
	Retries  int `json:"retries,omitempty"`
	Priority int `json:"priority,omitempty"`
}

// Cost is what the view itself costs.
type Cost struct {
	// Viewers is how many look now, at any pipeline.
	Viewers int `json:"viewers"`

	// Building is the time that it took to make the frame before this one, and Share that of a
	// second, in percent of one processor.
	Building float64 `json:"building"`
	Share    float64 `json:"share"`

	// Bytes is the size of the frame before this one.
	Bytes int `json:"bytes"`
}
