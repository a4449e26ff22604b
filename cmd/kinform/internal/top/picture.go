package top

// picture is one of the small pictures, each about one idea. It receives every frame, even while it
// is closed, so that it remembers earlier events. It takes the time from the frames, so that it
// moves at the speed of a recording.
type picture interface {
	frame(s *seen)
	lines(width, height int) []line
}

// asking is a picture that requests data from the program when a user opens it.
type asking interface {
	opened()
}

// turning is a picture that handles the arrow keys and Enter. Its method key reports whether the
// picture has used the key.
type turning interface {
	key(name string) bool
}

// about describes a small picture: its key, its id, its box, and its title and introduction, which
// are the same as on the page.
type about struct {
	letter, id, box, title, lead string
}

var pictures = []about{
	{"a", "rulers", "server", "Ages of the truth", "Each stage knows the truth as of some version. The gaps are how stale each one is: a worker acts on what the store has, not on what the server has."},
	{"b", "relist", "reflector", "Relist diff", "When a watch cannot go on (410 Gone), the reflector lists again. An object in the version that the store has is not decoded; an object that is missing was deleted while nobody watched."},
	{"c", "shelf", "fifo", "The shelf", "DeltaFIFO is a shelf with a tray for each object. Changes of an object stand on each other, in order, until the informer takes all trays at once. A tombstone is a delete that was never seen itself."},
	{"d", "lookup", "store", "Index look-up", "An index has the keys of each value ready. Without one, a reader looks at every object."},
	{"e", "resync", "handlers", "Resync or relist", "Two words that sound alike. A resync tells handlers of what the store has, again, and asks the server nothing. A relist asks the server for everything, and tells handlers only of what has changed."},
	{"f", "rings", "queue", "Dirty, processing, queue", "A key that is added while a worker has it is dirty, and not in the queue: so two workers never have it. When the worker is done, it is queued again, once. (Shown slowly: microseconds stay for half a second.)"},
	{"g", "dial", "queue", "Back-off", "A key that fails comes back later, and later each time: the wait doubles, up to a bound. When it succeeds, it is forgotten."},
	{"h", "journey", "workers", "An object's journey", "The way of one change, from the socket to the end of its reconcile, and the time of each part."},
	{"j", "compare", "reflector", "Ways to list", "A first snapshot can be one list, pages, or a watch that begins with all that there is. The ways differ in when the first object comes, when all are there, and how much memory is needed."},
	{"k", "steps", "reflector", "State machine", "What a reflector does next depends on its state and on what the server answers. Choose the answers: the table was made by the reflector itself. In it, the store knows all up to version 10; b@2 is object b at version 2, and b@= is b as the store has it."},
}

func pictureOf(letter string) (about, bool) {
	for _, p := range pictures {
		if p.letter == letter {
			return p, true
		}
	}
	return about{}, false
}

// newPictures makes the small pictures of a pipeline.
func newPictures(s *screen) map[string]picture {
	return map[string]picture{
		"rulers": &rulers{}, "relist": &relist{}, "shelf": newShelf(), "lookup": &lookup{screen: s}, "resync": &resync{},
		"rings": newRings(), "dial": newDial(), "journey": newJourney(), "compare": &compare{}, "steps": &steps{screen: s},
	}
}
