package sharing

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kinform/kinform/internal/quantity"
)

// Quantities are parsed once. A container has four maps of quantities, and a cluster has few
// different quantities: "100m", "128Mi". Parsing a quantity takes longer than finding it among the
// quantities that a goroutine has parsed lately. For maps of quantities, setting an entry by
// reflect takes twice as long as setting it directly.

const (
	quantityCacheBits = 6
	maxCachedQuantity = 32 // bytes of the longest encoding that is kept
)

// quantityCache has quantities, at positions that depend on a few bits of their encodings.
type quantityCache [1 << quantityCacheBits]struct {
	text  string
	value resource.Quantity
}

// isQuantityMap reports whether a type is a map from strings, of any named type, to quantities.
func isQuantityMap(t reflect.Type) bool {
	return t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && t.Elem() == reflect.TypeFor[resource.Quantity]()
}

// quantity decodes a quantity. The result has no pointer through which a program could change
// another quantity.
func (s *state) quantity(data []byte, decode func(*resource.Quantity, []byte) error) (q resource.Quantity, err error) {
	if len(data) == 0 || len(data) > maxCachedQuantity || !s.share {
		err = decode(&q, data)
		return q, err
	}
	if s.quantities == nil {
		s.quantities = &quantityCache{}
	}
	sum := uint32(len(data))
	for _, c := range data {
		sum = sum*31 + uint32(c)
	}
	known := &s.quantities[sum*0x9e3779b9>>(32-quantityCacheBits)]
	if known.text == string(data) {
		return known.value.DeepCopy(), nil
	}
	if err = decode(&q, data); err == nil {
		known.text, known.value = string(data), q.DeepCopy()
	}
	return q, err
}

func unmarshalQuantity(q *resource.Quantity, data []byte) error { return quantity.Unmarshal(q, data) }
