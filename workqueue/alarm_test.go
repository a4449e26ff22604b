package workqueue

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// alarmsModel is alarms, and what they should be: a list that is sorted when asked.
type alarmsModel struct {
	t       *testing.T
	random  *rand.Rand
	least   int // the least number of bits of a delay
	now     time.Duration
	alarms  alarms[int]
	entries []entry[int]
	set     map[int]int // when the alarms that there are were set, by key, as a number
	sets    int
	partial int // how often ring was not done
}

// change sets some alarms, most of them to other times than before, and takes out some.
func (m *alarmsModel) change(n int) {
	for range n {
		e := &m.entries[m.random.IntN(len(m.entries))]
		if m.random.IntN(4) == 0 {
			m.alarms.unset(e)
			e.due = 0
			delete(m.set, e.key)
			continue
		}
		// Of all magnitudes that are wanted, and often the same as another.
		size := m.least + m.random.IntN(40-m.least)
		due := ((m.now+time.Duration(m.random.Int64N(4))<<size)>>(size-2) + 1) << (size - 2)
		asked := due
		if m.random.IntN(8) == 0 {
			asked = 1 + m.now/2 // as the end of an interval while its key is with a worker
			due = max(asked, m.alarms.floor)
		}
		if _, was := m.set[e.key]; !was || due != e.due {
			m.sets++
			m.set[e.key] = m.sets
		}
		before := m.alarms.first()
		e.due = asked
		if first := m.alarms.set(e); due < before && !first {
			m.t.Fatalf("set to %d, before the first at %d, and nobody is told", due, before)
		}
		e.due = due
	}
	require.NoError(m.t, m.alarms.verify(len(m.set)))
}

// ring lets time pass, and compares what rings.
func (m *alarmsModel) ring(d time.Duration) {
	m.now += d
	for {
		e, more := m.alarms.ring(m.now)
		switch {
		case more:
			require.Nil(m.t, e)
			m.partial++
			m.change(5)
		case e == nil:
			for key := range m.set {
				require.Greater(m.t, m.entries[key].due, m.now, "it has not rung")
			}
			require.Greater(m.t, m.alarms.first(), m.now)
			return
		default:
			want := slices.MinFunc(slices.Collect(maps.Keys(m.set)), func(a, b int) int {
				return cmp.Or(cmp.Compare(m.entries[a].due, m.entries[b].due), cmp.Compare(m.set[a], m.set[b]))
			})
			require.Equal(m.t, want, e.key)
			e.due = 0
			delete(m.set, want)
		}
	}
}

func TestAlarmsRingInOrder(t *testing.T) { // WQ-22
	t.Parallel()
	partial := 0
	for seed := range uint64(6) {
		m := &alarmsModel{t: t, least: []int{2, 37}[seed%2], random: rand.New(rand.NewPCG(seed, 0)), set: make(map[int]int), entries: make([]entry[int], 8*spreadAtOnce)}
		for key := range m.entries {
			m.entries[key].key = key
		}
		m.change(4 * len(m.entries))
		for range 50 {
			m.change(m.random.IntN(20))
			m.ring(time.Duration(m.random.Int64N(2)) << m.random.IntN(38))
		}
		for len(m.set) > 0 {
			m.ring(time.Hour)
		}
		require.Zero(t, m.alarms.used)
		partial += m.partial
	}
	require.Positive(t, partial)
}
