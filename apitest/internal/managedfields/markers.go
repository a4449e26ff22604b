package managedfields

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
)

//go:embed markers.txt
var markersText string

// markers are the merge markers in the comments of Kubernetes' types, by type and field, for
// example "k8s.io/api/core/v1.PodSpec.containers". Fields have their JSON names.
type markers struct {
	sets     map[string]bool     // lists that are sets
	maps     map[string][]string // lists that are maps, with their key fields
	atomic   map[string]bool     // replaced as a whole, like lists without markers
	defaults map[string]any
}

var kubernetesMarkers = sync.OnceValue(func() markers { return parseMarkers(markersText) })

// parseMarkers parses lines that consist of a name, a marker and a value. After "map", the value
// has the key fields. After "default", it is a JSON value. After "set" and "atomic", it is empty.
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
