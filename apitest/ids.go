package apitest

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// ids generates unique values. Their order depends only on the seed.
type ids struct {
	mu     sync.Mutex // guards following
	random *rand.Rand
}

// uid makes a version 4 UUID.
func (i *ids) uid() types.UID {
	i.mu.Lock()
	defer i.mu.Unlock()
	high := i.random.Uint64()&^0xf000 | 0x4000
	low := i.random.Uint64()&^(3<<62) | 2<<62
	return types.UID(fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, low>>48, low&(1<<48-1)))
}

// suffixLength is the length of the random end of a generated name.
const suffixLength = 5

// suffix generates the end of a name, from letters that cannot form words.
func (i *ids) suffix() string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	i.mu.Lock()
	defer i.mu.Unlock()
	b := make([]byte, suffixLength)
	for n := range b {
		b[n] = letters[i.random.IntN(len(letters))]
	}
	return string(b)
}

// Limits of generated names, as on the real server.
const (
	maxGeneratedBase = 63 - suffixLength
	generateAttempts = 8
)

// generateName sets a random name that begins with the object's generateName.
func (s *Server) generateName(obj Object) {
	base := obj.GetGenerateName()
	obj.SetName(base[:min(len(base), maxGeneratedBase)] + s.ids.suffix())
}
