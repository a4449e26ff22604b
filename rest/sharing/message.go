package sharing

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/kinform/kinform/rest/internal/wire"
)

var errTooDeep = errors.New("protobuf: messages are nested too deep")

// state is the state of one goroutine that decodes one object after another.
type state struct {
	decoder      *Decoder
	share        bool        // objects may share parts
	shareParts   bool        // objects may share more than strings, if the policy allows it
	pathPolicy   *pathPolicy // in an unstructured object
	depth        int
	texts        []pendingText
	firstPending int           // index of the first pending text, in texts
	mutableCount int           // number of values so far that readers may change
	decodedBytes int           // bytes of all lists, maps and pointees so far
	objects      int           // decoded so far
	lookupCounts []lookupCount // by ID of the lookup policy, since the last flush
	touched      []int         // indices of the non-zero lookupCounts
	localCache   localCache
	quantities   *quantityCache
	earlier      earlier
	// element is the earlier version of the list that is being decoded, up to the length of the
	// shorter list. It is for lists of managed fields. If one manager's time has changed, the new
	// list takes the texts and times of the other managers from the earlier list. These texts have
	// their own memory, so they keep no other strings alive.
	element     earlier
	arrayMakers []arrayMaker // by ID of the field's lookup policy

	lastType reflect.Type // type of the last object, a pointer
	lastPlan *plan        // plan of its struct
}

// message decodes a message into the struct at an address.
func (s *state) message(p *plan, at unsafe.Pointer, data []byte) error {
	if p.own != nil {
		if p.mutable {
			s.mutableCount++
		}
		return p.own(at, data)
	}
	if p.list && (*sliceHeader)(at).array == nil {
		// An empty list instead of a nil list.
		(*sliceHeader)(at).array = unsafe.Pointer(&struct{}{})
	}
	if s.depth++; s.depth > wire.MaxDepth {
		return errTooDeep
	}
	for i := 0; i < len(data); {
		start := i
		tag, tagEnd := uint64(data[i]), i+1
		if tag >= 0x80 {
			var err error
			if tag, tagEnd, err = wire.LongVarint(data, i); err != nil {
				return err
			}
		}
		typ, n := tag&7, int32(tag>>3)
		switch {
		case typ == wire.TypeEndGroup:
			return wire.ErrGroup
		case n <= 0:
			return fmt.Errorf("protobuf: %s: a field has the invalid number %d", p.typ, n)
		}
		if int(n) >= len(p.fields) || p.fields[n].kind == 0 {
			var err error
			if i, err = wire.SkipField(data, tagEnd, typ); err != nil {
				return err
			}
			continue
		}
		f := &p.fields[n]
		to := unsafe.Add(at, f.offset)
		switch {
		case typ == wire.TypeBytes && f.kind >= kindBoolList:
			from, end := tagEnd+1, 0
			if tagEnd < len(data) && data[tagEnd] < 0x80 && int(data[tagEnd]) <= len(data)-from {
				end = from + int(data[tagEnd])
			} else {
				var err error
				if from, end, err = wire.Contents(data, tagEnd); err != nil {
					return err
				}
			}
			if f.kind == kindString {
				s.text(f, (*string)(to), data[from:end])
				i = end
				continue
			}
			var err error
			if i, err = s.bytes(f, to, data, start, tagEnd, from, end); err != nil {
				return err
			}
		case typ == wire.TypeVarint && f.kind.isVarint():
			v, end, err := wire.Varint(data, tagEnd)
			if err != nil {
				return err
			}
			s.number(f, to, v)
			i = end
		default:
			return fmt.Errorf("protobuf: %s.%s: unexpected wire type %d", p.typ, f.name, typ)
		}
	}
	s.depth--
	return nil
}

// number stores the number v in a field at an address.
func (s *state) number(f *field, at unsafe.Pointer, v uint64) {
	switch f.kind {
	case kindBool:
		*(*bool)(at) = v != 0
	case kindInt32:
		*(*int32)(at) = int32(v)
	case kindInt64:
		*(*int64)(at) = int64(v)
	case kindBoolPointer:
		*(**bool)(at) = s.bool(v != 0)
	case kindInt32Pointer:
		*(**int32)(at) = s.int32(int32(v))
	case kindInt64Pointer:
		*(**int64)(at) = s.int64(int64(v))
	case kindBoolList:
		*(*[]bool)(at) = append(*(*[]bool)(at), v != 0)
	case kindInt32List:
		*(*[]int32)(at) = append(*(*[]int32)(at), int32(v))
	case kindInt64List:
		*(*[]int64)(at) = append(*(*[]int64)(at), int64(v))
	}
}

// bytes stores a field that is not a single string. The field is data[start:end], and its contents
// are data[from:end]. If it is a list or a map, bytes also stores the next fields with the same
// tag. It returns where the last field ends.
func (s *state) bytes(f *field, at unsafe.Pointer, data []byte, start, tagEnd, from, end int) (int, error) {
	switch f.kind {
	case kindBytes:
		*(*[]byte)(at) = append([]byte{}, data[from:end]...)
	case kindMessage:
		return end, s.message(f.plan, at, data[from:end])
	case kindStringPointer:
		return end, s.pointer(f, (*unsafe.Pointer)(at), data[from:end], true)
	case kindMessagePointer:
		return end, s.pointer(f, (*unsafe.Pointer)(at), data[from:end], false)
	case kindBoolList, kindInt32List, kindInt64List:
		for from < end {
			v, next, err := wire.Varint(data[:end], from)
			if err != nil {
				return 0, err
			}
			s.number(f, at, v)
			from = next
		}
	case kindMap:
		n, end := wire.CountRepeated(data, start, tagEnd, end)
		return end, s.mapping(f, at, data[start:end], tagEnd-start, n)
	default:
		n, end := wire.CountRepeated(data, start, tagEnd, end)
		return end, s.list(f, (*sliceHeader)(at), data[start:end], tagEnd-start, n)
	}
	return end, nil
}
