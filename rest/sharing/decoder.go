package sharing

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/kinform/kinform/internal/quantity"
)

// Options are the optional settings of a Decoder. The zero value is ready for use.
type Options struct {
	// MaxBytes is the approximate memory that the table of shared values may keep alive. Much of it
	// belongs to living objects anyway. If it is negative, objects share nothing. Defaults to 8
	// MiB, which is plenty for clusters of hundreds of thousands of pods.
	MaxBytes int64

	// Share says what objects may share. Defaults to Everything.
	Share Policy

	// MutationDetector finds and reports shared parts that a program has changed in place; see
	// NewMutationDetector. Defaults to nil: the Decoder checks nothing.
	MutationDetector *MutationDetector
}

// Decoder decodes objects that share their equal parts; see the package comment for the
// contract. It is safe for concurrent use, and needs no Close.
type Decoder struct {
	table            *table // nil if objects share nothing
	policy           Policy
	mutationDetector *MutationDetector
	mutationFound    atomic.Bool // a program has changed a shared part in place
	mutations        atomic.Uint64

	plans  sync.Map // of reflect.Type to *plan
	states statePool[state]

	flushes       atomic.Int64
	hits, lookups atomic.Uint64
	small         *smallValues
	json          jsonPart
	guard         quantity.Guard

	mu             sync.Mutex // guards following
	planCache      map[typeAtPath]*plan
	typeIDs        map[reflect.Type]int
	lookupPolicies []*lookupPolicy
	reportedFields map[string]bool // by name: the mutation detector has reported the field
}

// New returns a Decoder with an empty table.
func New(opts Options) *Decoder {
	d := &Decoder{
		small:     newSmallValues(),
		planCache: map[typeAtPath]*plan{}, typeIDs: map[reflect.Type]int{},
		policy: opts.Share, mutationDetector: opts.MutationDetector,
	}
	if opts.MaxBytes == 0 {
		opts.MaxBytes = 8 << 20
	}
	if opts.MaxBytes > 0 {
		d.table = newTable(opts.MaxBytes)
	}
	return d
}

// ErrType means that no message can be decoded into a type. DecodeProtobuf wraps it.
var ErrType = errors.New("cannot be decoded")

// errDuplicateField says that a message has a field twice. Decoding would merge the second
// occurrence into the first, which other objects may share. So the object is decoded again without
// sharing.
var errDuplicateField = errors.New("protobuf: a field is in two places")

// DecodeProtobuf decodes one message, without the envelope that API servers put around it. object
// points to a zero struct whose fields have protobuf tags. DecodeProtobuf does not keep data.
//
// earlier is nil, or an earlier version of the object. The new object shares with this version each
// list, map and pointer that is equal in both, and the strings namespace, name and UID. From then
// on, no program may change the earlier version. The content of the new object does not depend on
// this argument, so any object may be passed. DecodeProtobuf ignores the argument if its type
// differs from the type of object, or if objects share nothing.
//
// If no message can be decoded into a type, for example because of a field without a protobuf
// encoding, every call with the type returns the same error. The error wraps [ErrType]. After an
// error, object is empty.
func (d *Decoder) DecodeProtobuf(data []byte, object, earlier any) error {
	v := reflect.ValueOf(object)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("sharing: DecodeProtobuf needs a pointer to a struct, not %T", object)
	}
	s := d.states.get()
	if s == nil {
		s = &state{decoder: d}
	}
	err := s.update(v, data, earlier)
	s.objects++
	if s.objects%objectsPerFlush == 0 {
		s.flushCounts()
	}
	s.trim()
	d.states.put(s)
	return err
}

// update decodes a message into the struct that v points to.
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
		s.setEarlier(v, earlier)
	}
	err := s.object(s.lastPlan, v, data, d.table != nil)
	s.clearEarlier()
	if err == errDuplicateField {
		err = s.object(s.lastPlan, v, data, false)
	}
	return err
}

// setEarlier makes object the earlier version for the next message, if both have the same type.
func (s *state) setEarlier(v reflect.Value, object any) {
	s.earlier.from = uintptr(v.UnsafePointer())
	s.earlier.to = s.earlier.from + s.lastPlan.typ.Size()
	if object == nil || s.decoder.policy != Everything {
		return
	}
	if before := reflect.ValueOf(object); before.Type() == v.Type() && !before.IsNil() {
		s.earlier.object = before.UnsafePointer()
	}
}

func (s *state) clearEarlier() { s.earlier, s.element = earlier{}, earlier{} }

// object decodes a message into the struct that v points to. After an error the struct is empty, so
// that it does not refer to data.
func (s *state) object(p *plan, v reflect.Value, data []byte, share bool) error {
	s.share, s.depth, s.firstPending = share, 0, 0
	s.shareParts = share && !s.decoder.mutationFound.Load()
	err := s.message(p, v.UnsafePointer(), data)
	if err != nil {
		v.Elem().SetZero()
		clear(s.texts)
		s.texts = s.texts[:0]
		return err
	}
	s.copyTexts(0)
	return nil
}

// Stats describes a Decoder. The counts may lag behind by a few dozen objects.
type Stats struct {
	// Lookups counts the look-ups in the table, and Hits the look-ups that found a value.
	Lookups, Hits uint64

	// Entries is the number of entries in the table. Bytes is the approximate memory that they keep
	// alive.
	Entries, Bytes int64

	// Mutations counts the shared parts that a program has changed in place; see Decoder.Check.
	Mutations uint64

	// Fields counts the fields that objects may share, in all types so far. ActiveFields counts
	// those fields for which the Decoder looks up values at present.
	Fields, ActiveFields int
}

// Stats returns the counters. It is cheap, and safe for concurrent use.
func (d *Decoder) Stats() Stats {
	stats := Stats{Lookups: d.lookups.Load(), Hits: d.hits.Load(), Mutations: d.mutations.Load()}
	if d.table != nil {
		stats.Entries, stats.Bytes = d.table.entries.Load(), d.table.bytes.Load()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	stats.Fields = len(d.lookupPolicies)
	for _, l := range d.lookupPolicies {
		if l.enabled.Load() {
			stats.ActiveFields++
		}
	}
	return stats
}
