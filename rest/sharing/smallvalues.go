package sharing

// smallValues has one copy of each usual value of optional fields, to which all objects can point.
type smallValues struct {
	bools  [2]bool
	int32s [256]int32
	int64s [256]int64
}

func newSmallValues() *smallValues {
	s := &smallValues{bools: [2]bool{false, true}}
	for i := range s.int32s {
		s.int32s[i], s.int64s[i] = int32(i), int64(i)
	}
	return s
}

// sharesSmallValues reports whether a pointer may point to a value of decoder.small.
func (s *state) sharesSmallValues() bool { return s.shareParts && s.decoder.policy == Everything }

func (s *state) bool(v bool) *bool {
	switch {
	case !s.sharesSmallValues():
		return &v
	case v:
		return &s.decoder.small.bools[1]
	}
	return &s.decoder.small.bools[0]
}

func (s *state) int32(v int32) *int32 {
	if s.sharesSmallValues() && v >= 0 && v < 256 {
		return &s.decoder.small.int32s[v]
	}
	return &v
}

func (s *state) int64(v int64) *int64 {
	if s.sharesSmallValues() && v >= 0 && v < 256 {
		return &s.decoder.small.int64s[v]
	}
	return &v
}

// intact reports whether no program has changed a value in place.
func (s *smallValues) intact() bool {
	for i := range s.int32s {
		if s.int32s[i] != int32(i) || s.int64s[i] != int64(i) {
			return false
		}
	}
	return !s.bools[0] && s.bools[1]
}
