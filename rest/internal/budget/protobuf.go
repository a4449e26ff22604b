package budget

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/kinform/kinform/rest/internal/wire"
)

// protobufCosts has the cost of each field of a message, by number. Fields that are not in it take
// little memory.
type protobufCosts []protobufCost

// protobufCost is the cost of one field.
type protobufCost struct {
	bytes int // memory of each element; 0 if too small to count
	// costs of the message within; nil if nothing in it is counted and its depth needs no bound
	message *protobufCosts
}

// minElement is the shortest encoding of an element: a tag and a length. minEntry is the shortest
// encoding of an entry of a map. It includes a tag and a length for the key, because all entries
// without a key are one entry.
const (
	minElement = 2
	minEntry   = 4
)

// countProtobuf counts the memory of a message.
func (w *estimate) countProtobuf(s *protobufCosts, message []byte) error {
	if w.depthLeft--; w.depthLeft < 0 {
		return errTooDeep
	}
	for len(message) > 0 {
		var number uint64
		var value []byte
		if len(message) > 1 && message[0] < 0x80 && message[0]&7 == wire.TypeBytes && int(message[1]) <= len(message)-2 && message[1] < 0x80 && message[0] > 7 {
			end := 2 + int(message[1]) // Most fields have a number and a length of one byte each.
			number, value, message = uint64(message[0]>>3), message[2:end], message[end:]
		} else {
			h, v, rest, err := wire.NextField(message, false)
			if err != nil {
				return err
			}
			number, value, message = h.Field, v, rest
			if h.Type != wire.TypeBytes {
				continue
			}
		}
		if number >= uint64(len(*s)) {
			continue
		}
		f := &(*s)[number]
		if w.memoryLeft -= int64(f.bytes); w.memoryLeft < 0 {
			return errOverBudget
		}
		if f.message != nil {
			if err := w.countProtobuf(f.message, value); err != nil {
				return err
			}
		}
	}
	w.depthLeft++
	return nil
}

// protobufCostBuilder finds the fields that have to be counted.
type protobufCostBuilder struct {
	maxFactor int // fields that take at most this many times their bytes are not counted
	types     map[reflect.Type]*protobufType
	all       []*protobufType // of types, and of entries of maps
}

// protobufType has the facts about a type while its costs are computed.
type protobufType struct {
	costs   protobufCosts
	fields  []protobufField
	counted bool // it has a field to count, or contains itself
	pending bool // message is examining its fields
}

type protobufField struct {
	number  int
	cost    protobufCost
	message *protobufType // nil if the field is not a message
}

// newProtobufCosts returns the costs of a type. It returns nil if no field has to be counted: then
// no object takes more than maxFactor times its bytes.
func newProtobufCosts(t reflect.Type, maxFactor int) *protobufCosts {
	c := protobufCostBuilder{maxFactor: maxFactor, types: map[reflect.Type]*protobufType{}}
	root := c.message(t)
	for changed := true; changed; { // until no more types have to be counted
		changed = false
		for _, known := range c.all {
			for _, f := range known.fields {
				if !known.counted && (f.cost.bytes > 0 || f.message != nil && f.message.counted) {
					known.counted, changed = true, true
				}
			}
		}
	}
	for _, known := range c.all {
		for _, f := range known.fields {
			if f.message != nil && f.message.counted {
				f.cost.message = &f.message.costs
			}
			if f.cost == (protobufCost{}) {
				continue
			}
			for len(known.costs) <= f.number {
				known.costs = append(known.costs, protobufCost{})
			}
			known.costs[f.number] = f.cost
		}
	}
	if !root.counted {
		return nil
	}
	return &root.costs
}

// message returns the facts about a struct, after examining its fields.
func (c *protobufCostBuilder) message(t reflect.Type) *protobufType {
	if known := c.types[t]; known != nil {
		known.counted = known.counted || known.pending // it contains itself
		return known
	}
	m := &protobufType{pending: true}
	c.types[t], c.all = m, append(c.all, m)
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			field := t.Field(i)
			parts := strings.Split(field.Tag.Get("protobuf"), ",")
			if len(parts) < 2 {
				continue
			}
			if number, err := strconv.Atoi(parts[1]); err == nil && number > 0 && number <= maxFieldNumber {
				m.fields = append(m.fields, c.field(number, field.Type))
			}
		}
	}
	m.pending = false
	return m
}

// maxFieldNumber limits the numbers of fields, because they index a table. Field numbers in
// Kubernetes are below a hundred.
const maxFieldNumber = 1 << 12

// field computes how much memory each occurrence of a field takes.
func (c *protobufCostBuilder) field(number int, t reflect.Type) protobufField {
	f := protobufField{number: number}
	switch t.Kind() {
	case reflect.Struct:
		f.message = c.message(t)
	case reflect.Pointer:
		f.cost.bytes, f.message = c.element(t.Elem(), minElement)
	case reflect.Slice:
		f.cost.bytes, f.message = c.element(t.Elem(), minElement)
	case reflect.Map:
		// An entry is a message whose field 2 is the value.
		entry := &protobufType{}
		c.all = append(c.all, entry)
		value := protobufField{number: 2}
		if _, value.message = c.element(t.Elem(), minEntry); value.message != nil {
			entry.fields = append(entry.fields, value)
		}
		cost := mapEntryBytes(t)
		if t.Elem().Kind() == reflect.Pointer {
			cost += int(t.Elem().Elem().Size())
		}
		if cost > c.maxFactor*minEntry {
			f.cost.bytes = cost
		}
		f.message = entry
	}
	return f
}

// element returns the memory of an element of a type, including its pointee, or 0 if this is too
// little to count.
func (c *protobufCostBuilder) element(t reflect.Type, bytes int) (cost int, in *protobufType) {
	cost = int(t.Size())
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
		cost += int(t.Size())
	}
	if t.Kind() == reflect.Struct {
		in = c.message(t)
	}
	if cost <= c.maxFactor*bytes {
		cost = 0
	}
	return cost, in
}

// mapEntryBytes returns roughly the memory of a map's entry, including the free space of a map.
// Large keys and values are behind a pointer.
func mapEntryBytes(t reflect.Type) int {
	entry, apart := 0, 0
	for _, part := range []reflect.Type{t.Key(), t.Elem()} {
		size := int(part.Size())
		if size > 128 {
			apart, size = apart+size, 8
		}
		entry += size
	}
	return 2*entry + apart
}
