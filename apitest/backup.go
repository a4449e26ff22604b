package apitest

import (
	"github.com/kinform/kinform/apitest/internal/storage"
)

// Backup is the state of a server at one version; see [Server.Backup]. A Backup is immutable.
type Backup struct {
	server *Server
	state  storage.State
}

// Backup takes a backup of all objects, like a snapshot of etcd. It copies no objects, so it is
// cheap.
func (s *Server) Backup() *Backup {
	return &Backup{server: s, state: s.store.State()}
}

// Restore returns the server to the state of a backup, like a cluster whose etcd is restored and
// whose API servers restart. Objects and versions are again as in the backup. The next write gets
// the version after the backup's. The history before the backup is lost, and the connections of all
// watches are closed. The set of served resources does not change.
//
// A watch from a version in the future gets no events until the server has passed that version, as
// on the real server. Restore panics if the backup is of another server.
func (s *Server) Restore(b *Backup) {
	if b.server != s {
		panic("apitest: Restore needs a backup of the same server")
	}
	s.store.Restore(b.state)
	s.DropWatches("")
}
