package apitest

// Backup is what a server held at one moment; see [Server.Backup]. It is immutable.
type Backup struct {
	server  *Server
	version uint64
	objects map[*collection]sorted
}

// Backup takes a backup of all objects, as of a snapshot of etcd. It costs next to
// nothing.
func (s *Server) Backup() *Backup {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	b := &Backup{server: s, version: s.store.version, objects: make(map[*collection]sorted)}
	for _, res := range s.store.served.all {
		b.objects[res.data] = res.data.objects
	}
	return b
}

// Restore brings the server back to a backup of its own, as when etcd is restored and
// the API servers are started again: objects and versions are those of the backup,
// the next write gets the version after that, nothing that came before the backup is
// known, and the connections of all watches are closed. Which resources are served
// does not change. A watch from a version that is yet to come is answered with
// silence, and begins when the versions have passed it, as on the real server.
//
// It panics if the backup is another server's.
func (s *Server) Restore(b *Backup) {
	if b.server != s {
		panic("apitest: Restore needs a backup of the same server")
	}
	s.store.restore(b)
	s.DropWatches("")
}

func (s *store) restore(b *Backup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, res := range s.served.all {
		res.data.objects = b.objects[res.data]
	}
	s.version = b.version
	s.history.compact(b.version)
}
