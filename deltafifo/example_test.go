package deltafifo_test

import (
	"context"
	"fmt"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
)

// A producer lists, then watches. The consumer applies each batch in one step. The store of this
// example is a map with two methods.
func Example() {
	store := newStore()
	queue := deltafifo.New(store, deltafifo.Options{})
	step := func() {
		batch, err := queue.Pop(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("through %s, initial %t:\n", batch.ResourceVersion, batch.Initial)
		for _, stack := range batch.Stacks {
			for _, d := range stack.Deltas {
				fmt.Printf("  %s %s %s, final state unknown: %t\n", stack.Key, d.Type, d.Object, d.FinalStateUnknown)
			}
		}
		store.apply(batch) // the next Pop confirms this to the queue
	}

	_ = queue.Replace(listwatch.Snapshot[string]{ResourceVersion: "10", Items: []listwatch.Item[string]{
		{Key: key("web"), Object: "1 replica", ResourceVersion: "7"},
		{Key: key("db"), Object: "3 replicas", ResourceVersion: "4"},
	}})
	step()

	_ = queue.Update(key("web"), "2 replicas", "11")
	_ = queue.Update(key("web"), "5 replicas", "12")
	_ = queue.Delete(key("nobody"), "unheard of", "13")
	step()

	// The watch broke. When the producer lists again, "db" no longer exists.
	_ = queue.Replace(listwatch.Snapshot[string]{ResourceVersion: "20", Items: []listwatch.Item[string]{
		{Key: key("web"), Object: "5 replicas", ResourceVersion: "12"},
	}})
	queue.Close()
	step()
	step()

	// Output:
	// through 10, initial true:
	//   ns/web Replaced 1 replica, final state unknown: false
	//   ns/db Replaced 3 replicas, final state unknown: false
	// through 13, initial false:
	//   ns/web Updated 2 replicas, final state unknown: false
	//   ns/web Updated 5 replicas, final state unknown: false
	// through 20, initial false:
	//   ns/web Replaced 5 replicas, final state unknown: false
	//   ns/db Deleted 3 replicas, final state unknown: true
	// deltafifo: the queue is closed
}
