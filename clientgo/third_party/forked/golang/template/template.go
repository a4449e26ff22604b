// Package template has the reflection helpers that evaluators of templates and JSONPath need:
// comparisons of values, and the printable form of a value. It has the functions that client-go
// exports from its fork of text/template.
package template

import (
	"errors"
	"fmt"
	"reflect"
)

// The errors of the comparisons.
var (
	errBadComparisonType = errors.New("invalid type for comparison")
	errBadComparison     = errors.New("incompatible types for comparison")
	errNoComparison      = errors.New("missing argument for comparison")
)

// relation is the result of comparing two values.
type relation struct {
	less, equal bool
	unordered   bool // booleans and complex numbers have no order
}

// relate compares two values. Integers of any sign and size are comparable with each other. Other
// values are comparable only with values of their own kind.
func relate(a, b reflect.Value) (relation, error) {
	switch {
	case !canCompare(a) || !canCompare(b):
		return relation{}, errBadComparisonType
	case a.CanInt() && b.CanInt():
		return relation{less: a.Int() < b.Int(), equal: a.Int() == b.Int()}, nil
	case a.CanUint() && b.CanUint():
		return relation{less: a.Uint() < b.Uint(), equal: a.Uint() == b.Uint()}, nil
	case a.CanInt() && b.CanUint():
		negative, size := a.Int() < 0, uint64(a.Int())
		return relation{less: negative || size < b.Uint(), equal: !negative && size == b.Uint()}, nil
	case a.CanUint() && b.CanInt():
		negative, size := b.Int() < 0, uint64(b.Int())
		return relation{less: !negative && a.Uint() < size, equal: !negative && a.Uint() == size}, nil
	case a.CanFloat() && b.CanFloat():
		return relation{less: a.Float() < b.Float(), equal: a.Float() == b.Float()}, nil
	case a.CanComplex() && b.CanComplex():
		return relation{equal: a.Complex() == b.Complex(), unordered: true}, nil
	case a.Kind() == reflect.String && b.Kind() == reflect.String:
		return relation{less: a.String() < b.String(), equal: a.String() == b.String()}, nil
	case a.Kind() == reflect.Bool && b.Kind() == reflect.Bool:
		return relation{equal: a.Bool() == b.Bool(), unordered: true}, nil
	}
	return relation{}, errBadComparison
}

// canCompare reports whether a value is a number, a string or a boolean.
func canCompare(v reflect.Value) bool {
	return v.CanInt() || v.CanUint() || v.CanFloat() || v.CanComplex() || v.Kind() == reflect.String || v.Kind() == reflect.Bool
}

// Equal reports whether arg1 equals one of the values arg2. At least one value is required. It
// compares numbers, strings and booleans. It returns an error if two values are not comparable.
func Equal(arg1 interface{}, arg2 ...interface{}) (bool, error) {
	first := reflect.ValueOf(arg1)
	switch {
	case !canCompare(first):
		return false, errBadComparisonType
	case len(arg2) == 0:
		return false, errNoComparison
	}
	for _, other := range arg2 {
		if r, err := relate(first, reflect.ValueOf(other)); err != nil || r.equal {
			return r.equal, err
		}
	}
	return false, nil
}

// NotEqual reports whether two values differ. If there is an error, it returns true.
func NotEqual(arg1, arg2 interface{}) (bool, error) {
	equal, err := Equal(arg1, arg2)
	return !equal, err
}

// Less reports whether arg1 is less than arg2. It returns an error for booleans and complex
// numbers, which have no order.
func Less(arg1, arg2 interface{}) (bool, error) {
	r, err := ordered(arg1, arg2)
	return r.less, err
}

// LessEqual reports whether arg1 is less than arg2 or equal to it.
func LessEqual(arg1, arg2 interface{}) (bool, error) {
	r, err := ordered(arg1, arg2)
	return r.less || r.equal, err
}

// Greater reports whether arg1 is neither less than arg2 nor equal to it. It is true for a NaN.
func Greater(arg1, arg2 interface{}) (bool, error) {
	r, err := ordered(arg1, arg2)
	return err == nil && !r.less && !r.equal, err
}

// GreaterEqual reports whether arg1 is not less than arg2. It is true for a NaN.
func GreaterEqual(arg1, arg2 interface{}) (bool, error) {
	r, err := ordered(arg1, arg2)
	return err == nil && !r.less, err
}

// ordered compares values that have an order.
func ordered(a, b interface{}) (relation, error) {
	r, err := relate(reflect.ValueOf(a), reflect.ValueOf(b))
	if r.unordered {
		return relation{}, errBadComparisonType
	}
	return r, err
}

// Indirect follows pointers and empty interfaces to the value that they hold. It stops at a nil
// value, with isNil set. It also stops at an interface with methods, because the caller may need
// the methods.
func Indirect(v reflect.Value) (rv reflect.Value, isNil bool) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		switch {
		case v.IsNil():
			return v, true
		case v.Kind() == reflect.Interface && v.NumMethod() > 0:
			return v, false
		}
		v = v.Elem()
	}
	return v, false
}

// PrintableValue returns the value to pass to package fmt in place of v. If v or its address is an
// error or a fmt.Stringer, it returns the error or Stringer. Otherwise it follows pointers and
// returns the value behind them. It returns false for channels and functions, which cannot be
// printed.
func PrintableValue(v reflect.Value) (interface{}, bool) {
	if v.Kind() == reflect.Pointer {
		v, _ = Indirect(v)
	}
	if !v.IsValid() {
		return "<no value>", true
	}
	switch {
	case prints(v.Type()):
	case v.CanAddr() && prints(reflect.PointerTo(v.Type())):
		v = v.Addr()
	case v.Kind() == reflect.Chan || v.Kind() == reflect.Func:
		return nil, false
	}
	return v.Interface(), true
}

// prints reports whether a type implements error or fmt.Stringer.
func prints(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[error]()) || t.Implements(reflect.TypeFor[fmt.Stringer]())
}
