package discovery

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// These limits apply to all documents of a discovery together. Empty objects take a hundred times
// as much memory as their JSON. For comparison, a thousand custom resources are twenty thousand
// objects, and a few megabytes.
const (
	maxObjects = 200_000
	maxBytes   = 64 << 20
)

// maxName limits the names of groups, versions, kinds and resources. It is the longest domain name,
// and groups are domain names.
const maxName = 253

// maxFailed is the number of failed versions after which a discovery sends no more requests. By
// then the whole server probably fails, and each error takes memory.
const maxFailed = 64

// budget counts the bytes, objects and failures of a discovery.
type budget struct {
	mu             sync.Mutex // guards following
	objects, bytes int
	failed         int
}

// reserve counts a document before it is decoded. It returns an error if all documents so far are
// too large together. Each byte that may start an object counts as one object.
func (b *budget) reserve(data []byte) error {
	objects := bytes.Count(data, []byte("{")) + bytes.Count(data, []byte("null"))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.objects+objects > maxObjects || b.bytes+len(data) > maxBytes {
		return fmt.Errorf("a document with %d objects in %d bytes is too large after earlier documents with %d objects in %d bytes", objects, len(data), b.objects, b.bytes)
	}
	b.objects, b.bytes = b.objects+objects, b.bytes+len(data)
	return nil
}

// countFailure counts a failure, unless err is nil.
func (b *budget) countFailure(err error) {
	if err != nil {
		b.mu.Lock()
		b.failed++
		b.mu.Unlock()
	}
}

// exhausted reports whether maxFailed versions have failed.
func (b *budget) exhausted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed >= maxFailed
}

// isName reports whether a name from a server can be one segment of a path.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxName && !strings.ContainsAny(name, "/%")
}

// size returns the bytes of all names of a resource.
func (r *Resource) size() int {
	n := len(r.Group) + len(r.Version) + len(r.Plural) + len(r.Singular) + len(r.Kind)
	for _, names := range [][]string{r.ShortNames, r.Categories, r.Verbs} {
		for _, name := range names {
			n += len(name) + 16
		}
	}
	return n
}
