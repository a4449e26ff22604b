package view

// Pipelines lists all pipelines of a view, for an index page.
type Pipelines struct {
	Title string `json:"title"`

	// Pipelines are the informers, then the queues, each in the order in which they were added.
	Pipelines []Pipeline `json:"parts"`

	// Recording reports whether Options.Recording is set, so that the page can open it.
	Recording bool `json:"recording,omitempty"`
}

// Pipeline is one pipeline in the index.
type Pipeline struct {
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

	// Problems lists the problems, the worst first. It is empty if there are no problems.
	Problems []string `json:"wrong,omitempty"`
}

// Pipelines returns the state of all informers and queues. It is cheap enough to call every second.
func (v *View) Pipelines() Pipelines {
	informers, queues := v.all()
	all := Pipelines{Title: clean(v.opts.Title), Pipelines: []Pipeline{}, Recording: v.opts.Recording != nil}
	for _, i := range informers {
		s := i.status()
		part := Pipeline{Name: i.name, Kind: "informer", State: phaseOf(s.Reflector), Objects: s.Store.Objects,
			Events: s.Reflector.Events, Synced: s.Synced, Problems: problemsOf(s)}
		for _, h := range s.Handlers {
			part.Waiting += h.Waiting
		}
		all.Pipelines = append(all.Pipelines, part)
	}
	for _, q := range queues {
		s := q.stats()
		all.Pipelines = append(all.Pipelines, Pipeline{Name: q.name, Kind: "queue", Objects: s.Ready, Events: s.Dones,
			Waiting: s.Delayed, Synced: true, Problems: queueProblems(s, q.inspect(s), q.rec)})
	}
	return all
}
