package sharing

import (
	"reflect"
	"strconv"
	"unsafe"

	"github.com/kinform/kinform/rest/internal/wire"
)

// recent has the entries that were found last in one slot. In JSON, the length of a value is known
// only at its end. A recent entry may be an object, a list or a string. If data continues with all
// bytes of this entry, the value must equal the entry. So recent finds a value without searching
// for its end.
type recent struct {
	entries [4]*entry
	oldest  int
}

// lookup is the result of a look-up of a value.
type lookup struct {
	found   *entry // nil if no entry was found
	missing *entry // to complete and insert; nil if the value is not worth an entry
	end     int    // of the value, or 0 if nothing was looked up
	count   int    // number of its elements, if it was not found
}

// maxLevel limits the depth of values that are looked up, or whose elements are counted first. Each
// of these levels is read once more than necessary. Without a limit, the repeated reads would add
// up.
const maxLevel = 32

// lookUp looks up the value at i in the table, if its field is worth a look-up.
func (s *jsonState) lookUp(sl *slot, i int) (l lookup, err error) {
	if !s.share || sl.whole == nil || s.depth > maxLevel || !sl.whole.enabled.Load() || !s.mayShare(sl.whole) {
		return l, nil
	}
	if c := s.data[i]; c != '{' && c != '[' && c != '"' {
		return l, nil
	}
	r := s.recent[sl.whole]
	if r == nil {
		r = &recent{}
		s.recent[sl.whole] = r
	}
	for _, e := range r.entries {
		if e != nil && e.typeID == sl.typeID && hasPrefix(s.data, i, e.key) && !e.changed.Load() {
			s.countLookup(sl.whole, true)
			return lookup{found: e, end: i + len(e.key)}, nil
		}
	}
	if l.end, l.count, err = wire.ValueEnd(s.data, i, s.depth); err != nil {
		return l, err
	}
	l.found, l.missing = s.find(sl.whole, sl.typeID, s.data[i:l.end])
	if l.found != nil {
		r.entries[r.oldest] = l.found
		r.oldest = (r.oldest + 1) % len(r.entries)
	}
	if l.missing != nil {
		l.missing.origin = sl
	}
	return l, nil
}

// startCounts has the counters of a state at the start of a value that may become an entry; see
// addEntry.
type startCounts struct{ texts, mutableCount, decodedBytes int }

func (s *jsonState) startCounts() startCounts {
	return startCounts{len(s.texts), s.mutableCount, s.decodedBytes}
}

// addEntry makes an entry of the value that was decoded from data[i:end], so that later objects
// share it. It makes no entry if the value contains a part that its readers may change.
func (s *jsonState) addEntry(missing *entry, since startCounts, i, end int, value unsafe.Pointer, count int) {
	if missing != nil && s.mutableCount == since.mutableCount {
		s.copyTexts(since.texts)
		missing.decodedBytes = s.decodedBytes - since.decodedBytes
		s.insert(missing, string(s.data[i:end]), value, count)
	}
}

// pointer stores a pointer to a new value, or to the shared value of an entry.
func (s *jsonState) pointer(sl *slot, at *unsafe.Pointer, i int) (end int, err error) {
	if to, end := s.smallValue(sl.elem, i); to != nil {
		*at = to
		return end, nil
	}
	l, err := s.lookUp(sl, i)
	switch {
	case err != nil:
		return 0, err
	case l.found != nil:
		*at = l.found.value
		return l.end, nil
	}
	to := reflect.New(sl.elem.typ).UnsafePointer()
	if l.missing != nil && sl.elem.setText != nil {
		*at = to
		key := string(s.data[i:l.end])
		s.insertManagedFields(l.missing, sl.elem.setText, to, key, key)
		return l.end, nil
	}
	since := s.startCounts()
	s.decodedBytes += int(sl.elem.size)
	if end, err = s.value(sl.elem, to, i); err != nil {
		return 0, err
	}
	*at = to
	s.addEntry(l.missing, since, i, end, to, 0)
	return end, nil
}

// smallValue returns a pointer to a shared value if there is a bool or a small number at i, and nil
// otherwise.
func (s *jsonState) smallValue(sl *slot, i int) (to unsafe.Pointer, end int) {
	switch {
	case !s.sharesSmallValues():
	case sl.kind == jsonBool:
		if end, err := wire.WordEnd(s.data, i); err == nil {
			return unsafe.Pointer(s.bool(s.data[i] == 't')), end
		}
	case sl.kind == jsonInt && sl.size >= 4:
		end, err := wire.NumberEnd(s.data, i)
		if err != nil {
			break
		}
		n, err := strconv.ParseUint(string(s.data[i:end]), 10, 8)
		switch {
		case err != nil:
		case sl.size == 4:
			return unsafe.Pointer(s.int32(int32(n))), end
		default:
			return unsafe.Pointer(s.int64(int64(n))), end
		}
	}
	return nil, 0
}

// list stores a list. It counts the elements first, so that the array has the right size and does
// not move.
func (s *jsonState) list(sl *slot, at *sliceHeader, i int) (end int, err error) {
	if s.depth > maxLevel {
		return s.deepList(sl, unsafe.Pointer(at), i)
	}
	l, err := s.lookUp(sl, i)
	switch {
	case err != nil:
		return 0, err
	case l.found != nil:
		*at = sliceHeader{array: l.found.value, len: l.found.count, cap: l.found.count}
		return l.end, nil
	case l.end == 0:
		if _, l.count, err = wire.ValueEnd(s.data, i, s.depth); err != nil {
			return 0, err
		}
	}
	reflect.NewAt(sl.typ, unsafe.Pointer(at)).Elem().Set(reflect.MakeSlice(sl.typ, l.count, l.count))
	s.depth++ // ValueEnd has checked the depth
	since := s.startCounts()
	s.decodedBytes += l.count * int(sl.elem.size)
	end = wire.Space(s.data, i+1)
	for k := range l.count {
		if end, err = s.value(sl.elem, unsafe.Add(at.array, uintptr(k)*sl.elem.size), end); err != nil {
			return 0, err
		}
		if end = wire.Space(s.data, end); k < l.count-1 {
			end = wire.Space(s.data, end+1)
		}
	}
	s.depth--
	end++
	s.addEntry(l.missing, since, i, end, at.array, l.count)
	return end, nil
}

// deepList stores a list below maxLevel. It does not count the elements first, because counting
// would read them once for each level.
func (s *jsonState) deepList(sl *slot, at unsafe.Pointer, i int) (int, error) {
	to, elem := reflect.NewAt(sl.typ, at).Elem(), reflect.New(sl.elem.typ)
	to.Set(reflect.MakeSlice(sl.typ, 0, 0))
	i, more, err := s.enter(i, ']')
	for more {
		texts := len(s.texts)
		if i, err = s.value(sl.elem, elem.UnsafePointer(), i); err != nil {
			return 0, err
		}
		s.copyTexts(texts) // the element will move when the array grows
		to.Set(reflect.Append(to, elem.Elem()))
		elem.Elem().SetZero()
		s.decodedBytes += int(sl.elem.size)
		i, more, err = wire.NextValue(s.data, i, ']')
	}
	s.depth--
	return i, err
}
