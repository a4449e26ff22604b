package sharing

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/kinform/kinform/rest/internal/wire"
)

// Change is a shared part that a program has changed in place, and with it each object that has the part.
type Change struct {
	// Field is the type and the field of the part, such as "v1.Container.Env". Of an unstructured
	// object it is the name of the field.
	Field string

	// Before and After are the part's content, formatted, and cut off if it is long.
	Before, After string
}

// Check looks at up to n shared parts, which are others at the next call, and then at all of them again. It decodes the
// bytes of each anew, and compares. If a program has changed a part in place, no later object
// gets it, and later objects share nothing but constants: a program that changes one part may change others. Options.Changed
// is told of each such field once. A part that is changed while Check looks at it is a data race, which is the program's.
//
// Check takes some microseconds for each part. It is safe for concurrent use, and does nothing without Options.Changed.
func (d *Decoder) Check(n int) {
	t := d.table
	if t == nil || d.changed == nil {
		return
	}
	if !d.small.intact() && !d.distrust.Load() {
		d.report(Change{Field: "a bool or number behind a pointer"})
	}
	for range min(len(t.slots), slotsPerPart*n) {
		slot := &t.slots[int(t.guard.Add(1))&(len(t.slots)-1)]
		e := slot.Load()
		if e == nil || e.origin == nil || !e.proven.Load() {
			continue
		}
		if change, ok := d.changeOf(e); ok {
			if slot.CompareAndSwap(e, nil) {
				t.bytes.Add(-e.cost())
				t.entries.Add(-1)
			}
			d.report(change)
		}
		if n--; n <= 0 {
			return
		}
	}
}

// slotsPerPart bounds how many slots Check looks for a part in, as the table may be nearly empty.
const slotsPerPart = 64

// report stops sharing, and tells of a change.
func (d *Decoder) report(change Change) {
	d.distrust.Store(true)
	d.changes.Add(1)
	d.mu.Lock()
	told := d.told[change.Field]
	if !told {
		if d.told == nil {
			d.told = map[string]bool{}
		}
		d.told[change.Field] = true
	}
	d.mu.Unlock()
	if !told {
		d.changed(change)
	}
}

// origin is the field whose value an entry has.
type origin interface {
	// current returns a pointer to the value that objects have.
	current(e *entry) reflect.Value
	// decode decodes the entry's bytes anew, into a value that shares nothing.
	decode(d *Decoder, e *entry) (reflect.Value, error)
	about() string
}

// changeOf reports whether the value of an entry is another one than that of its bytes.
func (d *Decoder) changeOf(e *entry) (Change, bool) {
	now := e.origin.current(e)
	if d.table.hash(e.shape, unsafe.Slice(unsafe.StringData(e.key), len(e.key))) != e.hash {
		return Change{Field: e.origin.about(), Before: "(its bytes are lost)", After: excerpt(now)}, true
	}
	before, err := e.origin.decode(d, e)
	if err != nil || reflect.DeepEqual(before.Interface(), now.Interface()) {
		return Change{}, false
	}
	return Change{Field: e.origin.about(), Before: excerpt(before), After: excerpt(now)}, true
}

// excerpt formats what v points to.
func excerpt(v reflect.Value) string {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	const most = 300
	text := fmt.Sprintf("%+v", v.Interface())
	if len(text) > most {
		text = text[:most] + "..."
	}
	return text
}

// held is what an object has in a field: a list, or a pointer.
func (e *entry) held(t reflect.Type) reflect.Value {
	if t.Kind() == reflect.Slice {
		return reflect.NewAt(t, unsafe.Pointer(&list{array: e.value, len: e.count, cap: e.count}))
	}
	at := e.value
	return reflect.NewAt(t, unsafe.Pointer(&at))
}

func (f *field) about() string { return f.owner + "." + f.name }

func (f *field) pointer() bool { return f.kind == aMessagePointer || f.kind == aStringPointer }

func (f *field) current(e *entry) reflect.Value {
	if f.pointer() {
		return reflect.NewAt(f.typ, e.value)
	}
	return e.held(f.typ)
}

func (f *field) decode(d *Decoder, e *entry) (reflect.Value, error) {
	s, to, data := &state{decoder: d}, reflect.New(f.typ), []byte(e.key)
	var err error
	switch {
	case f.kind == aStringPointer:
		to.Elem().SetString(e.key)
	case f.kind == aMessagePointer:
		err = s.message(f.plan, to.UnsafePointer(), data)
	default: // fields with their tags
		var tagEnd, end int
		if _, tagEnd, err = wire.Varint(data, 0); err == nil {
			_, end, err = wire.Contents(data, tagEnd)
		}
		if err == nil {
			_, err = s.bytes(f, to.UnsafePointer(), data, 0, tagEnd, tagEnd, end)
		}
	}
	s.settle(0)
	return to, err
}

func (sl *slot) about() string { return sl.name }

func (sl *slot) current(e *entry) reflect.Value {
	if sl.kind == jsonAny {
		return reflect.NewAt(sl.typ, e.value)
	}
	return e.held(sl.typ)
}

func (sl *slot) decode(d *Decoder, e *entry) (reflect.Value, error) {
	s, to := &jsonState{state: state{decoder: d}}, reflect.New(sl.typ)
	s.data = []byte(e.key)
	_, err := s.value(sl, to.UnsafePointer(), 0)
	s.settle(0)
	return to, err
}
