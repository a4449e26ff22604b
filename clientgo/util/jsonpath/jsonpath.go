// Package jsonpath finds and prints parts of an object, as kubectl's -o jsonpath does.
//
// An expression is text with parts in braces. Each part is a path into the object: .name or ['name'] (where a dot goes
// a step further, unless it has a backslash before it), [0], [-1], [1:3], [0:4:2], [*], [0,2], ['a','b'], .* and ..name
// for names at every depth, or [?(@.name=="x")] for elements of which that is true. @ and $ are the object, and may be
// left out. {"\n"} is text with escapes. {range PATH}...{end} is repeated for each value that the path finds.
//
// The order of the values of a map, which .* and .. find, is that of its keys.
package jsonpath

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
)

// JSONPath is an expression. It may be used by several goroutines at a time when it has been set up.
type JSONPath struct {
	name    string
	parser  *Parser
	lenient bool
	asJSON  bool
}

// New returns a JSONPath without an expression. The name is for errors.
func New(name string) *JSONPath { return &JSONPath{name: name} }

// AllowMissingKeys says that what is not there is not found, in place of an error. Defaults to an error. It returns j.
func (j *JSONPath) AllowMissingKeys(allow bool) *JSONPath {
	j.lenient = allow
	return j
}

// EnableJSONOutput says that PrintResults prints a JSON array. Defaults to text.
func (j *JSONPath) EnableJSONOutput(v bool) { j.asJSON = v }

// Parse reads the expression. If that fails, there is none.
func (j *JSONPath) Parse(text string) (err error) {
	j.parser, err = Parse(j.name, text)
	return err
}

// Execute prints what the expression finds in data. Nothing has been printed if there was an error in finding it.
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

// FindResults returns what each part of the expression finds in data, once for each turn of a range. Text finds itself.
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

// PrintResults prints values: as text with spaces between them, where maps, slices and structs are JSON in one line, or
// as an array in JSON with indents, and a newline.
func (j *JSONPath) PrintResults(wr io.Writer, results []reflect.Value) error {
	if j.asJSON {
		values := make([]any, len(results))
		for i, r := range results {
			values[i] = held(r)
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

// held returns what the value is, nil if it is none.
func held(v reflect.Value) any {
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

// printable returns the value, or a pointer to it if that is what knows its text.
func printable(v reflect.Value) any {
	if v.CanAddr() {
		switch p := v.Addr().Interface().(type) {
		case error, fmt.Stringer:
			return p
		}
	}
	return v.Interface()
}
