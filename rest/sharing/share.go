package sharing

import (
	"reflect"
	"unsafe"

	"github.com/kinform/kinform/rest/internal/wire"
)

// sliceHeader has the layout of a slice of any type.
type sliceHeader struct {
	array    unsafe.Pointer
	len, cap int
}

// maxShared limits the bytes of a value that is looked up. Longer values hardly repeat. Each level
// of a nested value is read and copied once more for its look-up; without a limit, this would add
// up.
const maxShared = 64 << 10

// find looks up an entry with these bytes, if the policy l allows look-ups. If there is no entry,
// find returns a new entry as its result missing, which the caller completes and inserts. Both
// results may be nil.
func (s *state) find(l *lookupPolicy, typeID int, key []byte) (found, missing *entry) {
	if !s.share || !l.enabled.Load() || len(key) == 0 || len(key) > maxShared || typeID != stringTypeID && !s.mayShare(l) {
		return nil, nil
	}
	var slot **entry
	if len(key) <= maxLocalKey {
		slot = s.localCache.slotFor(typeID, key)
		if e := *slot; e != nil && e.is(typeID, key) && !e.changed.Load() {
			e.use()
			s.countLookup(l, true)
			return e, nil
		}
	}
	t := s.decoder.table
	hash := t.hash(typeID, key)
	found = t.find(hash, typeID, key)
	s.countLookup(l, found != nil)
	switch {
	case found != nil:
		if slot != nil {
			*slot = found
		}
		return found, nil
	case typeID == stringTypeID && !t.seenBefore(hash):
		return nil, nil
	}
	return nil, &entry{hash: hash, typeID: typeID}
}

// mayShare reports whether objects may share lists, maps or pointers of a field. Once a program has
// changed any shared part in place, objects no longer share such parts.
func (s *state) mayShare(l *lookupPolicy) bool {
	if !s.shareParts {
		return false
	}
	switch s.decoder.policy {
	case Everything:
		return true
	case Immutable:
		return l.immutable || s.pathPolicy.isImmutable()
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

// sharedString returns data as a string: a shared string, or a copy.
func (s *state) sharedString(l *lookupPolicy, data []byte) string {
	found, missing := s.find(l, stringTypeID, data)
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
			return errDuplicateField
		}
		return s.message(f.plan, *at, data)
	}
	found, missing := s.find(f.whole, f.typeID, data)
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
		if text, ok := fieldsV1Text(key); ok {
			*at = reflect.New(f.typ).UnsafePointer()
			s.insertManagedFields(missing, f.plan.setText, *at, key, text)
			return nil
		}
	}
	to, texts, mutable, lists := reflect.New(f.typ).UnsafePointer(), len(s.texts), s.mutableCount, s.decodedBytes
	s.decodedBytes += int(f.typ.Size())
	if isString {
		*(*string)(to) = string(data)
	} else if err := s.message(f.plan, to, data); err != nil {
		return err
	}
	*at = to
	if missing != nil && s.mutableCount == mutable {
		s.copyTexts(texts)
		missing.decodedBytes = s.decodedBytes - lists
		s.insert(missing, string(data), to, 0)
	} else if s.earlier.has(unsafe.Pointer(at)) {
		s.copyManyTexts(texts)
	}
	return nil
}

// list stores a list of n elements. data has all of them, each after a tag of tag bytes.
func (s *state) list(f *field, at *sliceHeader, data []byte, tag, n int) error {
	if at.len > 0 && s.share {
		return errDuplicateField
	}
	found, missing := s.find(f.whole, f.typeID, data)
	if found != nil {
		*at = sliceHeader{array: found.value, len: found.count, cap: found.count}
		return nil
	}
	if missing != nil {
		missing.origin = f
	}
	if at.len > 0 {
		s.copyTexts(s.firstPending) // the elements will move
	}
	before := (*sliceHeader)(s.earlier.at(unsafe.Pointer(at)))
	if before != nil && at.array == nil && s.sameList(f, before, data, tag, n, 0) {
		*at = sliceHeader{array: before.array, len: n, cap: n}
		return nil
	}
	whole, texts, mutable, lists := data, len(s.texts), s.mutableCount, s.decodedBytes
	s.decodedBytes += n * int(f.size)
	old := at.len
	if at.array == nil {
		at.array, at.cap = s.array(f, n)
	} else {
		reflect.NewAt(f.typ, unsafe.Pointer(at)).Elem().Grow(n)
	}
	at.len = old + n
	if before != nil && old == 0 && f.kind == kindMessageList {
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
		case kindStringList:
			s.text(f, (*string)(to), value)
		case kindBytesList:
			*(*[]byte)(to) = append([]byte{}, value...)
		default:
			err = s.message(f.plan, to, value)
		}
		if err != nil {
			return err
		}
		data = data[end:]
	}
	if missing != nil && s.mutableCount == mutable {
		s.copyTexts(texts)
		missing.decodedBytes = s.decodedBytes - lists
		at.cap = n // so that append makes a copy
		s.insert(missing, string(whole), at.array, n)
	} else if s.earlier.has(unsafe.Pointer(at)) {
		s.copyManyTexts(texts)
	}
	return nil
}

// arrayMaker is a slice through which reflect makes arrays for all slices of its type. Making a
// reflect.Value for each of these slices would take longer (BenchmarkPods).
type arrayMaker struct {
	value reflect.Value
	list  *sliceHeader // the address of the slice
}

// array makes an array for n elements, and returns it with its capacity.
func (s *state) array(f *field, n int) (unsafe.Pointer, int) {
	for len(s.arrayMakers) <= f.whole.id {
		s.arrayMakers = append(s.arrayMakers, arrayMaker{})
	}
	made := &s.arrayMakers[f.whole.id]
	if made.list == nil {
		p := reflect.New(f.typ)
		made.value, made.list = p.Elem(), (*sliceHeader)(p.UnsafePointer())
	}
	made.value.Grow(n)
	array, room := made.list.array, made.list.cap
	*made.list = sliceHeader{}
	return array, room
}

// mapping stores a map of n entries. data has all of them, each after a tag of tag bytes.
func (s *state) mapping(f *field, at unsafe.Pointer, data []byte, tag, n int) error {
	m := (*unsafe.Pointer)(at)
	if *m != nil && s.share {
		return errDuplicateField
	}
	found, missing := s.find(f.whole, f.typeID, data)
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
	whole, mutable, lists := data, s.mutableCount, s.decodedBytes
	s.decodedBytes += n * mapEntryBytes(f.typ)
	fill := newMapFiller(s, f, at, n)
	for range n {
		from, end, err := wire.Contents(data, tag)
		if err != nil {
			return err
		}
		key, value, done := textEntry(data[from:end])
		if done {
			if done, err = fill.addSimple(key, value); err != nil {
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
		s.mutableCount = mutable // reading a value of a map makes a copy
	}
	if missing != nil && s.mutableCount == mutable {
		missing.decodedBytes = s.decodedBytes - lists
		s.insert(missing, string(whole), *m, 0)
	}
	return nil
}

// countLookup counts a look-up of a field, and whether it found an entry.
func (s *state) countLookup(l *lookupPolicy, hit bool) {
	for len(s.lookupCounts) <= l.id {
		s.lookupCounts = append(s.lookupCounts, lookupCount{})
	}
	c := &s.lookupCounts[l.id]
	if c.lookups == 0 {
		s.touched = append(s.touched, l.id)
	}
	c.lookups++
	if hit {
		c.hits++
	}
}

// flushCounts adds the counts of this goroutine to the counts of all goroutines.
func (s *state) flushCounts() {
	d := s.decoder
	flushes := d.flushes.Add(1)
	d.mu.Lock()
	policies := d.lookupPolicies
	d.mu.Unlock()
	for _, id := range s.touched {
		c := s.lookupCounts[id]
		s.lookupCounts[id] = lookupCount{}
		policies[id].add(c, flushes)
		d.lookups.Add(uint64(c.lookups))
		d.hits.Add(uint64(c.hits))
	}
	s.touched = s.touched[:0]
	clear(s.localCache[:])
	if d.table == nil {
		return
	}
	d.table.sweep()
	d.Check(1)
	if flushes%16 == 0 {
		for _, l := range policies {
			l.resume(flushes)
		}
	}
}
