package sharing

import (
	"fmt"
	"reflect"
	"sync"

	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/rest/internal/wire"
)

// jsonPart has the fields of a Decoder for JSON.
type jsonPart struct {
	slots  sync.Map // of reflect.Type to *slot, for the types of objects
	states statePool[jsonState]

	// The lock of the decoder guards the fields below.
	plans   map[typeAtPath]*jsonPlan
	typeIDs map[reflect.Type]int
	members map[string]*member
	texts   *lookupPolicy // for strings outside of structs
}

// jsonState is the state of one goroutine that decodes one object after another.
type jsonState struct {
	state
	data    []byte
	scratch []byte                    // the text of a string with escapes
	elems   []any                     // elements of lists whose length is not known yet
	recent  map[*lookupPolicy]*recent // the entries that were found last
	members map[string]*member        // entries of decoder.json.members in use

	syntaxOnly bool // checks only the syntax: drops the result, and allows duplicate fields
}

// DecodeJSON decodes one object from JSON. object points to a zero struct with JSON tags or, for an
// unstructured object, to a map[string]any. Objects of both kinds share their equal parts. The map
// may have the apiVersion and the kind that a list implies for its items. They stay in the map if
// data does not have them.
//
// The results equal the results of sigs.k8s.io/json, apimachinery's decoder, with apimachinery's
// options. Keys are case-sensitive. A number in an interface is an int64 if possible. Fields that
// the type lacks are ignored. Types with a method UnmarshalJSON decode themselves. Errors name the
// position of the unexpected byte.
//
// A quantity such as 1e-1000000000 would keep apimachinery's decoder busy for hours. DecodeJSON and
// DecodeProtobuf decode it at once, to the same result. A quantity of 1e2000 or more becomes
// 1e2000. A method of the object's type may parse any text as a quantity. If the data has an
// extreme text, DecodeJSON first calls the method with a harmless text instead. If the method
// accepts the harmless text, DecodeJSON calls it with the original text, and waits for five
// seconds. Then DecodeJSON returns an error, and the method continues in a goroutine that nothing
// waits for. At most two of these goroutines run at a time.
//
// If an object has a field twice, sigs.k8s.io/json decodes it and merges the two occurrences. (No
// server writes such objects.) Then the object shares nothing. Values of types that Kubernetes does
// not use, such as maps with numbers as keys, share nothing either.
func (d *Decoder) DecodeJSON(data []byte, object any) error {
	v := reflect.ValueOf(object)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return fmt.Errorf("sharing: DecodeJSON needs a pointer, not %T", object)
	}
	root := d.jsonSlot(v.Type().Elem())
	s := d.json.states.get()
	if s == nil {
		s = &jsonState{state: state{decoder: d}, recent: map[*lookupPolicy]*recent{}, members: map[string]*member{}}
	}
	err := s.root(root, v, data, d.table != nil)
	if err == errDuplicateField {
		err = s.decodeDuplicates(root, v, data)
	}
	s.objects++
	if s.objects%objectsPerFlush == 0 {
		s.flushCounts()
		clear(s.recent) // or recent would keep entries alive that the table has dropped
	}
	if s.trim(); cap(s.scratch) > maxSpare || cap(s.elems) > maxSpare {
		s.scratch, s.elems = nil, nil // a large object has made them large
	}
	d.json.states.put(s)
	return err
}

// maxSpare limits the buffers that a state keeps for reuse: the bytes of scratch, and the elements
// of elems.
const maxSpare = 64 << 10

// root decodes data into the value that v points to. After an error the value is empty, so that it
// does not refer to data.
func (s *jsonState) root(sl *slot, v reflect.Value, data []byte, share bool) error {
	s.data, s.share, s.depth = data, share, 0
	s.shareParts, s.pathPolicy = share && !s.decoder.mutationFound.Load(), nil
	if content, ok := v.Interface().(*map[string]any); ok {
		s.pathPolicy = s.decoder.policy.pathPolicyOfContent(*content)
	}
	i := wire.Space(data, 0)
	i, err := s.value(sl, v.UnsafePointer(), i)
	if err == nil {
		if i = wire.Space(data, i); i < len(data) {
			err = wire.Unexpected(data, i, "the end")
		}
	}
	if err != nil {
		v.Elem().SetZero()
		clear(s.texts)
		clear(s.elems)
		s.texts, s.elems = s.texts[:0], s.elems[:0]
	} else {
		s.copyTexts(0)
	}
	s.data = nil
	return err
}

// decodeDuplicates checks that data is well-formed, and decodes it by apimachinery's decoder, which
// merges duplicate fields.
func (s *jsonState) decodeDuplicates(sl *slot, v reflect.Value, data []byte) error {
	s.syntaxOnly = true
	err := s.root(sl, reflect.New(sl.typ), data, false)
	s.syntaxOnly = false
	if err != nil {
		return err
	}
	if err = s.decoder.guard.DecodeJSON(data, v.Interface(), kjson.UnmarshalCaseSensitivePreserveInts); err != nil {
		v.Elem().SetZero()
	}
	return err
}

// jsonSlot returns the slot of a type of objects. It makes the slot at the first call.
func (d *Decoder) jsonSlot(t reflect.Type) *slot {
	if sl, ok := d.json.slots.Load(t); ok {
		return sl.(*slot)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.json.plans == nil {
		d.json.plans = map[typeAtPath]*jsonPlan{}
		d.json.typeIDs = map[reflect.Type]int{}
		d.json.members = map[string]*member{}
		d.json.texts = (&compiler{decoder: d}).newTextLookupPolicy()
	}
	c := jsonCompiler{compiler: compiler{decoder: d, pathPolicy: d.policy.pathPolicyOf(t)}}
	sl := c.slot(t, true, 0)
	sl.whole = nil // objects as a whole are not shared
	d.json.slots.Store(t, &sl)
	return &sl
}
