package view

import (
	"fmt"
	"hash/maphash"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/types"
)

// seed is random for each process. So no user can choose object names that are inside or outside of
// the sample.
var seed = maphash.MakeSeed()

// hashKey hashes all bytes of a key. An object has the same hash in all boxes.
func hashKey(key types.NamespacedName) uint64 { return maphash.Comparable(seed, key) }

// hashOf returns the hash function for the keys of a queue. If a key names an object, it has the
// hash of that object in the other boxes.
func hashOf[K comparable]() func(K) uint64 {
	if of, ok := any(hashKey).(func(K) uint64); ok {
		return of
	}
	return func(key K) uint64 { return maphash.Comparable(seed, key) }
}

// nameOf returns the text that the page shows for a key of a queue.
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

// maxText is the maximum number of bytes of a text on the page. The longest key of a Kubernetes
// object has 317 bytes.
const maxText = 320

// clean makes a text from outside this program safe to show. The result has no control characters,
// no characters that change the writing direction, no invalid bytes, and at most maxText bytes.
func clean(s string) string {
	if len(s) <= maxText && !strings.ContainsFunc(s, isUnsafeRune) {
		return s
	}
	cut := len(s) > maxText
	if cut {
		s = s[:maxText]
		for len(s) > 0 {
			if r, n := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || n > 1 {
				break
			}
			s = s[:len(s)-1] // The last byte belongs to a truncated character.
		}
	}
	s = strings.Map(func(r rune) rune {
		if isUnsafeRune(r) {
			return utf8.RuneError
		}
		return r
	}, s)
	if cut {
		s += "…"
	}
	return s
}

// cleanAll makes several texts safe to show.
func cleanAll(texts []string) []string {
	harmless := make([]string, len(texts))
	for n, s := range texts {
		harmless[n] = clean(s)
	}
	return harmless
}

func isUnsafeRune(r rune) bool {
	return r < ' ' || r == utf8.RuneError || r > '~' && !unicode.IsGraphic(r)
}
