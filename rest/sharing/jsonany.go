package sharing

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"github.com/kinform/kinform/rest/internal/wire"
)

// member has the slots for the values that unstructured objects have under one name.
type member struct {
	name  string
	value slot // for the value
	elem  slot // for its elements, if it is a list
}

// These constants limit which names get a member: how many names, and how long a name may be.
const (
	maxMembers    = 4096
	maxMemberName = 64
)

// member returns the member with a name. It returns nil if the name is too long, if the name comes
// for the first time, or if there are too many names.
func (s *jsonState) member(name []byte) *member {
	if !s.share {
		return nil
	}
	if m := s.members[string(name)]; m != nil {
		return m
	}
	t := s.decoder.table
	if len(name) > maxMemberName || !t.seenBefore(t.hash(stringTypeID, name)) {
		return nil
	}
	d := s.decoder
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.json.members[string(name)]
	if m == nil && len(d.json.members) < maxMembers {
		c := jsonCompiler{compiler: compiler{decoder: d}}
		m = &member{name: string(name), value: c.anySlot(), elem: c.anySlot()}
		m.value.name, m.elem.name = m.name, m.name
		d.json.members[m.name] = m
	}
	if m != nil {
		s.members[m.name] = m
	}
	return m
}

// any decodes the value at i into an interface. sl is the slot for this value, and elem the slot
// for its elements; both may be nil.
func (s *jsonState) any(sl, elem *slot, i int) (v any, end int, err error) {
	if i >= len(s.data) {
		return nil, 0, wire.Unexpected(s.data, i, "a value")
	}
	switch c := s.data[i]; c {
	case '{', '[':
	case '"':
		text, _, end, err := s.stringText(i)
		if err != nil {
			return nil, 0, err
		}
		return s.boxed(text), end, nil
	case 't', 'f':
		end, err = wire.WordEnd(s.data, i)
		return c == 't', end, err
	case 'n':
		end, err = wire.WordEnd(s.data, i)
		return nil, end, err
	default:
		return s.anyNumber(i)
	}
	var l lookup
	if sl != nil {
		if l, err = s.lookUp(sl, i); err != nil {
			return nil, 0, err
		}
		if l.found != nil {
			return *(*any)(l.found.value), l.end, nil
		}
	}
	since := s.startCounts()
	if s.data[i] == '{' {
		m := map[string]any{}
		v = m
		end, err = s.anyMap(m, i)
	} else {
		v, end, err = s.anyList(elem, i)
	}
	if err != nil {
		return nil, 0, err
	}
	if l.missing != nil {
		held := v
		s.addEntry(l.missing, since, i, end, unsafe.Pointer(&held), 0)
	}
	return v, end, nil
}

// anyMap fills a map.
func (s *jsonState) anyMap(m map[string]any, i int) (int, error) {
	outer, isObject := s.pathPolicy, s.depth == 0
	i, more, err := s.enter(i, '}')
	for more {
		var text []byte
		if text, i, err = s.key(i); err != nil {
			return 0, err
		}
		s.pathPolicy = outer.member(text)
		if member := s.member(text); member != nil {
			m[member.name], i, err = s.any(&member.value, &member.elem, i)
		} else {
			name := string(text)
			m[name], i, err = s.any(nil, nil, i)
		}
		if err != nil {
			return 0, err
		}
		if isObject && outer != nil {
			outer = s.decoder.policy.pathPolicyOfContent(m)
		}
		i, more, err = wire.NextValue(s.data, i, '}')
	}
	s.pathPolicy = outer
	s.depth--
	s.decodedBytes += anyMapBytes(len(m))
	return i, err
}

func (s *jsonState) anyList(elem *slot, i int) ([]any, int, error) {
	start, outer := len(s.elems), s.pathPolicy
	s.pathPolicy = outer.element()
	i, more, err := s.enter(i, ']')
	for more {
		var v any
		if v, i, err = s.any(elem, elem, i); err != nil {
			return nil, 0, err
		}
		s.elems = append(s.elems, v)
		i, more, err = wire.NextValue(s.data, i, ']')
	}
	s.pathPolicy = outer
	s.depth--
	v := make([]any, len(s.elems)-start)
	s.decodedBytes += anyListBytes + anyBytes*len(v)
	copy(v, s.elems[start:])
	clear(s.elems[start:])
	s.elems = s.elems[:start]
	return v, i, err
}

// These are the sizes of unstructured objects and lists; see anyMapBytes.
const (
	anyBytes     = 16
	anyListBytes = 24
)

// anyMapBytes returns the approximate memory of a map. A map with one member has room for eight. A
// larger map may be half empty.
func anyMapBytes(members int) int {
	if members == 0 {
		return 48
	}
	return 48 + max(8, 2*members)*2*anyBytes
}

// anyNumber decodes an int64 if it can hold the number exactly, and otherwise a float64.
func (s *jsonState) anyNumber(i int) (any, int, error) {
	if c := s.data[i]; c != '-' && (c < '0' || c > '9') {
		return nil, 0, wire.Unexpected(s.data, i, "a value")
	}
	end, err := wire.NumberEnd(s.data, i)
	if err != nil {
		return nil, 0, err
	}
	text := unsafe.String(&s.data[i], end-i)
	if !strings.Contains(text, ".") {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, end, nil
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("json: the number at byte %d is too large", i)
	}
	return f, end, nil
}

// boxed returns a string in an interface. All interfaces with the same shared string point to one
// string header, which no program can change.
func (s *jsonState) boxed(text []byte) any {
	found, missing := s.find(s.decoder.json.texts, stringTypeID, text)
	if found == nil {
		own := string(text)
		if missing == nil {
			return own
		}
		s.insert(missing, own, nil, 0)
		found = missing
	}
	return stringAt(&found.key)
}

// stringAt returns *at in an interface, without a copy. After this, no code may change *at.
func stringAt(at *string) any {
	var v any = ""
	(*struct {
		_    unsafe.Pointer // the type
		data *string
	})(unsafe.Pointer(&v)).data = at
	return v
}
