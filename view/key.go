package view

import (
	"fmt"
	"hash/maphash"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/types"
)

// seed is new in each process, so that nobody can choose a name that is in the sample, or is not.
var seed = maphash.MakeSeed()

// hashKey has all bytes of a name and of a namespace. The object has the same hash in all boxes.
func hashKey(key types.NamespacedName) uint64 { return maphash.Comparable(seed, key) }

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
