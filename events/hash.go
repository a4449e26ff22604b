package events

import "hash/maphash"

// hashes has the hashes of an event and of its parts. They are computed together, so that the texts
// of an event are read only once. Different events may have the same hashes.
type hashes struct {
	object   uint64 // of the object, without FieldPath
	group    uint64
	withNote uint64 // of group and note
	combined uint64 // of the group alone, for combined notes
}

func (r *Recorder) hash(g *group, note string) (all hashes) {
	var h maphash.Hash
	h.SetSeed(r.seed)
	ref := &g.regarding
	for _, text := range [...]string{ref.Kind, ref.Namespace, ref.Name, string(ref.UID), ref.APIVersion} {
		writeText(&h, text)
	}
	all.object = h.Sum64() & r.mask
	for _, text := range [...]string{ref.FieldPath, g.related.Kind, g.related.Namespace, g.related.Name, g.kind, g.reason, g.action} {
		writeText(&h, text)
	}
	all.group = h.Sum64() & r.mask
	all.combined = ^all.group & r.mask
	writeText(&h, note)
	all.withNote = h.Sum64() & r.mask
	return all
}

// writeText hashes a text and a terminator, so that "a", "bc" and "ab", "c" differ.
func writeText(h *maphash.Hash, text string) {
	_, _ = h.WriteString(text)
	_ = h.WriteByte(0)
}
