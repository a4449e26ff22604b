package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/bench/internal/report"
)

func TestMedianIsTheMiddle(t *testing.T) {
	t.Parallel()
	require.Zero(t, report.Median(nil))
	require.Equal(t, 7.0, report.Median([]float64{7}))
	require.Equal(t, 4.0, report.Median([]float64{1, 9, 3, 5}))
	values := []float64{9, 1, 5}
	require.Equal(t, 5.0, report.Median(values))
	require.Equal(t, []float64{9, 1, 5}, values, "Median must not change its argument")
}

func TestQuantiles(t *testing.T) {
	t.Parallel()
	var sorted []int
	require.Zero(t, report.Quantile(sorted, 0.5))
	for n := range 1000 {
		sorted = append(sorted, n)
	}
	require.Equal(t, 0, report.Quantile(sorted, 0))
	require.Equal(t, 500, report.Quantile(sorted, 0.5))
	require.Equal(t, 990, report.Quantile(sorted, 0.99))
	require.Equal(t, 999, report.Quantile(sorted, 1))
}

func TestColumnsOfATableAreAligned(t *testing.T) {
	t.Parallel()
	table := report.Table{{"what", "µs", ""}}
	table.Add("first sync", "1", "met")
	table.Add("relist", "1000", "")
	const want = `what          µs
----------  ----  ---
first sync     1  met
relist      1000
`
	require.Equal(t, want, table.String())
}

func TestTablesAreFoundInWhatWasPrinted(t *testing.T) {
	t.Parallel()
	first := report.Table{{"what", "µs", "its mode", ""}}
	first.Add("first sync, wall", "1", "", "met")
	first.Add("relist", "1000", "list", "")
	second := report.Table{{"queue", "B"}, {"kinform", "0"}}
	printed := "SYNC of 20 pods\n\ndate  today\n\n" + first.String() + "\nAgain: go run\n\n```\n" + second.String() + "```\nThe end - of it\n"
	require.Equal(t, []report.Table{first, second}, report.Parse(printed))
	require.Empty(t, report.Parse(""))
}
