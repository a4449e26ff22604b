package top

// picture is one of the small pictures, each about one idea. It receives every frame, even while it
// is closed, so that it remembers earlier events. It takes the time from the frames, so that it
// moves at the speed of a recording.
type picture interface {
	frame(s *frameData)
	lines(width, height int) []line
}

// fetchingPicture is a picture that requests data from the program when a user opens it.
type fetchingPicture interface {
	opened()
}

// keyPicture is a picture that handles the arrow keys and Enter. Its method key reports whether the
// picture has used the key.
type keyPicture interface {
	key(name string) bool
}

// pictureInfo describes a small picture: its key, its id, its box, and its title and introduction,
// which are the same as on the page.
type pictureInfo struct {
	letter, id, box, title, introduction string
}

var pictures = []pictureInfo{
	{"a", "rulers", "server", "Ages of the truth", "Each stage knows the state of the cluster up to some version. The gap shows how stale a stage is: a worker acts on the state in the store, not on the state on the server."},
	{"b", "relist", "reflector", "Relist diff", "When a watch cannot continue (410 Gone), the reflector lists again. It does not decode an object that the store has in the same version. An object that is missing was deleted while nobody watched."},
	{"c", "shelf", "fifo", "The shelf", "DeltaFIFO is a shelf with a tray for each object. The changes of an object are stacked, in order, until the informer takes all trays at once. A tombstone is a delete that no event reported."},
	{"d", "lookup", "store", "Index look-up", "An index has the keys of each value ready. Without an index, a reader must look at every object."},
	{"e", "resync", "handlers", "Resync or relist", "A resync calls the handlers again for every object in the store, and sends no request to the server. A relist requests all objects from the server, and calls the handlers only for changed objects."},
	{"f", "rings", "queue", "Dirty, processing, queue", "A key that is added while a worker has it is dirty, but not in the queue, so two workers never have the same key. When the worker is done, the key is queued again, once. (The picture is slow.)"},
	{"g", "dial", "queue", "Back-off", "A key that fails comes back later, and each failure in a row doubles the wait, up to a bound. A success ends the back-off."},
	{"h", "journey", "workers", "An object's journey", "The path of one change, from the socket to the end of its reconcile, and the time of each part."},
	{"j", "compare", "reflector", "Ways to list", "A first snapshot can be one list, pages, or a watch that begins with all objects. The ways differ in when the first object arrives, when all objects have arrived, and how much memory is needed."},
	{"k", "steps", "reflector", "State machine", "The next step of a reflector depends on its state and on the server's response. Choose the responses: the reflector itself generated the table. In it, the store knows all changes up to version 10; b@2 is object b at version 2, and b@= is b as the store has it."},
}

func pictureByLetter(letter string) (pictureInfo, bool) {
	for _, p := range pictures {
		if p.letter == letter {
			return p, true
		}
	}
	return pictureInfo{}, false
}

// newPictures makes the small pictures of a pipeline.
func newPictures(s *screen) map[string]picture {
	return map[string]picture{
		"rulers": &versionsPicture{}, "relist": &relistPicture{}, "shelf": newFIFOPicture(), "lookup": &lookupPicture{screen: s}, "resync": &resyncPicture{},
		"rings": newQueuePicture(), "dial": newBackoffPicture(), "journey": newJourneyPicture(), "compare": &comparePicture{}, "steps": &statePicture{screen: s},
	}
}
