package view

import (
	"fmt"
	"hash/maphash"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/types"
)

// hashKey mixes the ends of a name and of a namespace. It is far cheaper than a hash of all bytes.
// Names with equal ends have equal hashes, and so are sampled together, which does no harm.
func hashKey(key types.NamespacedName) uint64 {
	h := ends(key.Name)*0x9E3779B97F4A7C15 ^ ends(key.Namespace)*0xC2B2AE3D27D4EB4F
	h ^= h >> 32
	h *= 0xD6E8FEB86659FD93
	return h ^ h>>32
}

// ends has the first and the last eight bytes of a text, and its length.
func ends(s string) uint64 {
	switch n := len(s); {
	case n >= 8:
		return word(s)*31 + word(s[n-8:]) + uint64(n)
	case n >= 4:
		return (half(s)<<32 | half(s[n-4:])) + uint64(n)
	case n > 0:
		return uint64(s[0])<<24 | uint64(s[n/2])<<16 | uint64(s[n-1])<<8 | uint64(n)
	}
	return 0
}

func half(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

var seed = maphash.MakeSeed()

// hashOf returns the hash function for keys of a queue. Keys that name an object have the hash that the
// object has in the other boxes.
func hashOf[K comparable]() func(K) uint64 {
	if of, ok := any(hashKey).(func(K) uint64); ok {
		return of
	}
	return func(key K) uint64 { return maphash.Comparable(seed, key) }
}

// nameOf returns how the page writes keys of a queue.
func nameOf[K comparable](key K) string {
	if name, ok := any(key).(types.NamespacedName); ok {
		return nameOfKey(name)
	}
	return clean(fmt.Sprint(key))
}

func nameOfKey(key types.NamespacedName) string {
	if key.Namespace == "" {
		return clean(key.Name)
	}
	return clean(key.Namespace + "/" + key.Name)
}

// maxText is how many bytes of a text the page shows. The longest key of Kubernetes has 317.
const maxText = 320

// clean makes a text of others harmless for screens: no control characters, none that turn the
// direction of writing, no invalid bytes, and not too long.
func clean(s string) string {
	if len(s) <= maxText && !strings.ContainsFunc(s, unfit) {
		return s
	}
	cut := len(s) > maxText
	if cut {
		s = s[:maxText]
		for len(s) > 0 {
			if r, n := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || n > 1 {
				break
			}
			s = s[:len(s)-1] // of a character that was cut
		}
	}
	s = strings.Map(func(r rune) rune {
		if unfit(r) {
			return utf8.RuneError
		}
		return r
	}, s)
	if cut {
		s += "…"
	}
	return s
}

// cleaned makes several texts harmless.
func cleaned(texts []string) []string {
	harmless := make([]string, len(texts))
	for n, s := range texts {
		harmless[n] = clean(s)
	}
	return harmless
}

func unfit(r rune) bool {
	return r < ' ' || r == utf8.RuneError || r > '~' && !unicode.IsGraphic(r)
}
