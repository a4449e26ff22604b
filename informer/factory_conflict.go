package informer

import (
	"fmt"
	"reflect"
	"unsafe"
)

// ConflictError says that an informer is shared already, with other options.
type ConflictError struct {
	// Selection and Type, of the objects, say which informer is meant.
	Selection Selection
	Type      string
	// Option is what is different, with both values.
	Option string
	// First and Second are where in the program the two acquire it, file and line.
	First, Second string
}

// Error names the option and both users.
func (e *ConflictError) Error() string {
	if e == nil {
		return "<nil>"
	}
	return fmt.Sprintf("informer: %v as %s is shared, but its users want different Options.%s: first acquired at %s, now at %s; let both have the same, or another Projection",
		e.Selection, e.Type, e.Option, e.First, e.Second)
}

// isOfTheFirst reports whether an option changes nothing of what others get, or is the
// factory's or the informer's own: it may differ.
func isOfTheFirst(option string) bool {
	switch option {
	case "Name", "Preload", "Logger", "Goroutine", "Observer", "OnError", "Wake", "Unreadable":
		return true
	}
	return false
}

// difference says which option is different, or not known to be the same, "" if none is.
func difference(path string, a, b reflect.Value) string {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			name := a.Type().Field(i).Name
			if isOfTheFirst(name) {
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
				return name + " (only one has it)"
			}
			if found := difference(name, a.MapIndex(key), b.MapIndex(key)); found != "" {
				return found
			}
		}
	case reflect.Func:
		if closure(a) != closure(b) {
			return path + " (not known to be the same function: what a call returns, or a method of a value, is another one each time, so give both users one function of a package, or a variable that holds it)"
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

// closure returns the address of a function's code and captured variables, which is what a
// variable of a function type holds. reflect's own Pointer is that of the code alone, and
// the same for two closures that captured different values.
func closure(function reflect.Value) unsafe.Pointer {
	variable := reflect.New(function.Type())
	variable.Elem().Set(function)
	return *(*unsafe.Pointer)(variable.UnsafePointer())
}
