package jsonpath

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
)

// operators say whether what compares so holds.
var operators = map[string]func(order int) bool{
	"==": func(order int) bool { return order == 0 },
	"!=": func(order int) bool { return order != 0 },
	"<":  func(order int) bool { return order < 0 },
	"<=": func(order int) bool { return order <= 0 },
	">":  func(order int) bool { return order > 0 },
	">=": func(order int) bool { return order >= 0 },
}

// compare says whether left is to right as the operator says. Only numbers of one kind, strings and booleans can be
// compared; a number with a point is of another kind than one without.
func compare(left, right reflect.Value, operator string) (bool, error) {
	holds, ok := operators[operator]
	if !ok {
		return false, fmt.Errorf("unrecognized filter operator %s", operator)
	}
	left, right = indirect(left), indirect(right)
	l, r := kindOf(left), kindOf(right)
	var order int
	switch {
	case l == reflect.Invalid || r == reflect.Invalid:
		return false, errors.New("invalid type for comparison")
	case l != r:
		return false, errors.New("incompatible types for comparison")
	case l == reflect.Int:
		order = cmp.Compare(left.Int(), right.Int())
	case l == reflect.Uint:
		order = cmp.Compare(left.Uint(), right.Uint())
	case l == reflect.Float64:
		order = cmp.Compare(left.Float(), right.Float())
	case l == reflect.String:
		order = cmp.Compare(left.String(), right.String())
	default: // a boolean
		if operator != "==" && operator != "!=" {
			return false, errors.New("invalid type for comparison")
		}
		if left.Bool() != right.Bool() {
			order = 1
		}
	}
	return holds(order), nil
}

// kindOf returns one kind for all that can be compared with each other, and Invalid for what can't be compared.
func kindOf(v reflect.Value) reflect.Kind {
	switch {
	case v.CanInt():
		return reflect.Int
	case v.CanUint():
		return reflect.Uint
	case v.CanFloat():
		return reflect.Float64
	case v.Kind() == reflect.String, v.Kind() == reflect.Bool:
		return v.Kind()
	}
	return reflect.Invalid
}
