package contain

// OddNil is an error that can be looked at as a nil pointer.
type OddNil struct{}

func (*OddNil) Error() string { return "<nil>" }
