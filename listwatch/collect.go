package listwatch

import (
	"errors"
	"io"
)

// Collect reads a list, or one page of it, to its end, and closes it. Its arguments are the results
// of [Source].List:
//
//	items, err := listwatch.Collect(pods.List(ctx, listwatch.ListOptions{}))
//
// The error is nil only if the items are complete. Otherwise it is the error of List, or the error
// that ended the list early, or it joins an [*ObjectError] for each undecodable object. Collect
// always returns the decodable items, in the order of the list. All items are in memory at once; to
// read a long list, use Next.
func Collect[T any](list ListStream[T], err error) (items []Item[T], _ error) {
	if err != nil {
		return nil, err
	}
	defer list.Close()
	var undecodable []error
	for {
		item, err := list.Next()
		if _, ok := errors.AsType[*ObjectError](err); ok {
			undecodable = append(undecodable, err)
			continue
		}
		if err == io.EOF {
			return items, errors.Join(undecodable...)
		}
		if err != nil {
			return items, errors.Join(append(undecodable, err)...)
		}
		items = append(items, item)
	}
}
