package sharing

import (
	"reflect"
	"runtime"
	"runtime/debug"
	"unsafe"

	"github.com/kinform/kinform/rest/internal/wire"
)

// Mutation is a shared part that a program has changed in place. Each object that shares the part
// has changed with it.
type Mutation struct {
	// Field is the type and the field of the part, such as "v1.Container.Env". For an unstructured
	// object, it is only the name of the field.
	Field string

	// Before and After are the contents of the part, formatted, and cut off if they are long.
	Before, After string
}

// MutationDetector finds and reports shared parts that a program has changed in place. A program
// that makes no MutationDetector does not link the code that finds them.
type MutationDetector struct {
	onMutation func(Mutation)
	check      func(d *Decoder, parts int)
}

// NewMutationDetector returns a MutationDetector for Options. A Decoder calls onMutation once for
// each field in which a program has changed a shared part. The call comes from Decoder.Check, or
// from a goroutine that decodes: each of them checks one part after every 32 objects.
func NewMutationDetector(onMutation func(Mutation)) *MutationDetector {
	return &MutationDetector{onMutation, (*Decoder).check}
}

// Check checks up to n shared parts. Each call continues after the parts of the previous call, and
// starts again after the last part of the table. Check decodes the bytes of each part again, and
// compares the result with the part. If a program has changed a part in place, no later object gets
// this part. Later objects share only strings, because the program may change other parts, too. The
// MutationDetector reports each changed field once. Check does not check parts that only two
// versions of one object share.
//
// If the program changes a part while Check reads it, this is a data race of the program. The race
// does not end the process: Check skips a map that is being written, and examines it in the next
// round. Check takes some microseconds for each part. It is safe for concurrent use, and does
// nothing without a MutationDetector.
func (d *Decoder) Check(n int) {
	if d.table != nil && d.mutationDetector != nil {
		d.mutationDetector.check(d, n)
	}
}

// check implements Check.
func (d *Decoder) check(n int) {
	t := d.table
	if !d.small.intact() && !d.mutationFound.Load() {
		d.reportMutation(Mutation{Field: "a bool or number behind a pointer"})
	}
	for range min(len(t.slots), slotsPerPart*n) {
		slot := &t.slots[int(t.checkAt.Add(1))&(len(t.slots)-1)]
		e := slot.Load()
		if e == nil || e.origin == nil || !e.proven.Load() {
			continue
		}
		var mutation Mutation
		var ok bool
		// If reading the part faults, a later round checks it.
		if catchFault(func() { mutation, ok = d.mutationOf(e) }) && ok {
			e.changed.Store(true)
			if slot.CompareAndSwap(e, nil) {
				t.bytes.Add(-e.cost())
				t.entries.Add(-1)
			}
			d.reportMutation(mutation)
		}
		if n--; n <= 0 {
			return
		}
	}
}

// slotsPerPart limits how many slots Check searches for one part, because the table may be nearly
// empty.
const slotsPerPart = 64

// reportMutation lets later objects share only strings, and reports the mutation.
func (d *Decoder) reportMutation(mutation Mutation) {
	d.mutationFound.Store(true)
	d.mutations.Add(1)
	d.mu.Lock()
	reported := d.reportedFields[mutation.Field]
	if !reported {
		if d.reportedFields == nil {
			d.reportedFields = map[string]bool{}
		}
		d.reportedFields[mutation.Field] = true
	}
	d.mu.Unlock()
	if !reported {
		d.mutationDetector.onMutation(mutation)
	}
}

// catchFault calls f, which reads values that a program may be changing, and reports whether f
// returned. f may read half of a changed string, such as a length without its bytes, and fault.
func catchFault(f func()) (returned bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if _, isFault := p.(runtime.Error); !isFault {
				panic(p)
			}
		}
	}()
	f()
	return true
}

// origin is the field whose value an entry has.
type origin interface {
	// current returns a pointer to the value that objects share.
	current(e *entry) reflect.Value
	// decode decodes the entry's bytes again, into a value that shares nothing.
	decode(d *Decoder, e *entry) (reflect.Value, error)
	fieldName() string
}

// mutationOf reports whether the shared value of an entry differs from the value of its bytes.
func (d *Decoder) mutationOf(e *entry) (Mutation, bool) {
	now := e.origin.current(e)
	if d.table.hash(e.typeID, unsafe.Slice(unsafe.StringData(e.key), len(e.key))) != e.hash {
		return Mutation{Field: e.origin.fieldName(), Before: "(the original bytes are lost)", After: excerpt(now)}, true
	}
	before, err := e.origin.decode(d, e)
	if err != nil || unchanged(before, now) {
		return Mutation{}, false
	}
	return Mutation{Field: e.origin.fieldName(), Before: excerpt(before), After: excerpt(now)}, true
}

// valueAs returns a pointer to the value of an entry, as an object has it in a field: a list, or a
// pointer.
func (e *entry) valueAs(t reflect.Type) reflect.Value {
	if t.Kind() == reflect.Slice {
		return reflect.NewAt(t, unsafe.Pointer(&sliceHeader{array: e.value, len: e.count, cap: e.count}))
	}
	at := e.value
	return reflect.NewAt(t, unsafe.Pointer(&at))
}

func (f *field) fieldName() string { return f.structName + "." + f.name }

func (f *field) isPointer() bool { return f.kind == kindMessagePointer || f.kind == kindStringPointer }

func (f *field) current(e *entry) reflect.Value {
	if f.isPointer() {
		return reflect.NewAt(f.typ, e.value)
	}
	return e.valueAs(f.typ)
}

func (f *field) decode(d *Decoder, e *entry) (reflect.Value, error) {
	s, to, data := &state{decoder: d}, reflect.New(f.typ), []byte(e.key)
	var err error
	switch {
	case f.kind == kindStringPointer:
		to.Elem().SetString(e.key)
	case f.kind == kindMessagePointer:
		err = s.message(f.plan, to.UnsafePointer(), data)
	default: // other fields have tags
		var tagEnd, end int
		if _, tagEnd, err = wire.Varint(data, 0); err == nil {
			_, end, err = wire.Contents(data, tagEnd)
		}
		if err == nil {
			_, err = s.bytes(f, to.UnsafePointer(), data, 0, tagEnd, tagEnd, end)
		}
	}
	s.copyTexts(0)
	return to, err
}

func (sl *slot) fieldName() string { return sl.name }

func (sl *slot) current(e *entry) reflect.Value {
	if sl.kind == jsonAny {
		return reflect.NewAt(sl.typ, e.value)
	}
	return e.valueAs(sl.typ)
}

func (sl *slot) decode(d *Decoder, e *entry) (reflect.Value, error) {
	s, to := &jsonState{state: state{decoder: d}}, reflect.New(sl.typ)
	s.data = []byte(e.key)
	_, err := s.value(sl, to.UnsafePointer(), 0)
	s.copyTexts(0)
	return to, err
}
