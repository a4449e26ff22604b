package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/bench/internal/subject"
)

// measuredOnce has one value for each row that the test needs.
func measuredOnce() results {
	r := make(results)
	list := kind{clientgo, subject.Protobuf, subject.List, subject.Full}
	stream := kind{clientgo, subject.Protobuf, subject.WatchList, subject.Full}
	ours := kind{kinform, subject.Protobuf, subject.List, subject.Full}
	r.add(kind{withoutSharing, subject.Protobuf, subject.List, subject.Full}, syncWall, 1.5)
	r.add(list, syncWall, 2)
	r.add(stream, syncWall, 3)
	r.add(ours, syncWall, 1)
	r.add(list, peakRSS, 400e6)
	r.add(stream, peakRSS, 300e6)
	r.add(ours, peakRSS, 200e6)
	r.add(list, eventRate, 1000)
	r.add(ours, eventRate, 2500)
	return r
}

func TestEachRowComparesWithTheBestModeOfClientGo(t *testing.T) {
	t.Parallel()
	table := measuredOnce().comparison()
	require.Equal(t, [][]string{
		{"first sync, wall, protobuf, default", "2.00 s", "list", "", "1.00 s", "0.50", "<= 0.50", "met"},
		{"first sync, wall, protobuf, without sharing", "2.00 s", "list", "", "1.50 s", "0.75", "", ""},
		{"first sync, peak RSS, protobuf, default", "300 MB", "watchlist", "", "200 MB", "0.67", "<= 0.50", "missed"},
		{"watch, events, protobuf, default", "1000 per s", "list", "", "2500 per s", "2.50", ">= 2.50", "met"},
	}, [][]string(table[1:]))
}

func TestTheTextbookHasAColumnWithoutRatios(t *testing.T) {
	t.Parallel()
	r := make(results)
	for program, seconds := range map[string]float64{clientgo: 4, plain: 5, kinform: 1} {
		r.add(kind{program, subject.JSON, subject.List, subject.Full}, syncWall, seconds)
	}
	require.Equal(t, []string{"first sync, wall, json, default", "4.00 s", "list", "5.00 s", "1.00 s", "0.25", "<= 0.33", "met"}, r.comparison()[1])
}

func TestTheTextbookNeverSeparatesComparedSides(t *testing.T) {
	t.Parallel()
	all := sides(subject.JSON, subject.List, subject.Full)
	require.Equal(t, plain, all[len(all)-1].program)
	require.Len(t, sides(subject.Protobuf, subject.List, subject.Full), len(all)-1)
	require.Len(t, sides(subject.JSON, subject.WatchList, subject.Full), len(all)-1)
	require.Len(t, sides(subject.JSON, subject.List, subject.Stripped), len(all)-1)
}

func TestDetailsShowMedianAndRange(t *testing.T) {
	t.Parallel()
	k := kind{kinform, subject.JSON, subject.List, subject.Full}
	r := make(results)
	for _, v := range []float64{3, 1, 2} {
		r.add(k, syncWall, v)
	}
	other := kind{raw, subject.JSON, subject.List, subject.Full}
	require.Equal(t, [][]string{
		{"medians (least-greatest)", "sync: wall, s"},
		{"kinform-json-list-full", "2.00 (1.00-3.00)"},
		{"raw-json-list-full", "-"},
	}, [][]string(r.details([]kind{k, other}, syncMetrics)))
}

func TestUnknownRowsAreRefused(t *testing.T) {
	t.Parallel()
	_, err := parseSelection("sync,wach")
	require.ErrorContains(t, err, "wach")
	rows, err := parseSelection("watch")
	require.NoError(t, err)
	require.Empty(t, syncKinds(rows))
}
