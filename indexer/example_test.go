package indexer_test

import (
	"context"
	"fmt"

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

	// A snapshot stays as it is, whatever is written meanwhile.
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
