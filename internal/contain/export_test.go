package contain

// NilPointerError is an error that works even as a nil pointer.
type NilPointerError struct{}

func (*NilPointerError) Error() string { return "<nil>" }
