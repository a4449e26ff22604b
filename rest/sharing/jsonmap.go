package sharing

import (
	"fmt"
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kinform/kinform/internal/quantity"
	"github.com/kinform/kinform/rest/internal/wire"
)

// mapping stores a map.
func (s *jsonState) mapping(sl *slot, at unsafe.Pointer, i int) (end int, err error) {
	l, err := s.lookUp(sl, i)
	switch {
	case err != nil:
		return 0, err
	case l.found != nil:
		*(*unsafe.Pointer)(at) = l.found.value
		return l.end, nil
	}
	since := s.startCounts()
	switch {
	case sl.typ == reflect.TypeFor[map[string]any]():
		m := (*map[string]any)(at)
		if *m == nil {
			*m = map[string]any{}
		}
		end, err = s.anyMap(*m, i)
	case sl.isQuantityMap:
		m := make(map[string]resource.Quantity, l.count)
		*(*map[string]resource.Quantity)(at) = m
		end, err = s.quantityMap(sl, m, i)
	case sl.typ == reflect.TypeFor[map[string]string]():
		m := make(map[string]string, l.count)
		*(*map[string]string)(at) = m
		end, err = s.textMap(sl, m, i)
	default:
		m := reflect.MakeMapWithSize(sl.typ, l.count)
		reflect.NewAt(sl.typ, at).Elem().Set(m)
		end, err = s.otherMap(sl, m, i)
	}
	if err != nil {
		return 0, err
	}
	if sl.typ != reflect.TypeFor[map[string]any]() {
		s.decodedBytes += l.count * mapEntryBytes(sl.typ)
	}
	s.addEntry(l.missing, since, i, end, *(*unsafe.Pointer)(at), 0)
	return end, nil
}

// textMap fills a map of strings.
func (s *jsonState) textMap(sl *slot, m map[string]string, i int) (int, error) {
	i, more, err := s.enter(i, '}')
	for more {
		var text []byte
		if text, i, err = s.key(i); err != nil {
			return 0, err
		}
		key := s.sharedString(sl.text, text)
		switch {
		case i < len(s.data) && s.data[i] == '"':
			text, _, i, err = s.stringText(i)
		case i < len(s.data) && s.data[i] == 'n':
			text = nil
			i, err = wire.WordEnd(s.data, i)
		default:
			err = s.mismatch(sl.elem, i)
		}
		if err != nil {
			return 0, err
		}
		m[key] = s.sharedString(sl.elem.text, text)
		i, more, err = wire.NextValue(s.data, i, '}')
	}
	s.depth--
	return i, err
}

// quantityMap fills a map of quantities.
func (s *jsonState) quantityMap(sl *slot, m map[string]resource.Quantity, i int) (int, error) {
	i, more, err := s.enter(i, '}')
	for more {
		var text []byte
		if text, i, err = s.key(i); err != nil {
			return 0, err
		}
		key := s.sharedString(sl.text, text)
		end, _, err := wire.ValueEnd(s.data, i, s.depth)
		if err != nil {
			return 0, err
		}
		q, err := s.quantity(s.data[i:end], quantity.UnmarshalJSON)
		if err != nil {
			return 0, fmt.Errorf("json: %s at byte %d: %w", sl.elem.typ, i, err)
		}
		m[key] = q
		if i, more, err = wire.NextValue(s.data, end, '}'); err != nil {
			return 0, err
		}
	}
	if err != nil {
		return 0, err
	}
	s.depth--
	return i, nil
}

// otherMap fills any other map.
func (s *jsonState) otherMap(sl *slot, m reflect.Value, i int) (int, error) {
	key, value := reflect.New(sl.typ.Key()), reflect.New(sl.elem.typ)
	mutable := s.mutableCount
	i, more, err := s.enter(i, '}')
	for more {
		var text []byte
		if text, i, err = s.key(i); err != nil {
			return 0, err
		}
		*(*string)(key.UnsafePointer()) = s.sharedString(sl.text, text)
		texts := len(s.texts)
		if i, err = s.value(sl.elem, value.UnsafePointer(), i); err != nil {
			return 0, err
		}
		if sl.elem.kind == jsonQuantity {
			s.mutableCount = mutable // reading a value of a map makes a copy
		}
		s.copyTexts(texts) // the value will move into the map
		m.SetMapIndex(key.Elem(), value.Elem())
		value.Elem().SetZero()
		i, more, err = wire.NextValue(s.data, i, '}')
	}
	s.depth--
	return i, err
}
