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
// their bytes. So an object may take twice the budget, and up to twice as much as that while an
// append grows a list. In objects larger than largeObjectBytes, nearly all elements are counted.

// baseMemory is the memory that every object may take in addition to its struct, even if its
// encoding is short.
const baseMemory = 4 << 10

// In an object of more than largeObjectBytes bytes, each element that takes more than
// largeObjectFactor times its bytes is counted. No API server stores objects of this size.
const (
	largeObjectBytes  = 2 << 20
	largeObjectFactor = 8
)

// budget has the budgets for one object.
type budget struct {
	expansion int
	memory    int64
	depth     int
}

// estimator estimates the memory of encoded objects of one type. It computes the costs for an
// encoding on first use.
type estimator struct {
	typ    reflect.Type
	budget budget

	protobuf func() *protobufCosts
	json     func() *jsonCosts
	large    func() *protobufCosts
}

func newEstimator(t reflect.Type, l budget) *estimator {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return &estimator{
		typ: t, budget: l,
		protobuf: sync.OnceValue(func() *protobufCosts { return newProtobufCosts(t, l.expansion) }),
		large:    sync.OnceValue(func() *protobufCosts { return newProtobufCosts(t, min(l.expansion, largeObjectFactor)) }),
		json:     sync.OnceValue(func() *jsonCosts { return newJSONCosts(t) }),
	}
}

// memoryBudget returns the memory that an object of n bytes may take.
func (s *estimator) memoryBudget(n int) int64 {
	return min(baseMemory+int64(s.budget.expansion)*int64(n), s.budget.memory)
}

// check returns an error for an object that must not be decoded. size is the size of an object in
// JSON, as the framer has counted it.
func (s *estimator) check(e Encoding, data []byte, size wire.JSONSize) error {
	w := estimate{memoryLeft: s.memoryBudget(len(data)), depthLeft: s.budget.depth}
	if e == JSON {
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
	errOverBudget = fmt.Errorf("%w: decoding would take more memory than the budget", ErrTooLarge)
	errTooDeep    = fmt.Errorf("%w: the object is nested too deep", ErrTooLarge)
)

// addLimit adds the limit to an error.
func (s *estimator) addLimit(err error, data []byte) error {
	switch err {
	case errOverBudget:
		return fmt.Errorf("%w: %d bytes may become %d in memory (rest.Options.MaxExpansion and MaxObjectMemory)", err, len(data), s.memoryBudget(len(data)))
	case errTooDeep:
		return fmt.Errorf("%w: rest.Options.MaxDepth allows %d levels", err, s.budget.depth)
	}
	return err
}
