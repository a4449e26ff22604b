package report_test

import (
	"testing"

	"github.com/kinform/kinform/bench/internal/report"
)

func TestMedianIsTheMiddle(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{7}, 7},
		{[]float64{9, 1, 5}, 5},
		{[]float64{1, 9, 3, 5}, 4},
	} {
		if got := report.Median(tt.values); got != tt.want {
			t.Errorf("median of %v: %v, want %v", tt.values, got, tt.want)
		}
	}
}

func TestColumnsOfATableAreAligned(t *testing.T) {
	t.Parallel()
	table := report.Table{{"what", "µs"}}
	table.Add("first sync", "1")
	table.Add("relist", "1000")
	const want = `what          µs
----------  ----
first sync     1
relist      1000
`
	if got := table.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}
