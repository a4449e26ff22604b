package informer

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// world writes events for a few keys as an informer would. Each Old is the previous New, and each
// key is Added before it is Updated or Deleted.
type world struct {
	state   map[types.NamespacedName]int
	version int
}

func (w *world) step(op byte) Event[int] {
	key := types.NamespacedName{Name: fmt.Sprint(op % 4)}
	w.version++
	old, exists := w.state[key]
	event := Event[int]{Cause: Watch, Key: key, Old: old, New: w.version, ResourceVersion: fmt.Sprint(w.version)}
	switch {
	case !exists:
		event.Type = Added
	case op&8 != 0:
		event.Type = Deleted
	default:
		event.Type = Updated
	}
	if event.Type == Deleted {
		delete(w.state, key)
	} else {
		w.state[key] = w.version
	}
	return event
}

// reader applies the events from a mailbox. It fails on an event that does not follow from the
// known state.
type reader struct{ known map[types.NamespacedName]int }

func (r *reader) read(t *testing.T, e Event[int]) {
	before, exists := r.known[e.Key]
	require.Equal(t, exists, e.Type != Added, "%v: the reader knows the key: %v", e.Type, exists)
	require.Equal(t, before, e.Old, "Old is New of the previous event")
	if e.Type == Deleted {
		delete(r.known, e.Key)
	} else {
		r.known[e.Key] = e.New
	}
}

// FuzzMailbox interprets bytes as operations. A byte with the high bit takes an item; any other
// byte posts one to eight changes of four keys at once.
func FuzzMailbox(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0x80, 8, 0, 8, 0, 8, 0x80, 0x80})
	f.Add([]byte("many changes of few keys, and nobody reads them for long"))
	f.Add(slices.Repeat([]byte{1, 9}, 50))
	f.Add([]byte{0x71, 0x80, 0x70, 0x80, 0x78, 0x80, 0x72, 0x80, 0x80, 0x79, 0x80})
	f.Fuzz(func(t *testing.T, script []byte) {
		for _, overflow := range []Overflow{Coalesce, Unbounded} {
			const limit = 3
			m := newMailbox[int](limit, overflow, nil, nil)
			w := world{state: map[types.NamespacedName]int{}}
			r := reader{known: map[types.NamespacedName]int{}}
			for _, op := range script {
				if op&0x80 != 0 {
					if l, ok := m.take(); ok {
						r.read(t, l.events[0])
					}
					continue
				}
				events := []Event[int]{w.step(op)}
				for n := range op >> 4 & 7 {
					events = append(events, w.step(op+n+1))
				}
				posted := slices.Clone(events)
				depth := m.post(events, time.Time{})
				require.Equal(t, posted, events, "the mailbox does not change the events, which other mailboxes share")
				if overflow == Coalesce {
					require.LessOrEqual(t, depth, limit+3*4, "at most the limit and three events for each key wait")
				}
			}
			for l, ok := m.take(); ok; l, ok = m.take() {
				r.read(t, l.events[0])
			}
			require.Equal(t, w.state, r.known, "no final state is lost")
			require.Zero(t, m.depth)
			require.Nil(t, m.newest, "an empty mailbox has no index of newest events")
		}
	})
}

func TestMailboxCoalescesOnlyWhileTheReaderIsBehind(t *testing.T) {
	t.Parallel()
	m := newMailbox[int](2, Coalesce, nil, nil)
	w := world{state: map[types.NamespacedName]int{}}
	post := func() int { return m.post([]Event[int]{w.step(1)}, time.Time{}) }

	post()
	require.Equal(t, 2, post(), "below the limit no events are merged")
	require.Equal(t, 2, post(), "at the limit an update merges")
	_, _, coalesced := m.stats()
	require.EqualValues(t, 1, coalesced)

	added, _ := m.take()
	require.Equal(t, 1, added.events[0].New)
	updated, _ := m.take()
	require.Equal(t, Event[int]{Type: Updated, Cause: Watch, Key: updated.events[0].Key, Old: 1, New: 3, ResourceVersion: "3"}, updated.events[0])

	post()
	require.Equal(t, 2, post(), "after the mailbox was empty, no events are merged")
}

func TestMailboxKeepsTheSyncPointBehindTheInitialAdds(t *testing.T) {
	t.Parallel()
	m := newMailbox[int](1, Coalesce, nil, nil)
	w := world{state: map[types.NamespacedName]int{}}
	m.post([]Event[int]{w.step(1)}, time.Time{})
	m.postSyncPoint()
	m.post([]Event[int]{w.step(1)}, time.Time{})
	first, _ := m.take()
	require.Equal(t, Added, first.events[0].Type)
	second, _ := m.take()
	require.True(t, second.isSyncPoint)
}

func TestBlockHoldsUpTheWriterUntilThereIsRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		held, released := 0, 0
		m := newMailbox[int](1, Block, func() func() {
			held++
			return func() { released++ }
		}, nil)
		w := world{state: map[types.NamespacedName]int{}}
		m.post([]Event[int]{w.step(1)}, time.Time{})
		posted := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 3 {
				m.post([]Event[int]{w.step(1)}, time.Time{})
				posted++
			}
		}()
		synctest.Wait()
		require.Zero(t, posted, "the writer waits")
		m.take()
		synctest.Wait()
		require.Equal(t, 1, posted, "each event taken makes room for one event")
		m.close()
		<-done
		require.Equal(t, 3, posted, "a closed mailbox does not block the writer")
		require.Equal(t, []int{2, 2}, []int{held, released}, "each wait ends with a call of release")
		_, ok := m.take()
		require.False(t, ok)
	})
}
