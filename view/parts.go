package view

// Parts are all pipelines of a view, for a page that is an index of them.
type Parts struct {
	Title string `json:"title"`

	// Parts are the informers, and then the queues, each in the order in which they were added.
	Parts []Part `json:"parts"`

	// Recording is whether there is one that the page opens: see Options.Recording.
	Recording bool `json:"recording,omitempty"`
}

// Part is one pipeline of the index.
type Part struct {
	Name string `json:"name"`

	// Kind is "informer" or "queue".
	Kind string `json:"kind"`

	// State is the reflector's phase, of an informer.
	State string `json:"state,omitempty"`

	// Objects are those in the store, or the keys in the queue that wait for a worker.
	Objects int    `json:"objects"`
	Events  uint64 `json:"events"`
	Waiting int    `json:"waiting"`
	Synced  bool   `json:"synced"`

	// Wrong says what is wrong, the worst first; empty if nothing is.
	Wrong []string `json:"wrong,omitempty"`
}

// Parts returns the state of all informers and queues. It is cheap enough to be asked every second.
func (v *View) Parts() Parts {
	informers, queues := v.all()
	all := Parts{Title: clean(v.opts.Title), Parts: []Part{}, Recording: v.opts.Recording != nil}
	for _, i := range informers {
		s := i.status()
		part := Part{Name: i.name, Kind: "informer", State: phaseOf(s.Reflector), Objects: s.Store.Objects,
			Events: s.Reflector.Events, Synced: s.Synced, Wrong: wrongOf(s)}
		for _, h := range s.Handlers {
			part.Waiting += h.Waiting
		}
		all.Parts = append(all.Parts, part)
	}
	for _, q := range queues {
		s := q.stats()
		all.Parts = append(all.Parts, Part{Name: q.name, Kind: "queue", Objects: s.Ready, Events: s.Dones,
			Waiting: s.Delayed, Synced: true, Wrong: wrongOfQueue(s, q.inspect(s), q.rec)})
	}
	return all
}
