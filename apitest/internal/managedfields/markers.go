package managedfields

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
)

//go:embed markers.txt
var markersText string

// markers are what the comments of Kubernetes' types say of merging, by type and field, such
// as "k8s.io/api/core/v1.PodSpec.containers". A field is called what it is in JSON.
type markers struct {
	sets     map[string]bool     // lists that are sets
	maps     map[string][]string // lists that are maps, by these fields
	atomic   map[string]bool     // types and fields that are replaced whole; lists are, unless said otherwise
	defaults map[string]any
}

var known = sync.OnceValue(func() markers { return parseMarkers(markersText) })

// parseMarkers reads lines of a name, a word, and what follows from that: fields of a key after "map",
// a value in JSON after "default", nothing after "set" and "atomic".
func parseMarkers(text string) markers {
	m := markers{map[string]bool{}, map[string][]string{}, map[string]bool{}, map[string]any{}}
	for line := range strings.Lines(text) {
		at, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		what, value, _ := strings.Cut(rest, " ")
		switch what {
		case "set":
			m.sets[at] = true
		case "map":
			m.maps[at] = strings.Fields(value)
		case "atomic":
			m.atomic[at] = true
		case "default":
			var v any
			if json.Unmarshal([]byte(value), &v) == nil {
				m.defaults[at] = v
			}
		}
	}
	return m
}
