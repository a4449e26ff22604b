package listwatch_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/types"
)

// words is a Source of plain strings in memory. A Source needs neither HTTP nor Kubernetes' types.
type words []string

func (w words) List(context.Context, listwatch.ListOptions) (listwatch.ListStream[string], error) {
	return &list{rest: w}, nil
}

func (w words) Watch(context.Context, listwatch.WatchOptions) (listwatch.WatchStream[string], error) {
	return nil, errors.New("words never change")
}

// list is the response to a list.
type list struct{ rest words }

func (l *list) Next() (item listwatch.Item[string], err error) {
	if len(l.rest) == 0 {
		return item, io.EOF
	}
	item.Object, l.rest = l.rest[0], l.rest[1:]
	item.Key = types.NamespacedName{Name: item.Object[:1]}
	item.ResourceVersion = "1"
	return item, nil
}

func (l *list) Meta() listwatch.ListMeta { return listwatch.ListMeta{ResourceVersion: "1"} }

func (l *list) Close() error { return nil }

func Example() {
	var source listwatch.Source[string] = words{"apple", "banana"}
	items, err := listwatch.Collect(source.List(context.Background(), listwatch.ListOptions{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range items {
		fmt.Println(item.Key.Name, item.Object, "at version", item.ResourceVersion)
	}
	// Output:
	// a apple at version 1
	// b banana at version 1
}
