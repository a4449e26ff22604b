package sharing

import "unsafe"

// pendingText is a string field that still refers to data. copyTexts replaces it by a copy.
type pendingText struct {
	field     *string
	at        *byte // the first byte in data; a field that was set again has another first byte
	ownMemory bool  // needs memory of its own
}

// text stores a shared string, or a string that refers to data until copyTexts copies it.
func (s *state) text(f *field, field *string, data []byte) {
	if len(data) == 0 {
		*field = ""
		return
	}
	if f.ownMemory {
		// A store keeps the name and namespace of an object's first version in its key. So later
		// versions use the same strings.
		if before := (*string)(s.earlier.at(unsafe.Pointer(field))); before != nil && *before == string(data) {
			*field = *before
			return
		}
	}
	found, missing := s.find(f.text, stringTypeID, data)
	switch {
	case found != nil:
		*field = found.key
	case missing != nil:
		*field = string(data)
		s.insert(missing, *field, nil, 0)
	default:
		*field = unsafe.String(&data[0], len(data))
		s.texts = append(s.texts, pendingText{field, &data[0], f.ownMemory})
	}
}

// copyTexts copies the pending strings, from the index since on, into one piece of memory. It uses
// a second piece for strings that need their own memory. Copying each string by itself would take
// several times the time and memory. A part that other objects may share gets its own piece.
// Otherwise such a part would keep all strings of the object alive.
func (s *state) copyTexts(since int) {
	texts := s.texts[since:]
	var size, ownMemory int
	for _, p := range texts {
		switch {
		case unsafe.StringData(*p.field) != p.at:
		case p.ownMemory:
			ownMemory += len(*p.field)
		default:
			size += len(*p.field)
		}
	}
	if size > 0 {
		joinTexts(texts, false, make([]byte, 0, size))
	}
	if ownMemory > 0 {
		joinTexts(texts, true, make([]byte, 0, ownMemory))
	}
	clear(texts)
	s.texts = s.texts[:since]
}

// minOwnPiece is the least number of bytes for which copyManyTexts makes a piece of memory.
const minOwnPiece = 128

// copyManyTexts is copyTexts for a list or pointee that a later version of the object may share. If
// its strings have many bytes, they get a piece of their own. So the later version does not keep
// the object's other strings alive.
func (s *state) copyManyTexts(since int) {
	size := 0
	for _, p := range s.texts[since:] {
		size += len(*p.field)
	}
	if size >= minOwnPiece {
		s.copyTexts(since)
	}
}

// maxTexts limits the capacity for pending strings that a state keeps between two objects.
const maxTexts = 8 << 10

// trim drops the capacity for pending strings if a large object has made it too large.
func (s *state) trim() {
	if cap(s.texts) > maxTexts {
		s.texts = nil
	}
}

// joinTexts copies strings into a piece that has room for them.
func joinTexts(texts []pendingText, ownMemory bool, piece []byte) {
	for _, p := range texts {
		if p.ownMemory == ownMemory && unsafe.StringData(*p.field) == p.at {
			start := len(piece)
			piece = append(piece, *p.field...)
			*p.field = unsafe.String(&piece[start], len(piece)-start)
		}
	}
}

// decodeAndCopy decodes a message and copies its pending strings at once, because the caller moves
// the message into a map.
func (s *state) decodeAndCopy(p *plan, at unsafe.Pointer, data []byte) error {
	outer := s.firstPending
	s.firstPending = len(s.texts)
	err := s.message(p, at, data)
	s.copyTexts(s.firstPending)
	s.firstPending = outer
	return err
}
