package jsonpath

import (
	"errors"
	"fmt"
	"reflect"
)

// finder evaluates an expression.
type finder struct {
	lenient bool
	found   [][]reflect.Value
}

// parts evaluates the parts of an expression on data. If inRange is true, it stops at the end of
// the range. It returns the parts that it has not evaluated.
func (f *finder) parts(nodes []Node, data reflect.Value, inRange bool) (rest []Node, err error) {
	for len(nodes) > 0 {
		node := nodes[0]
		nodes = nodes[1:]
		word, list := keyword(node)
		switch word {
		case "end":
			if !inRange {
				return nil, errors.New("not in range, nothing to end")
			}
			return nodes, nil
		case "range":
			values, err := f.list([]reflect.Value{data}, list)
			if err != nil {
				return nil, err
			}
			rest := skipRange(nodes)
			for _, value := range values {
				if rest, err = f.parts(nodes, value, true); err != nil {
					return nil, err
				}
			}
			nodes = rest
		default:
			values, err := f.walk([]reflect.Value{data}, node)
			if err != nil {
				return nil, err
			}
			f.found = append(f.found, values)
		}
	}
	return nil, nil
}

// keyword returns the keyword of a part, which is "range", "end" or "", and the nodes of the part
// without the keyword.
func keyword(node Node) (word string, rest []Node) {
	list, ok := node.(*ListNode)
	if !ok {
		return "", nil
	}
	for _, n := range list.Nodes {
		if id, ok := n.(*IdentifierNode); ok && (id.Name == "range" || id.Name == "end") {
			word = id.Name
			continue
		}
		rest = append(rest, n)
	}
	return word, rest
}

// skipRange returns the parts after the end of a range.
func skipRange(nodes []Node) []Node {
	depth := 1
	for i, node := range nodes {
		switch word, _ := keyword(node); word {
		case "range":
			depth++
		case "end":
			depth--
		}
		if depth == 0 {
			return nodes[i+1:]
		}
	}
	return nil
}

// list applies nodes to values, one after another. Each node gets the results of the node before
// it.
func (f *finder) list(values []reflect.Value, nodes []Node) (_ []reflect.Value, err error) {
	for _, node := range nodes {
		if values, err = f.walk(values, node); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// walk applies a node to values.
func (f *finder) walk(values []reflect.Value, node Node) ([]reflect.Value, error) {
	switch node := node.(type) {
	case *ListNode:
		return f.list(values, node.Nodes)
	case *TextNode:
		return []reflect.Value{reflect.ValueOf(node.Text)}, nil
	case *IntNode:
		return repeat(node.Value, len(values)), nil
	case *FloatNode:
		return repeat(node.Value, len(values)), nil
	case *BoolNode:
		return repeat(node.Value, len(values)), nil
	case *FieldNode:
		return f.field(values, node.Value)
	case *ArrayNode:
		return elements(values, node.Params)
	case *FilterNode:
		return f.filter(values, node)
	case *WildcardNode:
		var found []reflect.Value
		for _, value := range values {
			found = append(found, children(value)...)
		}
		return found, nil
	case *RecursiveNode:
		var found []reflect.Value
		for _, value := range values {
			var err error
			if found, err = descend(found, value, 0); err != nil {
				return nil, err
			}
		}
		return found, nil
	case *UnionNode:
		var found []reflect.Value
		for _, list := range node.Nodes {
			more, err := f.list(values, list.Nodes)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
		return found, nil
	case *IdentifierNode:
		return nil, fmt.Errorf("unrecognized identifier %s", node.Name)
	default:
		return nil, fmt.Errorf("unexpected node %v", node)
	}
}

func repeat(value any, n int) []reflect.Value {
	found := make([]reflect.Value, n)
	for i := range found {
		found[i] = reflect.ValueOf(value)
	}
	return found
}

// field finds the value of a map key or struct field in each of the values. If none of the values
// has it, field returns an error, unless missing keys are allowed.
func (f *finder) field(values []reflect.Value, name string) (found []reflect.Value, err error) {
	for _, value := range values {
		value = indirect(value)
		var member reflect.Value
		switch value.Kind() {
		case reflect.Struct:
			member = fieldOf(value, name)
		case reflect.Map:
			key, to := reflect.ValueOf(name), value.Type().Key()
			if !key.CanConvert(to) {
				return nil, fmt.Errorf("%s is not convertible to %s", name, to)
			}
			member = value.MapIndex(key.Convert(to))
		}
		if member.IsValid() {
			found = append(found, member)
		}
	}
	if len(found) == 0 && len(values) > 0 && !f.lenient {
		return nil, notFound(name)
	}
	return found, nil
}

// notFound is the error for a field that no value has.
type notFound string

func (e notFound) Error() string { return string(e) + " is not found" }

// filter returns the elements for which the filter's condition holds.
func (f *finder) filter(values []reflect.Value, node *FilterNode) (found []reflect.Value, err error) {
	for _, value := range values {
		value = indirect(value)
		if value.Kind() != reflect.Slice && value.Kind() != reflect.Array {
			return nil, fmt.Errorf("%v is not array or slice and cannot be filtered", value)
		}
		for i := range value.Len() {
			element := value.Index(i)
			holds, err := f.matchesFilter(element, node)
			if err != nil {
				return nil, err
			}
			if holds {
				found = append(found, element)
			}
		}
	}
	return found, nil
}

// matchesFilter reports whether the filter's condition is true for an element.
func (f *finder) matchesFilter(element reflect.Value, node *FilterNode) (bool, error) {
	left, err := f.list([]reflect.Value{element}, node.Left.Nodes)
	if node.Operator == "exists" {
		return err == nil && len(left) > 0, nil
	}
	if err != nil {
		return false, err
	}
	right, err := f.list([]reflect.Value{element}, node.Right.Nodes)
	switch {
	case err != nil:
		return false, err
	case len(left) > 1 || len(right) > 1:
		return false, errors.New("can only compare one element at a time")
	case len(left) == 0 || len(right) == 0:
		return false, nil
	}
	return compare(left[0], right[0], node.Operator)
}
