package gentype

// ToPointerSlice returns pointers to the elements of a slice. The elements are not copied.
func ToPointerSlice[T any](src []T) []*T {
	if src == nil {
		return nil
	}
	pointers := make([]*T, len(src))
	for i := range src {
		pointers[i] = &src[i]
	}
	return pointers
}

// FromPointerSlice returns copies of the values that the pointers point to.
func FromPointerSlice[T any](src []*T) []T {
	if src == nil {
		return nil
	}
	values := make([]T, len(src))
	for i, pointer := range src {
		values[i] = *pointer
	}
	return values
}
