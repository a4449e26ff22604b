// Package jsonpath finds and prints parts of an object, as kubectl's -o jsonpath does.
//
// An expression is text with parts in braces. Each part is a path into the object:
//
//   - .name or ['name'] finds a field; in brackets, each dot without a backslash begins a field of
//     the field before it
//   - [0], [-1], [1:3], [0:4:2], [*], [0,2] and ['a','b'] select elements
//   - .* finds all values, and ..name finds a name at every depth
//   - [?(@.name=="x")] selects the elements for which the condition is true
//
// @ and $ stand for the object, and may be omitted. {"\n"} is text with escapes. {range
// PATH}...{end} is repeated for each value that the path finds.
//
// .* and .. return the values of a map in the order of its keys.
package jsonpath

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
)

// JSONPath is an expression. After Parse and the options are set, it is safe for concurrent use.
type JSONPath struct {
	name    string
	parser  *Parser
	lenient bool
	asJSON  bool
}

// New returns a JSONPath without an expression. The name is used in errors.
func New(name string) *JSONPath { return &JSONPath{name: name} }

// AllowMissingKeys determines what a missing key means: an error if allow is false, and no results
// if it is true. Defaults to an error. AllowMissingKeys returns j.
func (j *JSONPath) AllowMissingKeys(allow bool) *JSONPath {
	j.lenient = allow
	return j
}

// EnableJSONOutput makes PrintResults print a JSON array if v is true. By default PrintResults
// prints text.
func (j *JSONPath) EnableJSONOutput(v bool) { j.asJSON = v }

// Parse parses the expression. On an error, j has no expression.
func (j *JSONPath) Parse(text string) (err error) {
	j.parser, err = Parse(j.name, text)
	return err
}

// Execute prints the results of the expression on data. If the evaluation fails, it prints nothing.
func (j *JSONPath) Execute(wr io.Writer, data interface{}) error {
	all, err := j.FindResults(data)
	if err != nil {
		return err
	}
	for _, results := range all {
		if err := j.PrintResults(wr, results); err != nil {
			return err
		}
	}
	return nil
}

// FindResults returns the results of each part of the expression on data. The parts inside a range
// have results for each repetition of the range. The result of a literal text is the text.
func (j *JSONPath) FindResults(data interface{}) ([][]reflect.Value, error) {
	if j.parser == nil {
		return nil, fmt.Errorf("%s is an incomplete jsonpath template", j.name)
	}
	f := finder{lenient: j.lenient}
	if _, err := f.parts(j.parser.Root.Nodes, reflect.ValueOf(data), false); err != nil {
		return nil, err
	}
	return f.found, nil
}

// PrintResults prints values as text, separated by spaces; maps, slices and structs are JSON on one
// line. With JSON output it prints an indented JSON array and a newline.
func (j *JSONPath) PrintResults(wr io.Writer, results []reflect.Value) error {
	if j.asJSON {
		values := make([]any, len(results))
		for i, r := range results {
			values[i] = interfaceOf(r)
		}
		encoder := json.NewEncoder(wr)
		encoder.SetIndent("", "    ")
		return encoder.Encode(values)
	}
	for i, r := range results {
		text, err := textOf(r)
		if err != nil {
			return err
		}
		if i > 0 {
			text = " " + text
		}
		if _, err := io.WriteString(wr, text); err != nil {
			return err
		}
	}
	return nil
}

// interfaceOf returns the value that v holds, or nil if v is invalid.
func interfaceOf(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	return v.Interface()
}

func textOf(v reflect.Value) (string, error) {
	if !v.IsValid() {
		return "<no value>", nil
	}
	inner := v
	if v.Kind() == reflect.Interface {
		if inner = v.Elem(); !inner.IsValid() {
			return "null", nil
		}
	}
	switch inner.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array, reflect.Struct:
		text, err := json.Marshal(inner.Interface())
		return string(text), err
	}
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return fmt.Sprint(printable(v)), nil
}

// printable returns the value of v, or a pointer to it if only the pointer has the method Error or
// String.
func printable(v reflect.Value) any {
	if v.CanAddr() {
		switch p := v.Addr().Interface().(type) {
		case error, fmt.Stringer:
			return p
		}
	}
	return v.Interface()
}
