package top

import (
	"fmt"
	"strconv"
	"strings"
)

// versionsPicture shows how far each stage has come, by resourceVersion.
type versionsPicture struct {
	versions map[string]string
	worker   string
	oldest   string
	span     float64
}

var versionStages = []struct{ id, title string }{
	{"server", "API server"}, {"reflector", "reflector"}, {"fifo", "DeltaFIFO"}, {"store", "store"}, {"worker", "a worker read"},
}

func (r *versionsPicture) frame(s *frameData) {
	v := s.frame.Versions
	for _, e := range s.frame.Events {
		if e.What == "taken" {
			r.worker = v.Store
		}
	}
	r.oldest = v.Oldest
	r.versions = map[string]string{"server": v.Server, "reflector": v.Reflector, "fifo": v.Fifo, "store": v.Store, "worker": r.worker}
}

func (r *versionsPicture) lines(width, _ int) (all []line) {
	numbers := map[string]float64{}
	var newest, last float64
	for id, v := range r.versions {
		if n, err := strconv.ParseUint(v, 10, 53); err == nil && n > 0 {
			numbers[id] = float64(n)
			newest = max(newest, float64(n))
			if last == 0 || float64(n) < last {
				last = float64(n)
			}
		}
	}
	if len(numbers) == 0 {
		return []line{text(muted, "These versions cannot be compared, because they are not numbers.")}
	}
	// The scale changes slowly, so that marks move only because stages move.
	r.span = max((newest-last)*1.15, r.span*0.98, 20)
	const left, right = 15, 24
	room := max(width-left-right, 10)
	for _, stage := range versionStages {
		n, known := numbers[stage.id]
		if !known {
			all = append(all, joined(text(plain, stage.title).fit(left), text(muted, strings.Repeat("─", room)+" not known")))
			continue
		}
		behind := newest - n
		at := room - 1 - int(behind/r.span*float64(room-1)+0.5)
		at = min(max(at, 0), room-1)
		if behind > 0 {
			at = min(at, room-2)
		}
		how, said := good, formatRounded(n)
		if behind > 0 {
			how, said = kindModified, fmt.Sprintf("%s, %s behind", formatRounded(n), formatNumber(behind))
		}
		all = append(all, joined(text(plain, stage.title).fit(left), text(muted, strings.Repeat("─", at)), text(how, "◆"),
			text(how, strings.Repeat("░", room-1-at)), text(how, " "+said)))
	}
	if r.oldest != "" {
		all = append(all, nil, text(muted, "A watch can start after "+r.oldest+" or later; a watch from an older version gets 410 Gone."))
	}
	return all
}
