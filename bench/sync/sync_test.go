package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/bench/internal/subject"
)

func TestEveryRowIsMeasured(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links four programs and runs them")
	}
	const pods, updates = 200, 300
	profiles := t.TempDir()
	l, err := newEnvironment(pods, updates, profiles, false)
	require.NoError(t, err)
	defer l.close()

	rows, err := parseSelection("sync,heap,watch,relist")
	require.NoError(t, err)
	measured := make(results)
	require.NoError(t, l.warm())
	require.NoError(t, l.syncRound(syncKinds(rows), true, measured))
	require.NoError(t, l.watchRound(watchKinds(rows), updates, measured))

	require.Len(t, measured.comparison(), 1+2*len(goals))
	for _, g := range goals {
		for _, program := range []string{kinform, withoutSharing} {
			v, ok := measured.median(kind{program, g.encoding, subject.List, g.shape}, g.metric)
			require.True(t, ok)
			require.Positive(t, v, g.metric.name)
		}
	}
	for _, m := range slices.Concat(syncMetrics, watchMetrics) {
		v, ok := measured.median(kind{plain, subject.JSON, subject.List, subject.Full}, m)
		require.True(t, ok, m.name)
		require.Positive(t, v, m.name)
	}
	for line := range strings.Lines(measured.comparison().String() + measured.details(syncKinds(rows), syncMetrics).String()) {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 170)
	}
	written, err := filepath.Glob(filepath.Join(profiles, "kinform-json-list-full.*.pprof"))
	require.NoError(t, err)
	require.Len(t, written, 6, "there must be profiles of CPU and heap for sync, relist and watch")
}

func TestAFailedClientIsReportedWithItsLastOutput(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links four programs")
	}
	l, err := newEnvironment(1, 1, "", false)
	require.NoError(t, err)
	defer l.close()
	l.server.url = "http://127.0.0.1:1"
	_, _, err = l.start(kind{raw, subject.JSON, subject.List, subject.Full}, false)
	require.ErrorContains(t, err, "raw-json-list-full")
	require.ErrorContains(t, err, "connection refused")
}

func TestAnUnexpectedModeIsAnError(t *testing.T) {
	t.Parallel()
	s := &server{lists: map[string]string{"client": "json list"}}
	require.NoError(t, s.check("client", subject.JSON, subject.List))
	require.ErrorContains(t, s.check("client", subject.JSON, subject.WatchList), "json list")
}

func TestOnlySelectsClientsByName(t *testing.T) {
	t.Parallel()
	all, err := parse([]string{"-rows", "dropin,watch"})
	require.NoError(t, err)
	require.Len(t, all.watchKinds(), 20)
	require.Equal(t, 2, all.atOnce(), "each program must run only beside its variant with the replace directive")
	set, err := parse([]string{"-rows", "dropin,watch", "-only", "^manager.*json-list-full"})
	require.NoError(t, err)
	require.Equal(t, []kind{
		{manager, subject.JSON, subject.List, subject.Full}, {manager + dropinSuffix, subject.JSON, subject.List, subject.Full},
	}, set.syncKinds())
	usual, err := parse(nil)
	require.NoError(t, err)
	require.Equal(t, len(usual.watchKinds()), usual.atOnce(), "all clients must run at once, on the same events")
	_, err = parse([]string{"-only", "("})
	require.ErrorContains(t, err, "-only")
}
