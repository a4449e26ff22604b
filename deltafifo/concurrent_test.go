package deltafifo_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
)

// TestManyGoroutines runs a producer, decoders that call HasVersion for it, a slow consumer and
// readers, all at once. After each batch the store must have exactly the server's state at that
// version.
func TestManyGoroutines(t *testing.T) {
	t.Parallel()
	const rounds = 3000
	f := setup(t, deltafifo.Options{MaxDeltasPerKey: 4})
	var history sync.Map // version -> state
	server := state{}

	var bystanders sync.WaitGroup
	done := make(chan struct{})
	for _, call := range []func(){
		func() { _ = f.Resync() },
		func() { f.Stats() },
		func() { f.HasVersion(names[0], "1", 0) },
	} {
		bystanders.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					call()
					runtime.Gosched()
				}
			}
		})
	}

	var producer sync.WaitGroup
	producer.Go(func() {
		defer f.Close()
		random := rand.New(rand.NewPCG(1, 2))
		for version := range rounds {
			rv := strconv.Itoa(version + 1)
			k := names[random.IntN(len(names))]
			_, exists := server[k]
			e := entry{obj: k.Name + "@" + rv, rv: rv}
			change := func() { server[k] = e }
			report := func() error { return f.Update(k, e.obj, rv) }
			switch random.IntN(10) {
			case 0: // the producer misses some changes, then relists
				report = func() error { return f.Replace(snapshot(rv, list(f, server)...)) }
				if exists {
					change = func() { delete(server, k) }
				}
			case 1, 2, 3:
				change = func() { delete(server, k) }
				report = func() error { return f.Delete(k, e.obj, rv) }
			default:
				if !exists {
					report = func() error { return f.Add(k, e.obj, rv) }
				}
			}
			change()
			history.Store(rv, maps.Clone(server))
			if err := report(); err != nil {
				t.Errorf("version %s: %v", rv, err)
				return
			}
		}
	})

	random := rand.New(rand.NewPCG(3, 4))
	for {
		b, err := f.Pop(context.Background())
		if err != nil {
			require.ErrorIs(t, err, deltafifo.ErrClosed)
			break
		}
		for range random.IntN(200) {
			runtime.Gosched()
		}
		f.store.apply(b)
		want, ok := history.Load(b.ResourceVersion)
		if b.ResourceVersion == "" {
			want, ok = state{}, true
		}
		require.True(t, ok)
		require.Equal(t, map[name]entry(want.(state)), f.store.contents(), "at %s", b.ResourceVersion)
	}
	producer.Wait()
	close(done)
	bystanders.Wait()
	require.Equal(t, map[name]entry(server), f.store.contents())
	require.Zero(t, f.Stats().Deltas)
}

// list lists the server's objects, like a reflector whose decoders run in parallel.
func list(f *fixture, server state) []listwatch.Item[string] {
	items := make([]listwatch.Item[string], 0, len(server))
	for k, e := range server {
		items = append(items, listwatch.Item[string]{Key: k, ResourceVersion: e.rv, Object: e.obj})
	}
	var decoders sync.WaitGroup
	for i := range items {
		decoders.Go(func() {
			if f.HasVersion(items[i].Key, items[i].ResourceVersion, 0) {
				items[i].Object, items[i].State = "", listwatch.Unchanged
			}
		})
	}
	decoders.Wait()
	return items
}
