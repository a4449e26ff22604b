package view

// Line is one JSON line of a stream or a recording, with exactly one field set. The first line has
// a Hello. All other lines have frames.
type Line struct {
	Hello *Hello `json:"hello,omitempty"`
	Frame *Frame `json:"frame,omitempty"`
}

// FormatVersion is the version of the format. Readers skip unknown fields. The version changes only
// if skipping them would be wrong.
const FormatVersion = 1

// Hello describes the frames that follow it.
type Hello struct {
	Version int    `json:"version"`
	Title   string `json:"title"`

	// Name is the pipeline of the frames.
	Name string `json:"name"`

	// Start is the time 0 of the frames, in milliseconds since 1970. FrameInterval is the time
	// between two frames in milliseconds.
	Start         int64 `json:"start"`
	FrameInterval int64 `json:"every"`

	// Boxes are the boxes of the picture, from left to right, and Numbers the numbers in them.
	Boxes   []BoxInfo `json:"boxes"`
	Numbers []Number  `json:"numbers"`

	// Actions are the available actions; see [Laboratory].
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

	// Kind is "gauge" for a current value, "counter" for a value that only grows and also has a
	// rate, and "time" for quantiles.
	Kind string `json:"kind"`

	// Unit is "s" for seconds, "B" for bytes, "%" for percent, "" for a count, and "bool" for yes
	// (1) and no (0).
	Unit string `json:"unit,omitempty"`
}

// Frame is the state of a pipeline at one time: an informer, and the queues that its handlers fill.
// The view reads the stages one after another, so two stages may be a little apart in time.
type Frame struct {
	// Seq is the number of the frame. A slow viewer misses some frames, and so their numbers.
	Seq uint64 `json:"seq"`

	// At is the time since Hello.Start in milliseconds.
	At float64 `json:"at"`

	// Boxes are the server, reflector, fifo, store and handlers of the informer. The queue and the
	// workers of each queue follow.
	Boxes []Box `json:"boxes"`

	// Handlers and Indexes are the handlers and indexes of the informer.
	Handlers []Handler `json:"handlers,omitempty"`
	Indexes  []Index   `json:"indexes,omitempty"`

	// Versions are the versions that the stages have reached.
	Versions Versions `json:"versions"`

	// Keys are the keys of each queue, by the queue's name, if they are few enough to show.
	Keys map[string]Keys `json:"keys,omitempty"`

	// Problems lists the problems, the worst first. It is empty if there are no problems.
	Problems []string `json:"wrong,omitempty"`

	// Events are a sample of the events since the previous frame, sorted by time. If the number
	// Scale is n, the sample has about one in n objects, with all events of these objects. Lost is
	// the number of events that did not fit.
	Events []Event `json:"events,omitempty"`
	Scale  uint64  `json:"scale"`
	Lost   uint64  `json:"lost,omitempty"`

	// Laboratory is the state of the laboratory, for example its paused stages.
	Laboratory map[string]string `json:"laboratory,omitempty"`

	// Comparison has the measurements of the laboratory; see [Comparer].
	Comparison *Comparison `json:"comparison,omitempty"`

	Cost Cost `json:"cost"`
}

// Box has the numbers of a box, by their ids. A number is absent if its value is unknown.
type Box struct {
	ID string `json:"id"`

	// Name is the name of the queue for a queue's box, else the name of the informer.
	Name string `json:"name"`

	// State describes the state in one or a few words, such as "watching".
	State string `json:"state,omitempty"`

	// Numbers are gauges and counters. Rates are the rates of the counters per second, over about
	// the last second. Times are quantiles.
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

// Versions are resourceVersions, or "" if they are not known.
type Versions struct {
	Server    string `json:"server,omitempty"`
	Oldest    string `json:"oldest,omitempty"`
	Reflector string `json:"reflector,omitempty"`
	Fifo      string `json:"fifo,omitempty"`
	Store     string `json:"store,omitempty"`
}

// Keys are the keys of a queue: first the keys that workers have, then the ready keys, then the
// waiting keys.
type Keys struct {
	// All is the number of keys, and List has the first keys. List is empty if the queue has too
	// many keys to inspect.
	All  int   `json:"all"`
	List []Key `json:"list,omitempty"`

	// Levels count the ready keys by priority, the highest priority first.
	Levels []PriorityLevel `json:"levels,omitempty"`

	// Limits describe the rate limiter of the queue, as far as they are known.
	Limits *Limits `json:"limits,omitempty"`
}

// PriorityLevel is the number of ready keys of a priority.
type PriorityLevel struct {
	Priority int `json:"priority"`
	Ready    int `json:"ready"`
}

// Limits describe a rate limiter; see workqueue.Limits. An unknown value is 0.
type Limits struct {
	// BaseWait and MaxWait limit the wait of each key, in seconds.
	BaseWait float64 `json:"base,omitempty"`
	MaxWait  float64 `json:"longest,omitempty"`

	// Burst, PerSecond and Tokens describe the token bucket that all keys share.
	Burst     int     `json:"burst,omitempty"`
	PerSecond float64 `json:"perSecond,omitempty"`
	Tokens    float64 `json:"tokens"`
}

// Key is a key of a queue.
type Key struct {
	Key string `json:"key"`

	// Processing, Dirty, Ready and Parked are as in workqueue.KeyState.
	Processing bool `json:"processing,omitempty"`
	Dirty      bool `json:"dirty,omitempty"`
	Ready      bool `json:"ready,omitempty"`
	Parked     bool `json:"parked,omitempty"`

	// Age is how long a worker has had the key, or how long the key has been ready. DueIn is the
	// time until the key is due. Both are in seconds, or 0 if they do not apply.
	Age   float64 `json:"for,omitempty"`
	DueIn float64 `json:"in,omitempty"`

	Adds     int `json:"adds,omitempty"`
	Retries  int `json:"retries,omitempty"`
	Priority int `json:"priority,omitempty"`
}

// Cost is the cost of the view itself.
type Cost struct {
	// Viewers is the number of viewers of all pipelines.
	Viewers int `json:"viewers"`

	// Building is the time in seconds that it took to make the previous frame. Share is a running
	// average of that time relative to the frame interval, in percent of one processor.
	Building float64 `json:"building"`
	Share    float64 `json:"share"`

	// Bytes is the size of the previous frame.
	Bytes int `json:"bytes"`
}
