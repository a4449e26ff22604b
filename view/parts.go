package view

// Parts lists all pipelines of a view, for an index page.
type Parts struct {
	Title string `json:"title"`

	// Parts are the informers, then the queues, each in the order in which they were added.
	Parts []Part `json:"parts"`

	// Recording reports whether Options.Recording is set, so that the page can open it.
	Recording bool `json:"recording,omitempty"`
}

// Part is one pipeline in the index.
type Part struct {
	Name string `json:"name"`

	// Kind is "informer" or "queue".
	Kind string `json:"kind"`

	// State is the reflector's phase, for an informer.
	State string `json:"state,omitempty"`

	// Objects is the number of objects in the store, or of ready keys in the queue.
	Objects int    `json:"objects"`
	Events  uint64 `json:"events"`
	Waiting int    `json:"waiting"`
	Synced  bool   `json:"synced"`

	// Wrong lists the problems, the worst first. It is empty if there are no problems.
	Wrong []string `json:"wrong,omitempty"`
}

// Parts returns the state of all informers and queues. It is cheap enough to call every second.
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
