package budget

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/kinform/kinform/rest/internal/wire"
)

// baseMemory is the memory that every object may take in addition to its struct, even if its
// encoding is short.
const baseMemory = 4 << 10

// In an object of more than largeObjectBytes bytes, each element that takes more than
// largeObjectFactor times its bytes is counted. No API server stores objects of this size.
const (
	largeObjectBytes  = 2 << 20
	largeObjectFactor = 8
)

// Limits are the budgets for one object; see the options of the same names in package rest.
type Limits struct {
	Expansion int   // memory, as a multiple of the encoded size
	Memory    int64 // memory, whatever the encoded size
	Depth     int   // levels
}

// Estimator estimates the memory of encoded objects of one type. It computes the costs for an
// encoding on first use. It is safe for concurrent use.
type Estimator struct {
	limits Limits

	protobuf func() *protobufCosts
	json     func() *jsonCosts
	large    func() *protobufCosts
}

// New returns an Estimator for objects of type t, or of the type that t points to.
func New(t reflect.Type, l Limits) *Estimator {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return &Estimator{
		limits:   l,
		protobuf: sync.OnceValue(func() *protobufCosts { return newProtobufCosts(t, l.Expansion) }),
		large:    sync.OnceValue(func() *protobufCosts { return newProtobufCosts(t, min(l.Expansion, largeObjectFactor)) }),
		json:     sync.OnceValue(func() *jsonCosts { return newJSONCosts(t) }),
	}
}

// memoryBudget returns the memory that an object of n bytes may take.
func (s *Estimator) memoryBudget(n int) int64 {
	return min(baseMemory+int64(s.limits.Expansion)*int64(n), s.limits.Memory)
}

// Check returns an error for an object that must not be decoded. size is the size of an object in
// JSON, as the framer has counted it.
func (s *Estimator) Check(e wire.Encoding, data []byte, size wire.JSONSize) error {
	w := estimate{memoryLeft: s.memoryBudget(len(data)), depthLeft: s.limits.Depth}
	if e == wire.JSON {
		return s.checkJSON(w, data, size)
	}
	costs := s.protobuf()
	if len(data) > largeObjectBytes {
		costs = s.large()
	}
	if costs == nil {
		return nil
	}
	return s.addLimit(w.countProtobuf(costs, data), data)
}

// estimate is the state of an estimate for one object.
type estimate struct {
	memoryLeft int64 // remaining bytes of memory
	depthLeft  int   // remaining levels
	largest    int   // largest element of the type, in JSON
}

// These are the reasons why an object must not be decoded; addLimit adds the limit to them.
var (
	errOverBudget = fmt.Errorf("%w: decoding would take more memory than the budget", wire.ErrTooLarge)
	errTooDeep    = fmt.Errorf("%w: the object is nested too deep", wire.ErrTooLarge)
)

// addLimit adds the limit to an error.
func (s *Estimator) addLimit(err error, data []byte) error {
	switch err {
	case errOverBudget:
		return fmt.Errorf("%w: %d bytes may become %d in memory (rest.Options.MaxExpansion and MaxObjectMemory)", err, len(data), s.memoryBudget(len(data)))
	case errTooDeep:
		return fmt.Errorf("%w: rest.Options.MaxDepth allows %d levels", err, s.limits.Depth)
	}
	return err
}
