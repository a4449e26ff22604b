package jsonpath

import (
	"fmt"
	"reflect"

	"k8s.io/client-go/third_party/forked/golang/template"
)

// operators maps each operator of a filter to its comparison.
var operators = map[string]func(left, right any) (bool, error){
	"==": func(left, right any) (bool, error) { return template.Equal(left, right) },
	"!=": template.NotEqual,
	"<":  template.Less,
	"<=": template.LessEqual,
	">":  template.Greater,
	">=": template.GreaterEqual,
}

// compare reports whether an operator holds between two values. Incomparable values are an error.
func compare(left, right reflect.Value, operator string) (bool, error) {
	holds, ok := operators[operator]
	if !ok {
		return false, fmt.Errorf("unrecognized filter operator %s", operator)
	}
	return holds(interfaceOf(indirect(left)), interfaceOf(indirect(right)))
}
