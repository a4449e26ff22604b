package sharing

import "unsafe"

// pending is a string field that for now refers to the bytes that are decoded.
type pending struct {
	field *string
	at    *byte // what it refers to, so that a later value of the field is noticed
}

// text stores a string that is shared, or that will be copied by settle.
func (s *state) text(f *field, field *string, data []byte) {
	found, missing := s.find(f.text, ofString, data)
	switch {
	case found != nil:
		*field = found.key
	case missing != nil || f.apart || len(data) == 0:
		*field = string(data)
		s.insert(missing, *field, nil, 0)
	default:
		*field = unsafe.String(&data[0], len(data))
		s.texts = append(s.texts, pending{field, &data[0]})
	}
}

// settle copies the strings that were stored since there were so many of them, all
// into one piece of memory. That takes a fraction of the time and of the space that
// one piece for each would take. The parts of an object that others may share get
// pieces of their own, or else they would keep all strings of the object.
func (s *state) settle(since int) {
	texts := s.texts[since:]
	size := 0
	for _, p := range texts {
		if unsafe.StringData(*p.field) == p.at {
			size += len(*p.field)
		}
	}
	piece := make([]byte, 0, size)
	for _, p := range texts {
		if unsafe.StringData(*p.field) == p.at {
			start := len(piece)
			piece = append(piece, *p.field...)
			*p.field = unsafe.String(&piece[start], len(piece)-start)
		}
	}
	clear(texts)
	s.texts = s.texts[:since]
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
