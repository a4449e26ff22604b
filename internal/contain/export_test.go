package contain

// OddNil is an error that works even as a nil pointer.
type OddNil struct{}

func (*OddNil) Error() string { return "<nil>" }
