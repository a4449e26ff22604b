package deltafifo_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
)

// TestModel runs random histories; see world.
func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range testsize.Scale[uint64](300, 60) {
		random := rand.New(rand.NewPCG(seed, 0))
		script := make([]byte, 400)
		for i := range script {
			script[i] = byte(random.UintN(256))
		}
		w := newWorld(t, []int{-1, 2, 3}[seed%3])
		w.run(script)
		require.False(t, t.Failed(), "seed %d", seed)
	}
}

// FuzzFIFO runs histories that the fuzzer writes; see world. The first byte is the limit on deltas
// per key, and each step has two bytes.
func FuzzFIFO(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 6, 0, 2, 255, 6, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) == 0 {
			return
		}
		newWorld(t, int(script[0]%8)-1).run(script[1:])
	})
}

type (
	name  = types.NamespacedName
	state map[name]entry
)

// names are only six, so that many events of a history have the same key.
var names = []name{key("a"), key("b"), key("c"), key("d"), key("e"), key("f")}

// world is a server, the queue under test with its producer and consumer, and a naive model of the
// queue. The model is a log of all reports since the last Pop. At Pop, the model applies the log to
// the store's state.
type world struct {
	*fixture
	limit               int
	version             int
	uids                uint64 // number of UIDs so far
	server              state  // its current state
	reported            state  // the state that the producer has reported
	reportedRV          string
	history             map[string]state // the reported state by version
	log                 []step           // reports since the last Pop
	undecodable         map[name]bool    // keys with an undecodable object since the last Pop
	undecodableInFlight map[name]bool    // the same for the batch in flight
	inFlight            *deltafifo.Batch[string]
	applied             bool // the batch in flight is applied; the queue does not know this yet
	batchRV             string
	listed              bool
}

// step is one report of the producer: a delta, an undecodable object (undecodableUID), a Replace
// (listed) or a Resync.
type step struct {
	key            name
	delta          deltafifo.Delta[string]
	undecodableUID uint64
	listed         []listwatch.Item[string]
	resync         bool
}

// nameless stands for an object whose name is undecodable; see snapshot.
var nameless = listwatch.Item[string]{State: listwatch.Undecodable}

func newWorld(t *testing.T, limit int) *world {
	return &world{
		fixture: setup(t, deltafifo.Options{MaxDeltasPerKey: limit}),
		limit:   limit,
		server:  state{}, reported: state{}, history: map[string]state{"": {}}, undecodable: map[name]bool{},
	}
}

func (w *world) run(script []byte) {
	for ; len(script) >= 2; script = script[2:] {
		arg := int(script[1])
		k := names[arg%len(names)]
		switch script[0] % 10 {
		case 0, 1, 2:
			if arg >= 160 {
				delete(w.server, k) // without an event
			}
			if arg%16 == 15 {
				w.reportUndecodable(k)
			} else {
				w.change(k)
			}
		case 3:
			w.delete(k)
		case 4:
			w.relist(arg, int(script[0]))
		case 5:
			w.version++
			w.record()
			require.NoError(w.t, w.Bookmark(w.rv()))
		case 6:
			require.NoError(w.t, w.Resync())
			w.log = append(w.log, step{resync: true})
		case 7, 8:
			w.popAndCheck()
		case 9:
			w.applyInFlight()
		}
		w.checkHasVersion(k)
	}
	w.popAndCheck()
	w.applyInFlight()
	w.popAndCheck()
	require.Equal(w.t, map[name]entry(w.reported), w.store.contents())
}

func (w *world) rv() string { return strconv.Itoa(w.version) }

// record records that the producer has reported everything through the current version.
func (w *world) record() {
	w.reportedRV = w.rv()
	w.history[w.reportedRV] = maps.Clone(w.reported)
}

func (w *world) put(k name) entry {
	w.version++
	uid := w.server[k].uid
	if uid == 0 {
		w.uids++
		uid = w.uids
	}
	w.server[k] = entry{k.Name + "@" + w.rv(), w.rv(), uid}
	return w.server[k]
}

// change creates or updates an object and reports it. If the object was recreated without an event,
// change reports an update.
func (w *world) change(k name) {
	_, exists := w.reported[k]
	e := w.put(k)
	w.reported[k] = e
	w.record()
	d := deltafifo.Delta[string]{Type: deltafifo.Added, Object: e.obj, ResourceVersion: e.rv, UIDHash: e.uid}
	event := listwatch.Added
	if exists {
		d.Type, event = deltafifo.Updated, listwatch.Modified
	}
	w.apply(event, listwatch.Item[string]{Key: k, Object: e.obj, ResourceVersion: e.rv, UIDHash: e.uid})
	w.log = append(w.log, step{key: k, delta: d})
}

// reportUndecodable creates or updates an undecodable object.
func (w *world) reportUndecodable(k name) {
	e := w.put(k)
	w.fixture.undecodable(listwatch.Item[string]{Key: k, ResourceVersion: e.rv, UIDHash: e.uid})
	w.forget(k, e.uid)
	w.record()
	require.NoError(w.t, w.Bookmark(e.rv))
	w.log = append(w.log, step{key: k, delta: deltafifo.Delta[string]{ResourceVersion: e.rv}, undecodableUID: e.uid})
}

// forget records that the object of the key has this UID, and is undecodable.
func (w *world) forget(k name, uid uint64) {
	w.undecodable[k] = true
	if w.reported[k].uid != uid {
		delete(w.reported, k)
	}
}

// delete deletes an object and reports the deletion, even if the object does not exist.
func (w *world) delete(k name) {
	w.version++
	d := deltafifo.Delta[string]{Type: deltafifo.Deleted, Object: w.server[k].obj, ResourceVersion: w.rv(), UIDHash: w.server[k].uid}
	delete(w.server, k)
	delete(w.reported, k)
	w.record()
	w.apply(listwatch.Deleted, listwatch.Item[string]{Key: k, Object: d.Object, ResourceVersion: d.ResourceVersion, UIDHash: d.UIDHash})
	w.log = append(w.log, step{key: k, delta: d})
}

// relist changes objects without events, and then lists. The bits of changes say which objects
// change. Objects for which HasVersion returns true are listed as unchanged. The bits of the
// argument how say which objects are undecodable, and which of these have no readable name.
func (w *world) relist(changes, how int) {
	for i, k := range names {
		switch {
		case changes&(1<<i) == 0:
		case changes&64 == 0:
			if i%2 == 0 && changes&32 != 0 {
				delete(w.server, k) // a new object of this key follows
			}
			w.put(k)
		default:
			w.version++
			delete(w.server, k)
		}
	}
	w.version++
	s := step{listed: []listwatch.Item[string]{}}
	listed := maps.Clone(w.server)
	keepMissing := false
	for i, k := range names {
		e, ok := w.server[k]
		switch {
		case !ok:
		case how < 160 || (how/10+i)%4 != 0:
			item := listwatch.Item[string]{Key: k, Object: e.obj, ResourceVersion: e.rv, UIDHash: e.uid}
			if w.HasVersion(k, e.rv, e.uid) {
				item.State = listwatch.Unchanged
			}
			s.listed = append(s.listed, item)
		case how < 210:
			s.listed = append(s.listed, listwatch.Item[string]{Key: k, UIDHash: e.uid, State: listwatch.Undecodable})
			w.forget(k, e.uid)
			delete(listed, k)
			if e, ok := w.reported[k]; ok {
				listed[k] = e
			}
		default:
			s.listed = append(s.listed, nameless)
			delete(listed, k)
			keepMissing = true
		}
	}
	for k, e := range w.reported {
		if _, ok := listed[k]; !ok && keepMissing {
			listed[k] = e
		}
	}
	if changes&128 != 0 {
		w.popAndCheck() // between HasVersion and Replace
	}
	for _, item := range s.listed {
		w.undecodable[item.Key] = w.undecodable[item.Key] || item.State == listwatch.Undecodable
	}
	w.reported = listed
	w.record()
	require.NoError(w.t, w.Replace(snapshot(w.rv(), s.listed...)))
	w.log = append(w.log, s)
}

func (w *world) applyInFlight() {
	if w.inFlight != nil && !w.applied {
		w.store.apply(*w.inFlight)
		w.applied = true
		require.Equal(w.t, map[name]entry(w.history[w.inFlight.ResourceVersion]), w.store.contents(),
			"the store must have the server's state at %s", w.inFlight.ResourceVersion)
	}
}

// checkHasVersion compares HasVersion with the reported state. For the reported version, HasVersion
// may return false only if the key is in flight, or has had an undecodable object since the last
// Pop.
func (w *world) checkHasVersion(k name) {
	rv := w.reported[k].rv
	inFlight := w.inFlight != nil && slices.ContainsFunc(w.inFlight.Stacks, func(s deltafifo.Stack[string]) bool { return s.Key == k }) || w.undecodable[k] || w.undecodableInFlight[k]
	require.False(w.t, w.HasVersion(k, rv, 1<<60), "HasVersion must return false for another UID")
	if has := w.HasVersion(k, rv, w.reported[k].uid); rv != "" && !inFlight {
		require.True(w.t, has, "HasVersion must return true for %s at %s", k, rv)
	}
	require.False(w.t, w.HasVersion(k, w.rv()+"0", 0))
	if e, ok := w.store.contents()[k]; ok && e.rv != rv {
		require.False(w.t, w.HasVersion(k, e.rv, 0), "HasVersion must return false: %s had version %s, and now has %q", k, e.rv, rv)
	}
}

// popAndCheck applies the batch in flight, pops, and compares the result with the model.
func (w *world) popAndCheck() {
	w.applyInFlight()
	want, order := w.replay()
	replaced := slices.ContainsFunc(w.log, func(s step) bool { return s.listed != nil })
	w.log, w.undecodable, w.undecodableInFlight = nil, map[name]bool{}, w.undecodable
	if len(want) == 0 && !replaced && w.reportedRV == w.batchRV {
		w.markApplied()
		w.inFlight = nil
		return
	}

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	b, err := w.Pop(ctx)
	require.NoError(w.t, err)
	w.inFlight, w.applied, w.batchRV = &b, false, b.ResourceVersion
	require.Equal(w.t, w.reportedRV, b.ResourceVersion)
	require.Equal(w.t, replaced, b.Replaced)
	require.Equal(w.t, replaced && !w.listed, b.Initial)
	w.listed = w.listed || replaced

	got, keys := map[name][]deltafifo.Delta[string]{}, []name{}
	for _, stack := range b.Stacks {
		require.NotContains(w.t, got, stack.Key, "a batch must have one stack for each key")
		if w.limit > 0 { // one more for a tombstone that Pop puts below the deltas
			require.LessOrEqual(w.t, len(stack.Deltas), max(w.limit, 2)+4)
		}
		got[stack.Key] = stack.Deltas
		keys = append(keys, stack.Key)
		w.checkStack(stack)
	}
	known := w.store.contents()
	unknown := func(k name) bool { _, ok := known[k]; return w.limit >= 0 && !ok }
	for k, deltas := range want {
		if unknown(k) && got[k] == nil && deltas[len(deltas)-1].Type == deltafifo.Deleted {
			delete(want, k) // the object was created and deleted in between
		}
	}
	require.ElementsMatch(w.t, slices.Collect(maps.Keys(want)), keys)
	for k := range want {
		if first := got[k][0]; w.undecodableInFlight[k] && want[k][0].Type == deltafifo.Deleted && want[k][0].UIDHash == 0 && first.FinalStateUnknown {
			// After an undecodable object, the state was reported without a UID. So the state may
			// belong to either of the two objects.
			require.Equal(w.t, known[k].obj, first.Object)
			want[k][0] = first
		}
		if w.undecodableInFlight[k] && want[k][0].FinalStateUnknown && got[k][0].FinalStateUnknown {
			// after several events, the tombstone may have the version of any of them
			want[k][0].ResourceVersion = got[k][0].ResourceVersion
		}
		if w.limit >= 0 {
			require.Equal(w.t, want[k][len(want[k])-1].Type == deltafifo.Deleted, got[k][len(got[k])-1].Type == deltafifo.Deleted)
			want[k], got[k] = outline(want[k], unknown(k)), outline(got[k], unknown(k))
		}
		require.Equal(w.t, want[k], got[k])
	}
	order = slices.DeleteFunc(order, func(k name) bool { return want[k] == nil || unknown(k) })
	// ignore keys that the queue may have forgotten before they got their next delta
	keys = slices.DeleteFunc(keys, unknown)
	require.Equal(w.t, order, keys[:len(order)], "the stacks must be in the order of their first deltas")
}

// outline returns the deltas that must stay after any merging: the first delta, and the end of the
// first object. If an object exists at the end, its creation and its state must stay as well. For a
// key that the consumer does not have, only the creation and the state must stay.
func outline(deltas []deltafifo.Delta[string], unknown bool) (stay []deltafifo.Delta[string]) {
	deleted := func(d deltafifo.Delta[string]) bool { return d.Type == deltafifo.Deleted }
	startsObject := func(at int) bool {
		return at > 0 && (deleted(deltas[at-1]) || deltas[at-1].UIDHash != deltas[at].UIDHash)
	}
	if !unknown {
		end := 0
		for end < len(deltas)-1 && !startsObject(end+1) {
			end++
		}
		stay = append(stay, deltas[0])
		if end < len(deltas)-1 || deleted(deltas[end]) {
			gone := deltas[end]
			if !deleted(gone) { // the next object implies that this one is gone
				gone.Type, gone.FinalStateUnknown = deltafifo.Deleted, true
			}
			if gone.FinalStateUnknown {
				gone.ResourceVersion = "" // a deletion with an event has another version
			}
			stay = append(stay, gone)
		}
	}
	last := len(deltas) - 1
	if deleted(deltas[last]) {
		return stay
	}
	created := last
	for created > 0 && !startsObject(created) {
		created--
	}
	if created > 0 && deltas[created].Type == deltafifo.Updated {
		deltas = slices.Clone(deltas)
		// the queue may have forgotten the state before an update
		deltas[created].Type = deltafifo.Added
	}
	if created > 0 || unknown {
		stay = append(stay, deltas[created])
	}
	return append(stay, deltas[last])
}

func must[V any](v V, _ error) V { return v }
