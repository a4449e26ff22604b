package indexer

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// The measured store has 20,000 objects in 100 namespaces and on 200 nodes, so each node has 100
// objects.
const benchObjects, benchNamespaces, benchNodes = 20_000, 100, 200

func benchKey(i int) types.NamespacedName {
	return types.NamespacedName{
		Namespace: "namespace-" + strconv.Itoa(i%benchNamespaces),
		Name:      fmt.Sprintf("deployment-%08x-%05d", uint32(i)*2654435761, i),
	}
}

func benchOps(n int) []Op[*object] {
	ops := make([]Op[*object], n)
	for i := range ops {
		ops[i] = Op[*object]{
			Key:             benchKey(i),
			Object:          &object{terms: []string{"node-" + strconv.Itoa(i%benchNodes)}},
			ResourceVersion: strconv.Itoa(i + 1),
		}
	}
	return ops
}

func benchStore(b *testing.B) (*Store[*object], []Op[*object]) {
	store := newStore(b, byTerm)
	ops := benchOps(benchObjects)
	require.NoError(b, apply(store, ops, "20000"))
	b.ReportAllocs()
	return store, ops
}

func BenchmarkGet(b *testing.B) {
	store, ops := benchStore(b)
	i := 0
	for b.Loop() {
		if _, ok := store.Get(ops[i%len(ops)].Key); !ok {
			b.Fatal("not found")
		}
		i += 7919 // a prime, so that the order differs from the order of creation
	}
}

// BenchmarkGetMapAndMutex measures the simplest possible store, for comparison with BenchmarkGet.
func BenchmarkGetMapAndMutex(b *testing.B) {
	var mu sync.RWMutex
	objects := map[types.NamespacedName]*object{}
	ops := benchOps(benchObjects)
	for _, op := range ops {
		objects[op.Key] = op.Object
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		mu.RLock()
		_, ok := objects[ops[i%len(ops)].Key]
		mu.RUnlock()
		if !ok {
			b.Fatal("not found")
		}
		i += 7919
	}
}

// BenchmarkGetEachKey gets objects in the order of their creation, so that consecutive keys and
// entries are near in memory.
func BenchmarkGetEachKey(b *testing.B) {
	store, ops := benchStore(b)
	i := 0
	for b.Loop() {
		if _, ok := store.Get(ops[i].Key); !ok {
			b.Fatal("not found")
		}
		if i++; i == len(ops) {
			i = 0
		}
	}
}

func BenchmarkGetParallel(b *testing.B) {
	store, ops := benchStore(b)
	b.RunParallel(func(pb *testing.PB) { getEachKey(b, pb, store, ops) })
}

func getEachKey(b *testing.B, pb *testing.PB, store *Store[*object], ops []Op[*object]) {
	for i := 0; pb.Next(); i += 7919 {
		if _, ok := store.Get(ops[i%len(ops)].Key); !ok {
			b.Error("not found")
		}
	}
}

// BenchmarkGetUnderWrites measures Get while one writer writes without a pause. writes/op is the
// number of writes for each Get.
func BenchmarkGetUnderWrites(b *testing.B) {
	store, ops := benchStore(b)
	stop := make(chan struct{})
	writes := 0
	var writer sync.WaitGroup
	writer.Go(func() {
		for ; ; writes++ {
			select {
			case <-stop:
				return
			default:
				_ = apply(store, ops[writes%len(ops):][:1], "")
			}
		}
	})
	b.RunParallel(func(pb *testing.PB) { getEachKey(b, pb, store, ops) })
	close(stop)
	writer.Wait()
	b.ReportMetric(float64(writes)/float64(b.N), "writes/op")
}

// BenchmarkApply replaces objects by objects with another index value, in transactions of several
// sizes. The store has one index in addition to the index by namespace.
func BenchmarkApply(b *testing.B) {
	for _, size := range []int{1, 10, 100, 1000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			store, ops := benchStore(b)
			moved := benchOps(benchObjects)
			for i := range moved {
				moved[i].Object = &object{terms: []string{"node-" + strconv.Itoa((i+1)%benchNodes)}}
			}
			i := 0
			for b.Loop() {
				if err := apply(store, moved[i:i+size], ""); err != nil {
					b.Fatal(err)
				}
				if i += size; i == len(moved) {
					i, ops, moved = 0, moved, ops
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/object")
		})
	}
}

// BenchmarkApplySameTerms replaces objects by objects with the same index values, as most updates
// do.
func BenchmarkApplySameTerms(b *testing.B) {
	for _, size := range []int{1, 100} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			store, ops := benchStore(b)
			i := 0
			for b.Loop() {
				if err := apply(store, ops[i:i+size], ""); err != nil {
					b.Fatal(err)
				}
				i = (i + size) % len(ops)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/object")
		})
	}
}

// BenchmarkFill puts 20,000 objects into an empty store in one transaction.
func BenchmarkFill(b *testing.B) {
	ops := benchOps(benchObjects)
	b.ReportAllocs()
	for b.Loop() {
		store := newStore(b, byTerm)
		if err := apply(store, ops, "20000"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchObjects, "ns/object")
}

func BenchmarkAll(b *testing.B) {
	store, _ := benchStore(b)
	for b.Loop() {
		count := 0
		for range store.All() {
			count++
		}
		if count != benchObjects {
			b.Fatal(count)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchObjects, "ns/object")
}

func BenchmarkByIndex(b *testing.B) {
	store, _ := benchStore(b)
	for b.Loop() {
		found, err := store.ByIndex("term", "node-17")
		if err != nil {
			b.Fatal(err)
		}
		count := 0
		for range found {
			count++
		}
		if count != benchObjects/benchNodes {
			b.Fatal(count)
		}
	}
}

func BenchmarkListEverythingInNamespace(b *testing.B) {
	store, _ := benchStore(b)
	lister := NewLister(store.Reader, schema.GroupResource{}, func(*object) labels.Set { return nil }).Namespace("namespace-17")
	for b.Loop() {
		count := 0
		for range lister.List(labels.Everything()) {
			count++
		}
		if count != benchObjects/benchNamespaces {
			b.Fatal(count)
		}
	}
}

func BenchmarkSnapshot(b *testing.B) {
	store, _ := benchStore(b)
	for b.Loop() {
		_ = store.Snapshot()
	}
}

func BenchmarkAddIndex(b *testing.B) {
	store, _ := benchStore(b)
	for b.Loop() {
		if err := store.AddIndex("again", byTerm["term"]); err != nil {
			b.Fatal(err)
		}
		if err := store.RemoveIndex("again"); err != nil {
			b.Fatal(err)
		}
	}
}
