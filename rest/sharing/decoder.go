package sharing

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/kinform/kinform/internal/quantity"
)

// Options are the choices of a Decoder. The zero value works.
type Options struct {
	// MaxBytes is roughly how much memory the table of what may repeat keeps alive,
	// in addition to the objects; much of it is part of these anyway. If negative,
	// nothing is shared, and every object owns all that it has. Defaults to 8 MiB,
	// which is plenty for clusters of hundreds of thousands of pods.
	MaxBytes int64
}

// Decoder decodes objects that share what is equal in them; see the package
// comment for the contract. It is safe for concurrent use and needs no closing.
type Decoder struct {
	table *table   // nil if nothing is shared
	plans sync.Map // of reflect.Type to *plan
	idle  chan *state

	reports       atomic.Int64
	hits, lookups atomic.Uint64
	small         *small
	json          jsonPart
	guard         quantity.Guard

	mu      sync.Mutex // guards following
	known   map[reflect.Type]*plan
	shapes  map[reflect.Type]int
	lessons []*lesson
}

// maxIdle is how many states are kept, each for one goroutine at a time.
const maxIdle = 16

// New returns a Decoder, which has learned nothing yet.
func New(opts Options) *Decoder {
	d := &Decoder{
		idle: make(chan *state, maxIdle), small: newSmall(),
		known: map[reflect.Type]*plan{}, shapes: map[reflect.Type]int{},
		json: jsonPart{idle: make(chan *jsonState, maxIdle)},
	}
	if opts.MaxBytes == 0 {
		opts.MaxBytes = 8 << 20
	}
	if opts.MaxBytes > 0 {
		d.table = newTable(opts.MaxBytes)
	}
	return d
}

// ErrType is wrapped by errors about a type that no message can be decoded into.
var ErrType = errors.New("cannot be decoded")

// errAgain says that a message has a field in two places, which have to be merged,
// and that what is to be changed thereby may be shared.
var errAgain = errors.New("protobuf: a field is in two places")

// DecodeProtobuf decodes one message, without the envelope that API servers put around
// it, into a new object: object points to a zero struct whose fields have protobuf
// tags. data is not kept.
//
// earlier is nil, or an object of which the new one may be a later version. The new
// object shares with it each list, map and pointer that is the same in both, and the
// strings that say who it is: namespace, name and UID. Nobody may change earlier from
// then on. If it is of another type, or the Decoder shares nothing, it is left aside.
// It may be any object, however it came about: what is decoded is the same as with nil.
//
// What is wrong with a type, such as a field that protobuf cannot have, is the answer
// to every call, and wraps [ErrType]. After an error, object is empty.
func (d *Decoder) DecodeProtobuf(data []byte, object, earlier any) error {
	v := reflect.ValueOf(object)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("sharing: DecodeProtobuf needs a pointer to a struct, not %T", object)
	}
	var s *state
	select {
	case s = <-d.idle:
	default:
		s = &state{decoder: d}
	}
	err := s.update(v, data, earlier)
	s.objects++
	if s.objects%objectsPerReport == 0 {
		s.report()
	}
	s.trim()
	select {
	case d.idle <- s:
	default:
	}
	return err
}

// update decodes a message into what v points to.
func (s *state) update(v reflect.Value, data []byte, earlier any) error {
	d := s.decoder
	if typ := v.Type(); typ != s.lastType {
		p, err := d.plan(typ.Elem())
		if err != nil {
			return err
		}
		s.lastType, s.lastPlan = typ, p
	}
	if d.table != nil {
		s.follow(v, earlier)
	}
	err := s.object(s.lastPlan, v, data, d.table != nil)
	s.forget()
	if err == errAgain {
		err = s.object(s.lastPlan, v, data, false)
	}
	return err
}

// follow makes an object the earlier version of the one that is decoded next, if it is
// of its type.
func (s *state) follow(v reflect.Value, object any) {
	s.earlier.from = uintptr(v.UnsafePointer())
	s.earlier.to = s.earlier.from + s.lastPlan.typ.Size()
	if object == nil {
		return
	}
	if before := reflect.ValueOf(object); before.Type() == v.Type() && !before.IsNil() {
		s.earlier.object = before.UnsafePointer()
	}
}

func (s *state) forget() { s.earlier, s.element = earlier{}, earlier{} }

// object decodes a message into the struct that v points to. If it cannot, the struct
// is left empty, so that nothing of it refers to data.
func (s *state) object(p *plan, v reflect.Value, data []byte, share bool) error {
	s.share, s.depth, s.floor = share, 0, 0
	err := s.message(p, v.UnsafePointer(), data)
	if err != nil {
		v.Elem().SetZero()
		clear(s.texts)
		s.texts = s.texts[:0]
		return err
	}
	s.settle(0)
	return nil
}

// Stats describes a Decoder. Counts are up to date within a few dozen objects.
type Stats struct {
	// Lookups counts what was looked for in the table, Hits what was there.
	Lookups, Hits uint64

	// Entries and Bytes are the content of the table and roughly what it keeps alive.
	Entries, Bytes int64

	// Fields is how many fields of the types seen so far may be shared, Watched how
	// many of them are looked up at present.
	Fields, Watched int
}

// Stats returns the counters. It is cheap, and safe for concurrent use.
func (d *Decoder) Stats() Stats {
	stats := Stats{Lookups: d.lookups.Load(), Hits: d.hits.Load()}
	if d.table != nil {
		stats.Entries, stats.Bytes = d.table.entries.Load(), d.table.bytes.Load()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	stats.Fields = len(d.lessons)
	for _, l := range d.lessons {
		if l.look.Load() {
			stats.Watched++
		}
	}
	return stats
}
