package versions

import (
	"math/bits"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/types"
)

// hasher hashes keys by folded multiplication, like wyhash, in half the time of package maphash.
// Its secrets are random, so that nobody can construct keys with the same hash.
type hasher [4]uint64

func newHasher() (h hasher) {
	for i := range h {
		h[i] = rand.Uint64()
	}
	return h
}

// hash returns the hash of a key.
func (h *hasher) hash(key types.NamespacedName) uint64 {
	return h.add(h.add(0, key.Namespace), key.Name)
}

// add returns the hash of a sequence of strings. s is the last string, and hash the hash of the
// strings before it.
func (h *hasher) add(hash uint64, s string) uint64 {
	hash += uint64(len(s)) * h[0] // No bytes of s can undo this, because h[0] is secret.
	for ; len(s) > 16; s = s[16:] {
		hash = fold(word(s)^h[0]^hash, word(s[8:])^h[1])
	}
	var a, b uint64 // the remaining bytes, some of them twice
	switch {
	case len(s) >= 8:
		a, b = word(s), word(s[len(s)-8:])
	case len(s) >= 4:
		a, b = half(s), half(s[len(s)-4:])
	case len(s) > 0:
		a = uint64(s[0]) | uint64(s[len(s)/2])<<8 | uint64(s[len(s)-1])<<16
	}
	return fold(a^h[2]^hash, b^h[3])
}

// fold multiplies a and b, and combines both halves of the product.
func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// word returns the first 8 bytes of a string, and the function half returns the first 4. The
// compiler makes each of them one load.
func word(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func half(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}
