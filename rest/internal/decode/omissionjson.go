package decode

import (
	"slices"

	"github.com/kinform/kinform/rest/internal/wire"
)

// json removes fields from an encoded object.
func (d *Omission) json(object []byte) []byte {
	return rewriteJSON(object, func(key, value []byte) ([]byte, bool) {
		switch k := string(key); {
		case k == "metadata":
			return rewriteJSON(value, d.metadataMember), true
		case d.AllButMetadata:
			return value, k == "kind" || k == "apiVersion"
		default:
			return value, k != "status" || !d.Status
		}
	})
}

// metadataMember is the function edit of rewriteJSON for the members of metadata.
func (d *Omission) metadataMember(key, value []byte) ([]byte, bool) {
	switch string(key) {
	case "managedFields":
		return value, !d.ManagedFields
	case "annotations":
		if len(d.Annotations) == 0 {
			return value, true
		}
		value = rewriteJSON(value, func(key, value []byte) ([]byte, bool) {
			return value, !slices.Contains(d.Annotations, string(key))
		})
		return value, string(value) != "{}"
	}
	return value, true
}

// rewriteJSON changes an object in place. For each member, the function edit returns the new value,
// which must be a part of the given value, and whether the member stays. rewriteJSON leaves
// malformed JSON, and a value that is not an object, as they are, and the decoder then refuses
// them.
func rewriteJSON(object []byte, edit func(key, value []byte) ([]byte, bool)) []byte {
	rest, ok := wire.AfterByte(object, '{')
	if !ok {
		return object
	}
	at := func(rest []byte) int { return len(object) - len(rest) }
	written, first, comma := at(rest), true, false
	for {
		start := rest // of a member, or of malformed JSON
		key, next, ok := wire.JSONValue(rest)
		if ok {
			next, ok = wire.AfterByte(next, ':')
		}
		var value []byte
		if ok {
			value, next, ok = wire.JSONValue(next)
		}
		if !ok {
			if comma { // too many commas
				object[written] = ','
				written++
			}
			written += copy(object[written:], start)
			break
		}
		head := object[at(start) : at(next)-len(value)] // the key and the colon
		if kept, ok := edit(wire.JSONText(key), value); ok {
			if !first {
				object[written] = ','
				written++
			}
			first = false
			written += copy(object[written:], head)
			written += copy(object[written:], kept)
		}
		if rest, ok = wire.AfterByte(next, ','); !ok {
			written += copy(object[written:], next)
			break
		}
		comma = true
	}
	return object[:written]
}
