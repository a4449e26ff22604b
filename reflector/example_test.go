package reflector_test

import (
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
)

// printer is a sink that prints each call, and ends the example after the last event.
type printer struct{ done context.CancelFunc }

func (printer) HasVersion(types.NamespacedName, string, uint64) bool { return false }

func (printer) HeldObject(types.NamespacedName) any { return nil }

func (printer) Replace(snapshot listwatch.Snapshot[string]) error {
	fmt.Printf("everything, at version %s:\n", snapshot.ResourceVersion)
	for _, it := range snapshot.Items {
		fmt.Printf("  %s is %s\n", it.Key.Name, it.Object)
	}
	return nil
}

func (p printer) Apply(ev listwatch.Event[string]) error {
	fmt.Printf("%v %s is %s, at version %s\n", ev.Type, ev.Key.Name, ev.Object, ev.ResourceVersion)
	if ev.Type == listwatch.Deleted {
		p.done()
	}
	return nil
}

// kettles is a source with two kettles. For a real server, package rest has the source.
type kettles struct{}

func (kettles) List(context.Context, listwatch.ListOptions) (listwatch.ListStream[string], error) {
	return &kettleList{kettle("blue", "cold", "3"), kettle("red", "cold", "7")}, nil
}

func (kettles) Watch(ctx context.Context, _ listwatch.WatchOptions) (listwatch.WatchStream[string], error) {
	return &kettleWatch{
		{Type: listwatch.Modified, Item: kettle("red", "boiling", "9")},
		{Type: listwatch.Deleted, Item: kettle("blue", "cold", "10")},
	}, nil
}

func kettle(name, object, version string) listwatch.Item[string] {
	return listwatch.Item[string]{Key: types.NamespacedName{Name: name}, Object: object, ResourceVersion: version}
}

type kettleList []listwatch.Item[string]

func (l *kettleList) Next() (listwatch.Item[string], error) {
	if len(*l) == 0 {
		return listwatch.Item[string]{}, io.EOF
	}
	it := (*l)[0]
	*l = (*l)[1:]
	return it, nil
}

func (*kettleList) Meta() listwatch.ListMeta { return listwatch.ListMeta{ResourceVersion: "8"} }
func (*kettleList) Close() error             { return nil }

type kettleWatch []listwatch.Event[string]

func (w *kettleWatch) Next() (listwatch.Event[string], error) {
	if len(*w) == 0 {
		return listwatch.Event[string]{}, io.EOF
	}
	ev := (*w)[0]
	*w = (*w)[1:]
	return ev, nil
}

func (*kettleWatch) Close() error { return nil }

func Example() {
	ctx, done := context.WithCancel(context.Background())
	defer done()
	r, err := reflector.New(kettles{}, printer{done}, reflector.Options{
		Observer: &reflector.Observer{
			OnPhase: func(c reflector.PhaseChange) { fmt.Printf("(%v -> %v)\n", c.From, c.To) },
		},
		OnError: func(e reflector.Error) { fmt.Println(e) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := r.Run(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println("told everything through version", r.Status().ResourceVersion)

	// Output:
	// (idle -> listing)
	// everything, at version 8:
	//   blue is cold
	//   red is cold
	// (listing -> connecting)
	// (connecting -> watching)
	// MODIFIED red is boiling, at version 9
	// DELETED blue is cold, at version 10
	// (watching -> stopped)
	// told everything through version 10
}
