package discovery

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// Bounds for all documents of a discovery together. Where objects are empty, memory is a
// hundred times what they are in JSON. A thousand custom resources are twenty thousand
// objects, and a few megabytes.
const (
	maxObjects = 200_000
	maxBytes   = 64 << 20
)

// maxName bounds the names of groups, versions, kinds and resources, which are those of
// domains at most.
const maxName = 253

// maxFailed is how many versions may fail before no further one is asked for: it is the
// server then, and each failure has something to say.
const maxFailed = 64

// budget is what a discovery has taken.
type budget struct {
	mu             sync.Mutex // guards following
	objects, bytes int
	failed         int
}

// take refuses a document that is too large, with those before it, before it is decoded.
// What may stand for an object counts as one.
func (b *budget) take(data []byte) error {
	objects := bytes.Count(data, []byte("{")) + bytes.Count(data, []byte("null"))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.objects+objects > maxObjects || b.bytes+len(data) > maxBytes {
		return fmt.Errorf("a document with %d objects in %d bytes is too large, after %d in %d", objects, len(data), b.objects, b.bytes)
	}
	b.objects, b.bytes = b.objects+objects, b.bytes+len(data)
	return nil
}

// count counts a failure, if there is one.
func (b *budget) count(err error) {
	if err != nil {
		b.mu.Lock()
		b.failed++
		b.mu.Unlock()
	}
}

// spent says whether too much has failed.
func (b *budget) spent() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed >= maxFailed
}

// isName says whether a name can be one, which is a part of a path.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxName && !strings.ContainsAny(name, "/%")
}

// size is how many bytes the names of a resource have.
func (r *Resource) size() int {
	n := len(r.Group) + len(r.Version) + len(r.Plural) + len(r.Singular) + len(r.Kind)
	for _, names := range [][]string{r.ShortNames, r.Categories, r.Verbs} {
		for _, name := range names {
			n += len(name) + 16
		}
	}
	return n
}
