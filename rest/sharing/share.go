package sharing

import (
	"reflect"
	"unsafe"

	"github.com/kinform/kinform/rest/internal/wire"
)

// list has the layout of a slice of any type.
type list struct {
	array    unsafe.Pointer
	len, cap int
}

// maxShared limits the bytes of a value that is looked up. Longer values hardly repeat. Each level
// of a nested value is read and copied once more for its look-up; without a limit, this would add
// up.
const maxShared = 64 << 10

// find looks up an entry with these bytes, if the field is worth a look-up. If there is no entry,
// find returns a new entry as its result missing, which the caller completes and inserts. Both
// results may be nil.
func (s *state) find(l *lesson, shape int, key []byte) (found, missing *entry) {
	if !s.share || !l.look.Load() || len(key) == 0 || len(key) > maxShared || shape != ofString && !s.mayShare(l) {
		return nil, nil
	}
	var place **entry
	if len(key) <= nearKey {
		place = s.near.place(shape, key)
		if e := *place; e != nil && e.is(shape, key) && !e.changed.Load() {
			e.use()
			s.count(l, true)
			return e, nil
		}
	}
	t := s.decoder.table
	hash := t.hash(shape, key)
	found = t.find(hash, shape, key)
	s.count(l, found != nil)
	switch {
	case found != nil:
		if place != nil {
			*place = found
		}
		return found, nil
	case shape == ofString && !t.seenBefore(hash):
		return nil, nil
	}
	return nil, &entry{hash: hash, shape: shape}
}

// mayShare reports whether objects may share lists, maps or pointers of a field. Once a program has
// changed any shared part in place, objects no longer share such parts.
func (s *state) mayShare(l *lesson) bool {
	if !s.trusts {
		return false
	}
	switch s.decoder.policy {
	case Everything:
		return true
	case Immutable:
		return l.fixed || s.place.isFixed()
	}
	return false
}

// insert completes an entry and inserts it into the table. e may be nil.
func (s *state) insert(e *entry, key string, value unsafe.Pointer, count int) {
	if e != nil {
		e.key, e.value, e.count = key, value, count
		s.decoder.table.insert(e)
	}
}

// copied returns data as a string: a shared string, or a copy.
func (s *state) copied(l *lesson, data []byte) string {
	found, missing := s.find(l, ofString, data)
	if found != nil {
		return found.key
	}
	text := string(data)
	s.insert(missing, text, nil, 0)
	return text
}

// pointer stores a pointer to a new string or message, or to the value of an entry or of the
// earlier object.
func (s *state) pointer(f *field, at *unsafe.Pointer, data []byte, isString bool) error {
	if *at != nil && !isString {
		if s.share {
			return errAgain
		}
		return s.message(f.plan, *at, data)
	}
	found, missing := s.find(f.whole, f.shape, data)
	if found != nil {
		*at = found.value
		return nil
	}
	if missing != nil {
		missing.origin = f
	}
	before := (*unsafe.Pointer)(s.earlier.at(unsafe.Pointer(at)))
	if before == nil && f.plan != nil && f.plan.own != nil {
		before = (*unsafe.Pointer)(s.element.at(unsafe.Pointer(at)))
	}
	if before != nil && *at == nil && s.sameBytes(f, unsafe.Pointer(before), data, 0, 1, 0) {
		*at = *before
		return nil
	}
	if missing != nil && f.plan != nil && f.plan.setText != nil {
		key := string(data)
		if text, ok := onlyText(key); ok {
			*at = reflect.New(f.typ).UnsafePointer()
			s.insertFields(missing, f.plan.setText, *at, key, text)
			return nil
		}
	}
	to, texts, mutable, lists := reflect.New(f.typ).UnsafePointer(), len(s.texts), s.mutable, s.lists
	s.lists += int(f.typ.Size())
	if isString {
		*(*string)(to) = string(data)
	} else if err := s.message(f.plan, to, data); err != nil {
		return err
	}
	*at = to
	if missing != nil && s.mutable == mutable {
		s.settle(texts)
		missing.lists = s.lists - lists
		s.insert(missing, string(data), to, 0)
	} else if s.earlier.has(unsafe.Pointer(at)) {
		s.settleMany(texts)
	}
	return nil
}

// list stores a list of n elements. data has all of them, each after a tag of tag bytes.
func (s *state) list(f *field, at *list, data []byte, tag, n int) error {
	if at.len > 0 && s.share {
		return errAgain
	}
	found, missing := s.find(f.whole, f.shape, data)
	if found != nil {
		*at = list{array: found.value, len: found.count, cap: found.count}
		return nil
	}
	if missing != nil {
		missing.origin = f
	}
	if at.len > 0 {
		s.settle(s.floor) // the elements will move
	}
	before := (*list)(s.earlier.at(unsafe.Pointer(at)))
	if before != nil && at.array == nil && s.sameList(f, before, data, tag, n, 0) {
		*at = list{array: before.array, len: n, cap: n}
		return nil
	}
	whole, texts, mutable, lists := data, len(s.texts), s.mutable, s.lists
	s.lists += n * int(f.size)
	old := at.len
	if at.array == nil {
		at.array, at.cap = s.array(f, n)
	} else {
		reflect.NewAt(f.typ, unsafe.Pointer(at)).Elem().Grow(n)
	}
	at.len = old + n
	if before != nil && old == 0 && f.kind == messageList {
		s.element = earlier{
			from: uintptr(at.array), to: uintptr(at.array) + uintptr(min(n, before.len))*f.size, object: before.array,
		}
	}
	for i := range n {
		from, end, err := wire.Contents(data, tag)
		if err != nil {
			return err
		}
		to, value := unsafe.Add(at.array, uintptr(old+i)*f.size), data[from:end]
		switch f.kind {
		case stringList:
			s.text(f, (*string)(to), value)
		case bytesList:
			*(*[]byte)(to) = append([]byte{}, value...)
		default:
			err = s.message(f.plan, to, value)
		}
		if err != nil {
			return err
		}
		data = data[end:]
	}
	if missing != nil && s.mutable == mutable {
		s.settle(texts)
		missing.lists = s.lists - lists
		at.cap = n // so that append makes a copy
		s.insert(missing, string(whole), at.array, n)
	} else if s.earlier.has(unsafe.Pointer(at)) {
		s.settleMany(texts)
	}
	return nil
}

// maker is a slice through which reflect makes arrays for all slices of its type. Making a
// reflect.Value for each of these slices would take longer (BenchmarkPods).
type maker struct {
	value reflect.Value
	list  *list // the address of the slice
}

// array makes an array for n elements, and returns it with its capacity.
func (s *state) array(f *field, n int) (unsafe.Pointer, int) {
	for len(s.makers) <= f.whole.id {
		s.makers = append(s.makers, maker{})
	}
	made := &s.makers[f.whole.id]
	if made.list == nil {
		p := reflect.New(f.typ)
		made.value, made.list = p.Elem(), (*list)(p.UnsafePointer())
	}
	made.value.Grow(n)
	array, room := made.list.array, made.list.cap
	*made.list = list{}
	return array, room
}

// mapping stores a map of n entries. data has all of them, each after a tag of tag bytes.
func (s *state) mapping(f *field, at unsafe.Pointer, data []byte, tag, n int) error {
	m := (*unsafe.Pointer)(at)
	if *m != nil && s.share {
		return errAgain
	}
	found, missing := s.find(f.whole, f.shape, data)
	if found != nil {
		*m = found.value
		return nil
	}
	if missing != nil {
		missing.origin = f
	}
	if before := s.earlier.at(at); before != nil && s.sameMap(f, before, data, tag, n) {
		*m = *(*unsafe.Pointer)(before)
		return nil
	}
	whole, mutable, lists := data, s.mutable, s.lists
	s.lists += n * mapped(f.typ)
	fill := newMapFiller(s, f, at, n)
	for range n {
		from, end, err := wire.Contents(data, tag)
		if err != nil {
			return err
		}
		key, value, done := textEntry(data[from:end])
		if done {
			if done, err = fill.quick(key, value); err != nil {
				return err
			}
		}
		if !done {
			if err = fill.add(data[from:end]); err != nil {
				return err
			}
		}
		data = data[end:]
	}
	if p := f.value.plan; p != nil && p.mutable {
		s.mutable = mutable // reading a value of a map makes a copy
	}
	if missing != nil && s.mutable == mutable {
		missing.lists = s.lists - lists
		s.insert(missing, string(whole), *m, 0)
	}
	return nil
}

// count counts a look-up of a field, and whether it found an entry.
func (s *state) count(l *lesson, hit bool) {
	for len(s.counts) <= l.id {
		s.counts = append(s.counts, count{})
	}
	c := &s.counts[l.id]
	if c.lookups == 0 {
		s.touched = append(s.touched, l.id)
	}
	c.lookups++
	if hit {
		c.hits++
	}
}

// report adds the counts of this goroutine to the counts of all goroutines.
func (s *state) report() {
	d := s.decoder
	reports := d.reports.Add(1)
	d.mu.Lock()
	lessons := d.lessons
	d.mu.Unlock()
	for _, id := range s.touched {
		c := s.counts[id]
		s.counts[id] = count{}
		lessons[id].add(c, reports)
		d.lookups.Add(uint64(c.lookups))
		d.hits.Add(uint64(c.hits))
	}
	s.touched = s.touched[:0]
	clear(s.near[:])
	if d.table == nil {
		return
	}
	d.table.sweep()
	d.Check(1)
	if reports%16 == 0 {
		for _, l := range lessons {
			l.resume(reports)
		}
	}
}
