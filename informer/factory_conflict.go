package informer

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"
)

// ConflictError is the error of Acquire if the informer exists already, with other options.
type ConflictError struct {
	// Selection and Type, the Go type of the objects, identify the informer.
	Selection Selection
	Type      string
	// Option is the option that differs, with both values.
	Option string
	// First and Second are the file and line of the two calls of Acquire.
	First, Second string
}

// Error names the option and both users.
func (e *ConflictError) Error() string {
	if e == nil {
		return "<nil>"
	}
	return fmt.Sprintf("informer: %v as %s is shared, but two users set different Options.%s: first acquired at %s, now at %s: use the same options at both places, or another Projection at one",
		e.Selection, e.Type, e.Option, e.First, e.Second)
}

// firstUsersOnly names the options of which later users may pass another value, because only the
// first user's value counts. Such an option has no effect on other users, or is set by the factory
// or the informer.
var firstUsersOnly = []string{"Name", "Preload", "Logger", "Goroutine", "Observer", "OnError", "Wake", "Undecodable"}

// difference returns the path of the first option that differs, or may differ, and "" if all are
// equal.
func difference(path string, a, b reflect.Value) string {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			name := a.Type().Field(i).Name
			if slices.Contains(firstUsersOnly, name) {
				continue
			}
			if path != "" {
				name = path + "." + name
			}
			if found := difference(name, a.Field(i), b.Field(i)); found != "" {
				return found
			}
		}
	case reflect.Map:
		for _, key := range append(a.MapKeys(), b.MapKeys()...) {
			name := fmt.Sprintf("%s[%v]", path, key)
			if !a.MapIndex(key).IsValid() || !b.MapIndex(key).IsValid() {
				return name + " (only one user has this key)"
			}
			if found := difference(name, a.MapIndex(key), b.MapIndex(key)); found != "" {
				return found
			}
		}
	case reflect.Func:
		if closure(a) != closure(b) {
			return path + " (the functions may differ: a method value, or a closure that a call returns, is a new function each time; give both users the same package-level function or variable)"
		}
	case reflect.Pointer, reflect.Chan, reflect.Slice:
		if a.Pointer() != b.Pointer() {
			return fmt.Sprintf("%s (not the same %v)", path, a.Kind())
		}
	default:
		if !a.Equal(b) {
			return fmt.Sprintf("%s (%v and %v)", path, a, b)
		}
	}
	return ""
}

// closure returns the pointer that a variable of a function type holds. It identifies the
// function's code and its captured variables. reflect's Pointer identifies the code alone, so it is
// the same for two closures with different captured values.
func closure(function reflect.Value) unsafe.Pointer {
	variable := reflect.New(function.Type())
	variable.Elem().Set(function)
	return *(*unsafe.Pointer)(variable.UnsafePointer())
}
