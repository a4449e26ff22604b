package contain_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/contain"
)

// testError is an error whose methods the test provides.
type testError struct {
	text   func() string
	unwrap func() error
	is     func(error) bool
	as     func(any) bool
}

func (o *testError) Error() string {
	if o.text == nil {
		return "odd"
	}
	return o.text()
}

func (o *testError) Unwrap() error {
	if o.unwrap == nil {
		return nil
	}
	return o.unwrap()
}
func (o *testError) Is(target error) bool { return o.is != nil && o.is(target) }
func (o *testError) As(target any) bool   { return o.as != nil && o.as(target) }

// several wraps several errors.
type several []error

func (s several) Error() string   { return "several" }
func (s several) Unwrap() []error { return s }

// boxed wraps several, which is not comparable. A pointer to boxed is a comparable error.
type boxed struct{ several }

func TestSafeErrorReturnsUsableErrorsUnchanged(t *testing.T) {
	t.Parallel()
	deep := errors.New("deep")
	for range 500 {
		deep = fmt.Errorf("more: %w", deep)
	}
	many := make([]error, 50_000)
	for i := range many {
		many[i] = fs.ErrExist
	}
	for _, err := range []error{nil, fs.ErrExist, context.Canceled, deep, errors.Join(many...), &boxed{several{nil, fs.ErrExist}}, &fs.PathError{Err: fs.ErrExist}, &testError{}} {
		require.True(t, contain.SafeError(err) == err, "%T", err)
	}
}

// If a method of an error panics or never ends, SafeError replaces the error. The text of the
// replacement names the method. The replacement works with package errors, even if another error
// wraps it.
func TestErrorsWhoseMethodsPanicAreReplaced(t *testing.T) {
	t.Parallel()
	self := &testError{}
	self.unwrap = func() error { return self }
	wide := make(several, 2)
	wide[0], wide[1] = wide, wide
	var endless func() error
	endless = func() error { return &testError{unwrap: endless} }
	var nilPath *fs.PathError
	for name, tt := range map[string]struct {
		err  error
		text string
	}{
		"Unwrap panics":        {&testError{unwrap: func() error { panic("a bug") }}, "the method Unwrap of an error of type *contain_test.testError panicked: a bug"},
		"Is panics":            {&testError{is: func(error) bool { panic("a bug") }}, "the method Is of an error of type *contain_test.testError panicked: a bug"},
		"As panics":            {&testError{as: func(any) bool { panic("a bug") }}, "the method As of an error of type *contain_test.testError panicked: a bug"},
		"Error panics":         {&testError{text: func() string { panic(fs.ErrExist) }}, "the method Error of an error of type *contain_test.testError panicked: file already exists"},
		"wraps itself":         {self, "the method Unwrap of an error of type *contain_test.testError never ends: the error wraps itself"},
		"wraps itself twice":   {wide, "the method Unwrap of an error of type contain_test.several never ends: the error wraps itself"},
		"wraps new ones":       {endless(), "never ends"},
		"nil, Unwrap panics":   {nilPath, "the method Unwrap of an error of type *fs.PathError panicked: called on a nil pointer: "},
		"nil, nothing panics":  {(*contain.NilPointerError)(nil), "the error is a nil *contain.NilPointerError, which is not equal to nil: return nil instead"},
		"within a wrapped one": {fmt.Errorf("outer: %w", &testError{unwrap: func() error { panic("a bug") }}), "Unwrap of an error of type *contain_test.testError panicked"},
		"within a joined one":  {errors.Join(fs.ErrExist, &testError{is: func(error) bool { panic("a bug") }}), "Is of an error of type *contain_test.testError panicked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := contain.SafeError(tt.err)
			require.ErrorContains(t, err, tt.text)
			require.NotErrorIs(t, err, fs.ErrNotExist)
			_, panicked := contain.Panicked(err)
			require.Equal(t, name != "nil, nothing panics" && name[0] != 'w' || name == "within a wrapped one" || name == "within a joined one", panicked)
		})
	}
}
