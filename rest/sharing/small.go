package sharing

// small has the usual values of optional fields, once each, for all of them to point to.
type small struct {
	bools  [2]bool
	int32s [256]int32
	int64s [256]int64
}

func newSmall() *small {
	s := &small{bools: [2]bool{false, true}}
	for i := range s.int32s {
		s.int32s[i], s.int64s[i] = int32(i), int64(i)
	}
	return s
}

func (s *state) bool(v bool) *bool {
	switch {
	case !s.share || s.decoder.constants:
		return &v
	case v:
		return &s.decoder.small.bools[1]
	}
	return &s.decoder.small.bools[0]
}

func (s *state) int32(v int32) *int32 {
	if s.share && !s.decoder.constants && v >= 0 && v < 256 {
		return &s.decoder.small.int32s[v]
	}
	return &v
}

func (s *state) int64(v int64) *int64 {
	if s.share && !s.decoder.constants && v >= 0 && v < 256 {
		return &s.decoder.small.int64s[v]
	}
	return &v
}
