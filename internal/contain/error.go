package contain

import (
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
)

// These limits apply to the tree of errors that an error wraps. Both are far above the size of
// ordinary errors: an error that exceeds one of them wraps itself.
const (
	maxDepth = 1_000
	maxNodes = 100_000
)

// SafeError returns err if all of its methods can be called, and a [*MethodError] otherwise:
// Unwrap, Is, As or Error panics, or Unwrap never ends. So the result is safe for package errors
// and for a logger. SafeError also replaces a nil pointer: as an error it is not nil, which is
// always a mistake.
//
// SafeError calls Is and As with a type of this package. It does not detect a method that panics
// only for other types.
func SafeError(err error) error {
	if err == nil {
		return nil
	}
	var l errorCheck
	if failure := l.check(err); failure != nil {
		return failure
	}
	return err
}

// MethodError replaces an error whose methods cannot be called. It does not wrap that error.
type MethodError struct {
	// Type is the Go type of the replaced error, or of an error that it wraps.
	Type string

	// Method is the method that failed, or "" for a nil pointer.
	Method string

	// Panic is the value of the panic as text, or "" if there was no panic. Stack is the stack of
	// the panic.
	Panic string
	Stack []byte
}

// Error says which method of which type failed, and how.
func (e *MethodError) Error() string {
	switch {
	case e.Method == "":
		return fmt.Sprintf("the error is a nil %s, which is not equal to nil: return nil instead", e.Type)
	case e.Panic == "":
		return fmt.Sprintf("the method %s of an error of type %s never ends: the error wraps itself", e.Method, e.Type)
	}
	return fmt.Sprintf("the method %s of an error of type %s panicked: %s", e.Method, e.Type, e.Panic)
}

// probe is the type with which SafeError calls Is and As.
type probe struct{}

func (probe) Error() string { return "probe" }

// errorCheck is the state of one inspection of an error.
type errorCheck struct {
	current error  // the error whose method is called
	method  string // that method
	nodes   int
}

// check inspects an error and all errors that it wraps. It returns nil if all methods can be
// called.
func (l *errorCheck) check(err error) (failure *MethodError) {
	done := false
	defer func() {
		if done {
			return
		}
		failure = &MethodError{Type: fmt.Sprintf("%T", l.current), Method: l.method, Panic: "the method ended the goroutine", Stack: debug.Stack()}
		if p := recover(); p != nil {
			failure.Panic = fmt.Sprint(p) // fmt contains the panics of the value's own methods
		}
		if IsNil(l.current) {
			failure.Panic = "called on a nil pointer: " + failure.Panic
		}
	}()
	if ended := l.walk(err, 0); !ended {
		failure = &MethodError{Type: fmt.Sprintf("%T", err), Method: "Unwrap"}
	} else if IsNil(err) {
		failure = &MethodError{Type: fmt.Sprintf("%T", err)}
	} else {
		l.current, l.method = err, "Error"
		_ = err.Error()
	}
	done = true
	return failure
}

// walk calls Is, As and Unwrap of an error and of all errors that it wraps. It returns false if the
// tree exceeds the bounds.
func (l *errorCheck) walk(err error, depth int) bool {
	if l.nodes++; l.nodes > maxNodes || depth > maxDepth {
		return false
	}
	l.current = err
	if matcher, ok := err.(interface{ Is(error) bool }); ok {
		l.method = "Is"
		matcher.Is(probe{})
	}
	if finder, ok := err.(interface{ As(any) bool }); ok {
		l.method = "As"
		finder.As(new(probe))
	}
	l.method = "Unwrap"
	switch wrapper := err.(type) {
	case interface{ Unwrap() error }:
		inner := wrapper.Unwrap()
		return inner == nil || l.walk(inner, depth+1)
	case interface{ Unwrap() []error }:
		for _, inner := range wrapper.Unwrap() {
			if inner != nil && !l.walk(inner, depth+1) {
				return false
			}
		}
	}
	return true
}

// IsNil reports whether a value is nil, or a nil pointer in an interface.
func IsNil(value any) bool {
	v := reflect.ValueOf(value)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// Panicked returns the stack of the panic if err is a [*MethodError] about a panic.
func Panicked(err error) (stack []byte, ok bool) {
	odd, ok := errors.AsType[*MethodError](err)
	if !ok || odd.Panic == "" {
		return nil, false
	}
	return odd.Stack, true
}
