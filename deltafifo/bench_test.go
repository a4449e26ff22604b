package deltafifo_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
)

// consumerStore is a consumer's store that does no work, so that the benchmarks measure only the
// queue. For the same reason, all objects are empty.
type consumerStore map[types.NamespacedName]string

func (c consumerStore) LastApplied(key types.NamespacedName) (*object, string, uint64, bool) {
	rv, ok := c[key]
	return nil, rv, 0, ok
}
func (c consumerStore) AllKeys() iter.Seq[types.NamespacedName] { return maps.Keys(c) }

const many = 100_000

func manyItems(state listwatch.ItemState) (consumerStore, []listwatch.Item[*object]) {
	known := make(consumerStore, many)
	items := make([]listwatch.Item[*object], many)
	for i := range items {
		items[i] = listwatch.Item[*object]{Key: key(fmt.Sprintf("object-%d", i)), ResourceVersion: "1", State: state}
		known[items[i].Key] = "1"
	}
	return known, items
}

// BenchmarkReplace measures one Replace of 100,000 objects and the Pop that follows. The store is
// empty, has the objects in other versions, has the objects unchanged, or has only objects that the
// list lacks.
func BenchmarkReplace(b *testing.B) {
	known, changed := manyItems(listwatch.Decoded)
	_, unchanged := manyItems(listwatch.Unchanged)
	for _, bb := range []struct {
		name  string
		known consumerStore
		items []listwatch.Item[*object]
	}{
		{"initial", nil, changed},
		{"changed", known, changed},
		{"unchanged", known, unchanged},
		{"gone", known, nil},
	} {
		b.Run(bb.name, func(b *testing.B) {
			f := deltafifo.New(bb.known, deltafifo.Options{})
			b.ReportAllocs()
			for b.Loop() {
				_ = f.Replace(listwatch.Snapshot[*object]{Items: bb.items, ResourceVersion: "1"})
				_, _ = f.Pop(context.Background())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/many, "ns/object")
		})
	}
}

// BenchmarkAddPop measures a steady stream of changes of 100 objects, in batches of one and of a
// thousand changes. One operation is one change.
func BenchmarkAddPop(b *testing.B) {
	keys := make([]types.NamespacedName, 100)
	for i := range keys {
		keys[i] = key(fmt.Sprintf("object-%d", i))
	}
	for _, size := range []int{1, 1000} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			f := deltafifo.New(consumerStore(nil), deltafifo.Options{})
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				_ = f.Add(keys[i%len(keys)], nil, "1")
				if i++; i%size == 0 {
					_, _ = f.Pop(context.Background())
				}
			}
		})
	}
}

// BenchmarkHasVersion measures the cost of one unchanged object in a relist.
func BenchmarkHasVersion(b *testing.B) {
	known, _ := manyItems(listwatch.Decoded)
	f := deltafifo.New(known, deltafifo.Options{})
	k := key("object-17")
	b.ReportAllocs()
	for b.Loop() {
		if !f.HasVersion(k, "1", 0) {
			b.Fatal("unknown")
		}
	}
}
