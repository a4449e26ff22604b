package sharing

import (
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kinform/kinform/rest/internal/wire"
)

// mapFiller adds entries to a map.
type mapFiller struct {
	state      *state
	field      *field
	texts      map[string]string // the map, if it is a map[string]string
	quantities map[string]resource.Quantity
	value      reflect.Value  // the map, if it is of any other type
	k, v       reflect.Value  // hold the key and the value of each entry
	kp, vp     unsafe.Pointer // their addresses
}

var stringMapType = reflect.TypeFor[map[string]string]()

// newMapFiller prepares to add n entries to the map at an address. If the map is nil, it makes the
// map.
func newMapFiller(s *state, f *field, at unsafe.Pointer, n int) mapFiller {
	if f.typ == stringMapType {
		m := (*map[string]string)(at)
		if *m == nil {
			*m = make(map[string]string, n)
		}
		return mapFiller{state: s, field: f, texts: *m}
	}
	if f.isQuantityMap {
		// All maps from a string type to quantities have the same layout.
		m := (*map[string]resource.Quantity)(at)
		if *m == nil {
			*m = make(map[string]resource.Quantity, n)
		}
		return mapFiller{state: s, field: f, quantities: *m}
	}
	m := reflect.NewAt(f.typ, at).Elem()
	if m.IsNil() {
		m.Set(reflect.MakeMapWithSize(f.typ, n))
	}
	k, v := reflect.New(f.typ.Key()), reflect.New(f.typ.Elem())
	return mapFiller{state: s, field: f, value: m, k: k.Elem(), v: v.Elem(), kp: k.UnsafePointer(), vp: v.UnsafePointer()}
}

// add adds one entry: a message with key=1 and value=2. Like generated code, it checks only the
// field numbers, and not the wire types.
func (m *mapFiller) add(data []byte) error {
	var key, value []byte
	var n uint64
	if p := m.field.value.plan; p != nil && p.list {
		_ = m.state.message(p, m.vp, nil)
	}
	var q resource.Quantity
	to := m.vp
	if m.quantities != nil {
		to = unsafe.Pointer(&q)
	}
	for i := 0; i < len(data); {
		tag, end, err := wire.Varint(data, i)
		if err != nil {
			return err
		}
		switch field, kind := int32(tag>>3), m.field.value.kind; {
		case field == 2 && kind.isVarint():
			n, i, err = wire.Varint(data, end)
		case field == 1 || field == 2:
			var from int
			if from, i, err = wire.Contents(data, end); err != nil {
				return err
			}
			if field == 1 {
				key = data[from:i]
			} else if value = data[from:i]; kind == kindMessage {
				// If there are several values, the last one counts.
				if q = (resource.Quantity{}); m.quantities == nil {
					m.v.SetZero()
				}
				err = m.state.decodeAndCopy(m.field.value.plan, to, value)
			}
		default:
			i, err = wire.SkipField(data, end, tag&7)
		}
		if err != nil {
			return err
		}
	}
	if m.quantities != nil {
		m.quantities[m.state.sharedString(m.field.text, key)] = q
		return nil
	}
	m.put(key, value, n)
	return nil
}

// addSimple adds an entry that has one key and one value, in this order. It returns false for types
// of maps that need the method add.
func (m *mapFiller) addSimple(key, value []byte) (ok bool, err error) {
	switch s := m.state; {
	case m.texts != nil:
		m.put(key, value, 0)
	case m.quantities != nil:
		q, err := s.quantity(value, unmarshalQuantity)
		if err != nil {
			return true, err
		}
		m.quantities[s.sharedString(m.field.text, key)] = q
	default:
		return false, nil
	}
	return true, nil
}

func (m *mapFiller) put(key, value []byte, n uint64) {
	s, f := m.state, m.field
	if m.texts != nil {
		m.texts[s.sharedString(f.text, key)] = s.sharedString(f.value.text, value)
		return
	}
	*(*string)(m.kp) = s.sharedString(f.text, key)
	switch f.value.kind {
	case kindString:
		*(*string)(m.vp) = s.sharedString(f.value.text, value)
	case kindBytes:
		*(*[]byte)(m.vp) = append([]byte{}, value...)
	case kindMessage:
	default:
		s.number(f.value, m.vp, n)
	}
	m.value.SetMapIndex(m.k, m.v)
	m.v.SetZero()
}

// mapEntryBytes returns the approximate memory of a map's entry, including the free space of the
// map.
func mapEntryBytes(t reflect.Type) int { return 2 * int(t.Key().Size()+t.Elem().Size()) }
