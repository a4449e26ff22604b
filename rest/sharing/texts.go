package sharing

import "unsafe"

// pending is a string field that for now refers to the bytes that are decoded.
type pending struct {
	field *string
	at    *byte // what it refers to, so that a later value of the field is noticed
	apart bool  // not in one piece with the others
}

// text stores a string that is shared, or that will be copied by settle.
func (s *state) text(f *field, field *string, data []byte) {
	if len(data) == 0 {
		*field = ""
		return
	}
	if f.apart {
		// A store has the name of the first version in its key. Let later ones use that.
		if before := (*string)(s.earlier.at(unsafe.Pointer(field))); before != nil && *before == string(data) {
			*field = *before
			return
		}
	}
	found, missing := s.find(f.text, ofString, data)
	switch {
	case found != nil:
		*field = found.key
	case missing != nil:
		*field = string(data)
		s.insert(missing, *field, nil, 0)
	default:
		*field = unsafe.String(&data[0], len(data))
		s.texts = append(s.texts, pending{field, &data[0], f.apart})
	}
}

// settle copies the strings that were stored since there were so many of them, all
// into one piece of memory, or two. That takes a fraction of the time and of the space
// that one piece for each would take. The parts of an object that others may share get
// pieces of their own, or else they would keep all strings of the object.
func (s *state) settle(since int) {
	texts := s.texts[since:]
	var size, apart int
	for _, p := range texts {
		switch {
		case unsafe.StringData(*p.field) != p.at:
		case p.apart:
			apart += len(*p.field)
		default:
			size += len(*p.field)
		}
	}
	if size > 0 {
		join(texts, false, make([]byte, 0, size))
	}
	if apart > 0 {
		join(texts, true, make([]byte, 0, apart))
	}
	clear(texts)
	s.texts = s.texts[:since]
}

// many is for how many bytes of strings a list of an object has a piece of its own.
const many = 128

// settleMany is settle for what a later version of the object may share: if these are
// many strings, then without those around it, which that version may not have.
func (s *state) settleMany(since int) {
	size := 0
	for _, p := range s.texts[since:] {
		size += len(*p.field)
	}
	if size >= many {
		s.settle(since)
	}
}

// maxTexts bounds the texts that a state has room for between two objects.
const maxTexts = 8 << 10

// trim gives back the room that an object with very many strings has needed.
func (s *state) trim() {
	if cap(s.texts) > maxTexts {
		s.texts = nil
	}
}

// join copies strings into a piece that has room for them.
func join(texts []pending, apart bool, piece []byte) {
	for _, p := range texts {
		if p.apart == apart && unsafe.StringData(*p.field) == p.at {
			start := len(piece)
			piece = append(piece, *p.field...)
			*p.field = unsafe.String(&piece[start], len(piece)-start)
		}
	}
}

// settled decodes a message that will be moved, and so must be settled at once.
func (s *state) settled(p *plan, at unsafe.Pointer, data []byte) error {
	outer := s.floor
	s.floor = len(s.texts)
	err := s.message(p, at, data)
	s.settle(s.floor)
	s.floor = outer
	return err
}
