package deltafifo_test

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
)

// replay is the simplest form of the queue: it computes the deltas of each key from the log and the
// store's current state. It also returns the keys in the order of their first entry in the log.
func (w *world) replay() (stacks map[name][]deltafifo.Delta[string], order []name) {
	stacks, order = map[name][]deltafifo.Delta[string]{}, []name{}
	known := w.store.contents()
	mention := func(k name) {
		if !slices.Contains(order, k) {
			order = append(order, k)
		}
	}
	last := func(k name) deltafifo.Delta[string] { // the zero value without deltas
		if len(stacks[k]) == 0 {
			return deltafifo.Delta[string]{}
		}
		return stacks[k][len(stacks[k])-1]
	}
	vanish := func(k name, e entry) {
		stacks[k] = append(stacks[k], deltafifo.Delta[string]{
			Type: deltafifo.Deleted, FinalStateUnknown: true, Object: e.obj, ResourceVersion: e.rv, UIDHash: e.uid,
		})
	}
	// undecodableUID has, by key, the UID of an undecodable object whose key had nothing pending.
	// The next delta is about this object, unless certain is set: then the object was deleted.
	absent := map[name]bool{} // keys that a Replace did not list
	undecodableUID, certain := map[name]uint64{}, map[name]bool{}
	readAgain := func(k name, d deltafifo.Delta[string]) {
		if undecodableUID[k] != 0 && (!certain[k] || d.Type == deltafifo.Deleted) {
			delete(stacks, k)
		}
		delete(undecodableUID, k)
		delete(certain, k)
	}
	applyUndecodable := func(k name, uid uint64, rv string) {
		if absent[k] && !slices.Contains(order, k) {
			return // the deletion of the key's object is already known
		}
		mention(k)
		e, exists := known[k]
		if d := last(k); d.Type != 0 {
			e, exists = entry{d.Object, d.ResourceVersion, d.UIDHash}, d.Type != deltafifo.Deleted
		}
		switch {
		case len(stacks[k]) > 0 && undecodableUID[k] == 0:
		case undecodableUID[k] == 0:
			undecodableUID[k] = uid
		case undecodableUID[k] != uid:
			certain[k] = true
		}
		if exists && e.uid != uid {
			vanish(k, entry{e.obj, cmp.Or(rv, e.rv), e.uid})
		}
	}
	resync := false
	for _, s := range w.log {
		switch {
		case s.resync:
			resync = true
		case s.undecodableUID != 0:
			applyUndecodable(s.key, s.undecodableUID, s.delta.ResourceVersion)
		case s.listed == nil:
			mention(s.key)
			_, exists := known[s.key]
			readAgain(s.key, s.delta)
			switch {
			case s.delta.Type == deltafifo.Deleted && len(stacks[s.key]) == 0 && exists && s.delta.UIDHash != 0 && s.delta.UIDHash != known[s.key].uid:
				vanish(s.key, entry{known[s.key].obj, s.delta.ResourceVersion, known[s.key].uid})
			case s.delta.Type == deltafifo.Deleted && len(stacks[s.key]) == 0 && !exists: // DF-6
			case s.delta.Type == deltafifo.Deleted && len(stacks[s.key]) > 0 && last(s.key).Type == deltafifo.Deleted:
				// DF-3
				if last(s.key).FinalStateUnknown && (last(s.key).UIDHash == s.delta.UIDHash || s.delta.UIDHash == 0) {
					stacks[s.key][len(stacks[s.key])-1] = s.delta
				}
			case s.delta.Type == deltafifo.Deleted && len(stacks[s.key]) > 0 && s.delta.UIDHash != 0 && s.delta.UIDHash != last(s.key).UIDHash:
				d := last(s.key) // the deletion of this object had no event
				vanish(s.key, entry{d.Object, s.delta.ResourceVersion, d.UIDHash})
			default:
				stacks[s.key] = append(stacks[s.key], s.delta)
			}
		default:
			listed := map[name]bool{}
			for _, item := range s.listed { // DF-17
				listed[item.Key] = true
				if item.State == listwatch.Decoded {
					mention(item.Key)
					readAgain(item.Key, deltafifo.Delta[string]{})
					stacks[item.Key] = append(stacks[item.Key], deltafifo.Delta[string]{
						Type: deltafifo.Replaced, Object: item.Object, ResourceVersion: item.ResourceVersion, UIDHash: item.UIDHash,
					})
				}
			}
			for _, item := range s.listed {
				if item.State == listwatch.Undecodable && item.UIDHash != 0 {
					applyUndecodable(item.Key, item.UIDHash, "")
				}
			}
			for _, k := range names {
				e, exists := known[k]
				absent[k] = absent[k] || !listed[k] && !listed[nameless.Key]
				if !listed[k] && !listed[nameless.Key] && undecodableUID[k] != 0 {
					certain[k] = true
				}
				switch {
				case listed[k], listed[nameless.Key]:
				case len(stacks[k]) > 0: // DF-18
					if d := last(k); d.Type != deltafifo.Deleted {
						vanish(k, entry{d.Object, d.ResourceVersion, d.UIDHash})
					}
				case exists: // DF-19
					vanish(k, e)
				}
			}
		}
	}
	for k, e := range known { // DF-23
		if resync && len(stacks[k]) == 0 {
			stacks[k] = []deltafifo.Delta[string]{{Type: deltafifo.Sync, Object: e.obj, ResourceVersion: e.rv, UIDHash: e.uid}}
		}
	}
	return stacks, order
}

// checkStack checks a stack against the state in the store: each delta must be possible after the
// previous one.
func (w *world) checkStack(stack deltafifo.Stack[string]) {
	require.NotEmpty(w.t, stack.Deltas)
	now, exists := w.store.contents()[stack.Key]
	for _, d := range stack.Deltas {
		newer := must(strconv.Atoi(d.ResourceVersion)) > must(strconv.Atoi(now.rv))
		switch {
		case d.Type == deltafifo.Added:
			require.False(w.t, exists && now.uid == d.UIDHash, "%v: an Added object must not exist already", stack)
		case d.Type == deltafifo.Updated:
			require.True(w.t, exists && newer, "%v: an Updated object must exist, in an older state", stack)
		case d.Type == deltafifo.Replaced:
			require.True(w.t, newer || !exists || d.ResourceVersion == now.rv, "%v: a Replaced object must not have an older state", stack)
		case d.Type == deltafifo.Sync || d.FinalStateUnknown:
			require.True(w.t, exists, "%v: a Sync or a tombstone needs an existing object", stack)
			require.True(w.t, newer || d.ResourceVersion == now.rv, "%v", stack)
			require.Equal(w.t, entry{now.obj, "", now.uid}, entry{d.Object, "", d.UIDHash}, "%v: a Sync or a tombstone must have the last known state", stack)
		case d.Type == deltafifo.Deleted:
			require.True(w.t, exists && newer, "%v: a Deleted object must exist, in an older state", stack)
		}
		now, exists = entry{d.Object, d.ResourceVersion, d.UIDHash}, d.Type != deltafifo.Deleted
	}
}
