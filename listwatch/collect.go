package listwatch

import (
	"errors"
	"io"
)

// Collect reads a list, or one page of it, to its end, and closes it. It takes the results of
// [Source].List:
//
//	items, err := listwatch.Collect(pods.List(ctx, listwatch.ListOptions{}))
//
// The error is that of List if that is not nil; or the one that has ended the list early. Or it
// joins an [*ObjectError] for each object that could not be read: it is nil only if the items are
// complete. Items that were read are returned in any case, in the order of the list. All of them
// are in memory at once; read a list of many with Next.
func Collect[T any](list ListStream[T], err error) (items []Item[T], _ error) {
	if err != nil {
		return nil, err
	}
	defer list.Close()
	var unread []error
	for {
		item, err := list.Next()
		if _, ok := errors.AsType[*ObjectError](err); ok {
			unread = append(unread, err)
			continue
		}
		if err == io.EOF {
			return items, errors.Join(unread...)
		}
		if err != nil {
			return items, errors.Join(append(unread, err)...)
		}
		items = append(items, item)
	}
}
