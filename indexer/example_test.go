package indexer_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
)

func Example() {
	type pod struct{ node, phase string }
	store, err := indexer.New(indexer.Options[pod]{
		Indexes: map[string]indexer.IndexFunc[pod]{
			"node": func(p pod) ([]string, error) { return []string{p.node}, nil },
		},
	})
	if err != nil {
		panic(err)
	}

	key := func(name string) types.NamespacedName {
		return types.NamespacedName{Namespace: "shop", Name: name}
	}
	_, err = store.Apply([]indexer.Op[pod]{
		{Key: key("web"), Object: pod{node: "n1", phase: "Running"}, ResourceVersion: "7"},
		{Key: key("cart"), Object: pod{node: "n1", phase: "Pending"}, ResourceVersion: "9"},
		{Key: key("db"), Object: pod{node: "n2", phase: "Running"}, ResourceVersion: "4"},
	}, "9")
	if err != nil {
		panic(err)
	}

	// A snapshot does not change when the store is written.
	before := store.Snapshot()
	if _, err := store.Apply([]indexer.Op[pod]{{Key: key("cart"), Delete: true}}, "12"); err != nil {
		panic(err)
	}
	if err := store.WaitRV(context.Background(), "12"); err != nil {
		panic(err)
	}

	for _, s := range []*indexer.Snapshot[pod]{before, store.Snapshot()} {
		fmt.Println("at", s.ResourceVersion())
		pods, err := s.ByIndex("node", "n1")
		if err != nil {
			panic(err)
		}
		for key, p := range indexer.Sorted(pods) {
			fmt.Println(" ", key, p.phase)
		}
	}
	// Output:
	// at 9
	//   shop/cart Pending
	//   shop/web Running
	// at 12
	//   shop/web Running
}

// A program that derives data from a store can follow the store. Its position is a snapshot, which
// never expires. The program may process changes as rarely as it likes.
func ExampleSnapshot_Changes() {
	store, err := indexer.New(indexer.Options[string]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	put := func(name, version string) indexer.Op[string] {
		return indexer.Op[string]{Key: types.NamespacedName{Name: name}, Object: name, ResourceVersion: version}
	}
	write := func(version string, ops ...indexer.Op[string]) {
		if _, err := store.Apply(ops, version); err != nil {
			fmt.Println(err)
		}
	}
	write("3", put("web", "1"), put("db", "2"), put("cache", "3"))

	last := store.Snapshot() // the program has processed all of it
	write("4", put("db", "4"))
	write("5", put("job", "5"), indexer.Op[string]{Key: types.NamespacedName{Name: "web"}, Delete: true})
	write("6", put("db", "6"))

	next := store.Snapshot()
	var lines []string
	for change := range next.Changes(last) {
		switch {
		case change.Old == nil:
			lines = append(lines, fmt.Sprintf("%s is new, version %s", change.Key.Name, change.New.ResourceVersion))
		case change.New == nil:
			lines = append(lines, fmt.Sprintf("%s is gone, version %s was its last", change.Key.Name, change.Old.ResourceVersion))
		default:
			lines = append(lines, fmt.Sprintf("%s has changed, from version %s to %s", change.Key.Name, change.Old.ResourceVersion, change.New.ResourceVersion))
		}
	}
	slices.Sort(lines) // changes have no order
	fmt.Printf("from %s to %s:\n%s\n", last.ResourceVersion(), next.ResourceVersion(), strings.Join(lines, "\n"))
	last.Release()
	last = next // the new position
	fmt.Println("since then:", len(slices.Collect(store.Snapshot().Changes(last))))

	// Output:
	// from 3 to 6:
	// db has changed, from version 2 to 6
	// job is new, version 5
	// web is gone, version 1 was its last
	// since then: 0
}
