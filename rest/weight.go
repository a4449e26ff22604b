package rest

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/kinform/kinform/rest/internal/wire"
)

// A Resource estimates the memory of an object before anything decodes it (G11). Two bytes of
// protobuf can be an empty element, for which generated code makes a struct of 456 bytes: 16 MiB of
// such elements would take 4 GB. If a type contains itself, generated code calls itself for each
// level of nesting, until the stack is full and the process ends.
//
// Only costly parts are counted: elements of lists, entries of maps and pointers that take more
// memory than Options.MaxExpansion times their shortest encoding. In a pod these are its
// containers, volumes and conditions. All other parts together take at most MaxExpansion times
// their bytes. So an object may take twice the budget, and twice as much again while an append
// grows a list. In objects larger than weighAll, nearly all elements are counted.

// weightBase is the memory that every object may take in addition to its struct, even if its
// encoding is short.
const weightBase = 4 << 10

// In an object of more than weighAll bytes, each element that takes more than lightInAll times its
// bytes is counted. No API server stores objects of this size.
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

// scales estimate the memory of encoded objects of one type. The fields for an encoding are made on
// first use.
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

// budget returns the memory that an object of n bytes may take.
func (s *scales) budget(n int) int64 {
	return min(weightBase+int64(s.limits.expansion)*int64(n), s.limits.memory)
}

// weigh returns an error for an object that must not be decoded. size is the size of an object in
// JSON, as the cutter has counted it.
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

// weighing is the state of an estimate for one object.
type weighing struct {
	left    int64 // remaining bytes of memory
	depth   int   // remaining levels
	largest int   // largest element of the type, in JSON
}

// These are the reasons why an object must not be decoded; verdict adds the limit to them.
var (
	errHeavy = fmt.Errorf("%w: decoding would take more memory than the budget", ErrTooLarge)
	errDeep  = fmt.Errorf("%w: the object is nested too deep", ErrTooLarge)
)

// verdict adds the limit to an error.
func (s *scales) verdict(err error, data []byte) error {
	switch err {
	case errHeavy:
		return fmt.Errorf("%w: %d bytes may become %d in memory (rest.Options.MaxExpansion and MaxObjectMemory)", err, len(data), s.budget(len(data)))
	case errDeep:
		return fmt.Errorf("%w: rest.Options.MaxDepth allows %d levels", err, s.limits.depth)
	}
	return err
}
