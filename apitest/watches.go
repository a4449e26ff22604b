package apitest

import "sync"

// watches are the open watches.
type watches struct {
	mu   sync.Mutex // guards following
	open map[*watcher]struct{}
}

func (ws *watches) add(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.open == nil {
		ws.open = make(map[*watcher]struct{})
	}
	ws.open[w] = struct{}{}
}

func (ws *watches) remove(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.open, w)
}

// each(resource, do) calls do for every open watch of a resource, and returns the number of these
// watches. A resource of "" means all resources.
func (ws *watches) each(resource string, do func(*watcher)) (n int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.open {
		if resource == "" || resource == w.res.Plural {
			do(w)
			n++
		}
	}
	return n
}
