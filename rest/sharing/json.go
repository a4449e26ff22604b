package sharing

import (
	"fmt"
	"reflect"
	"sync"

	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/rest/internal/wire"
)

// jsonPart is what a Decoder has for JSON.
type jsonPart struct {
	slots sync.Map // of reflect.Type to *slot, for the objects that were asked for
	idle  chan *jsonState

	// The lock of the decoder guards what follows.
	plans  map[reflect.Type]*jsonPlan
	shapes map[reflect.Type]int
	keys   map[string]*member
	texts  *lesson // about strings that are in no struct
}

// jsonState is what one goroutine needs to decode one object after another.
type jsonState struct {
	state
	data    []byte
	scratch []byte              // the text of a string with escapes
	elems   []any               // of lists whose length is not known yet
	recent  map[*lesson]*recent // what was found last
	members map[string]*member  // those of the decoder that were met

	checking bool // what is decoded is not wanted, and may have a field twice
}

// DecodeJSON is DecodeProtobuf for JSON, with the results of sigs.k8s.io/json, which
// is apimachinery's decoder, as it is used there: keys are case-sensitive, a number
// in an interface is an int64 if it can be, what a type has no field for is ignored,
// and types with a method UnmarshalJSON decode themselves. Structs need no tags
// beside those for JSON. object points to a zero value: of a struct, or, for
// unstructured objects, of a map[string]any; parts of these are shared as well.
//
// A quantity that would keep that decoder busy for hours, such as 1e-1000000000, is
// decoded as it would be in the end, at once, by DecodeProtobuf as well; what is 1e2000 or
// more is 1e2000. Where a method of the object's type takes a text for a quantity, which
// nobody can know, and does not refuse another one in its place, it has five seconds,
// and then goes on in a goroutine that nobody waits for, at most two of them at a time.
//
// Objects in which a field is twice, which no server writes, are left to that
// decoder, which merges the two, and own all that they have; so are values of types
// that Kubernetes does not use, such as maps whose keys are numbers.
//
// Errors name the byte where the reason is.
func (d *Decoder) DecodeJSON(data []byte, object any) error {
	v := reflect.ValueOf(object)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return fmt.Errorf("sharing: DecodeJSON needs a pointer, not %T", object)
	}
	root := d.jsonSlot(v.Type().Elem())
	var s *jsonState
	select {
	case s = <-d.json.idle:
	default:
		s = &jsonState{state: state{decoder: d}, recent: map[*lesson]*recent{}, members: map[string]*member{}}
	}
	err := s.root(root, v, data, d.table != nil)
	if err == errAgain {
		err = s.merged(root, v, data)
	}
	s.objects++
	if s.objects%objectsPerReport == 0 {
		s.report()
		clear(s.recent) // which must not keep for long what the table has dropped
	}
	if s.trim(); cap(s.scratch) > maxSpare || cap(s.elems) > maxSpare {
		s.scratch, s.elems = nil, nil // for one large object
	}
	select {
	case d.json.idle <- s:
	default:
	}
	return err
}

// maxSpare bounds what a state keeps for later, in bytes of texts and in elements.
const maxSpare = 64 << 10

// root decodes data into what v points to. If it cannot, that is left empty, so that
// nothing of it refers to data.
func (s *jsonState) root(sl *slot, v reflect.Value, data []byte, share bool) error {
	s.data, s.share, s.depth = data, share, 0
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
		s.settle(0)
	}
	s.data = nil
	return err
}

// merged leaves data to apimachinery's decoder, which merges what is there twice, once
// it is known to be well-formed.
func (s *jsonState) merged(sl *slot, v reflect.Value, data []byte) error {
	s.checking = true
	err := s.root(sl, reflect.New(sl.typ), data, false)
	s.checking = false
	if err != nil {
		return err
	}
	if err = s.decoder.guard.DecodeJSON(data, v.Interface(), kjson.UnmarshalCaseSensitivePreserveInts); err != nil {
		v.Elem().SetZero()
	}
	return err
}

// jsonSlot returns how to decode a type, which is found out when it is first asked for.
func (d *Decoder) jsonSlot(t reflect.Type) *slot {
	if sl, ok := d.json.slots.Load(t); ok {
		return sl.(*slot)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.json.plans == nil {
		d.json.plans = map[reflect.Type]*jsonPlan{}
		d.json.shapes = map[reflect.Type]int{}
		d.json.keys = map[string]*member{}
		d.json.texts = (&compiler{decoder: d}).textLesson()
	}
	c := jsonCompiler{compiler{decoder: d}}
	sl := c.slot(t, true, 0)
	sl.whole = nil // objects are not shared as a whole
	d.json.slots.Store(t, &sl)
	return &sl
}
