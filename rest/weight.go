package rest

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/kinform/kinform/rest/internal/wire"
)

// What an object will take in memory is estimated before anything decodes it (G11). Two
// bytes of protobuf can be an empty container, for which generated code makes a struct
// of 456: 16 MiB of them would take 4 GB. And generated code calls itself for each
// level of a type that contains itself, until the stack has no more room, which ends the
// process.
//
// Nearly everything cannot be a bomb, and is not looked at. What counts are elements of
// lists, entries of maps and pointers whose memory is more than Options.MaxExpansion
// times the bytes that they need at least: of a pod that is its containers, volumes and
// conditions. All else takes at most so many times its bytes, whatever they are, so that
// an object as a whole may take twice as much; and an append may take twice as much
// again for a while.
//
// Objects beyond weighAll are weighed to the last element.

// weightBase is what an object may take however short its encoding is, besides the
// struct itself.
const weightBase = 4 << 10

// weighAll is from how many bytes on everything is counted that takes more than a few
// times its bytes. No API server stores objects of such a size.
const (
	weighAll   = 2 << 20
	lightInAll = 8
)

// limits are the budgets for one object.
type limits struct {
	expansion int
	memory    int64
	depth     int
}

// limits are those of the options, or else the defaults.
func (c *Client) limits() limits {
	return limits{
		expansion: orDefault(c.maxExpansion, 64), memory: orDefault(c.maxMemory, 256<<20), depth: orDefault(c.maxDepth, wire.MaxDepth),
	}
}

// scales weigh encoded objects of one type. They are made when they are first needed.
type scales struct {
	typ    reflect.Type
	limits limits

	protobuf func() *protobufScales
	json     func() *jsonScales
	all      func() *protobufScales
}

func newScales(t reflect.Type, l limits) *scales {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return &scales{
		typ: t, limits: l,
		protobuf: sync.OnceValue(func() *protobufScales { return newProtobufScales(t, l.expansion) }),
		all:      sync.OnceValue(func() *protobufScales { return newProtobufScales(t, min(l.expansion, lightInAll)) }),
		json:     sync.OnceValue(func() *jsonScales { return newJSONScales(t) }),
	}
}

// budget is how much memory an object of so many bytes may take.
func (s *scales) budget(n int) int64 {
	return min(weightBase+int64(s.limits.expansion)*int64(n), s.limits.memory)
}

// weigh returns an error for an object that must not be decoded. size is what is known
// of it where it is in JSON.
func (s *scales) weigh(e Encoding, data []byte, size wire.JSONSize) error {
	w := weighing{left: s.budget(len(data)), depth: s.limits.depth}
	if e == JSON {
		return s.weighJSON(w, data, size)
	}
	scales := s.protobuf()
	if len(data) > weighAll {
		scales = s.all()
	}
	if scales == nil {
		return nil
	}
	return s.verdict(w.protobuf(scales, data), data)
}

// weighing is the state of weighing one object.
type weighing struct {
	left    int64 // bytes of memory
	depth   int   // levels
	largest int   // element of the type, in JSON
}

// What is wrong with an object; see verdict.
var (
	errHeavy = fmt.Errorf("%w: decoded, it would take more memory than it may", ErrTooLarge)
	errDeep  = fmt.Errorf("%w: it is nested too deep", ErrTooLarge)
)

// verdict says of an error what the limit was.
func (s *scales) verdict(err error, data []byte) error {
	switch err {
	case errHeavy:
		return fmt.Errorf("%w: its %d bytes may become %d, by rest.Options.MaxExpansion and MaxObjectMemory", err, len(data), s.budget(len(data)))
	case errDeep:
		return fmt.Errorf("%w: rest.Options.MaxDepth allows %d levels", err, s.limits.depth)
	}
	return err
}
