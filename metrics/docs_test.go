package metrics

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/listwatch"
)

var update = flag.Bool("update", false, "write the table of docs/metrics.md instead of comparing with it")

const (
	page  = "../docs/metrics.md"
	begin = "<!-- table: go test -C metrics -run TestTableOfAllMetrics . -update -->\n"
	end   = "<!-- end -->"
)

// The page lists exactly the metrics that package metrics can register.
func TestTableOfAllMetrics(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	require.True(t, found)
	table, after, found := strings.Cut(rest, end)
	require.True(t, found)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+tableOfAll()+end+after), 0o644))
		return
	}
	require.Equal(t, tableOfAll(), table, "go test -C metrics -run TestTableOfAllMetrics . -update writes it")
}

func tableOfAll() string {
	opts := Options{ClientGoNames: true, Holders: true}
	read := map[string]bool{leftOut.name: true}
	for _, t := range tables(opts) {
		for _, f := range t.families() {
			read[f.name] = true
		}
	}
	var b strings.Builder
	b.WriteString("| Metric | Type | Labels | |\n|---|---|---|---|\n")
	for _, f := range allFamilies(opts) {
		how := "Observed."
		if read[f.name] {
			how = "Read."
		}
		if f.clientGo {
			how += " Familiar."
		}
		labels := slices.Sorted(slices.Values(f.labels))
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s %s |\n", f.name, f.kind, strings.Join(labels, ", "), strings.ReplaceAll(strings.TrimSuffix(f.help, ".")+".", "<", "\\<"), how)
	}
	return b.String()
}

// The page lists exactly the reasons that reasonOf can return.
func TestReasonsOfThePage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), " names the reason of a failure. ")
	require.True(t, found)
	paragraph, _, _ := strings.Cut(after, "\n\n")
	var documented []string
	for _, match := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(paragraph, -1) {
		documented = append(documented, match[1])
	}
	status := func(code int) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: int32(code), Reason: map[int]metav1.StatusReason{410: metav1.StatusReasonExpired}[code]}}
	}
	there := []string{reasonOf(&listwatch.ObjectError{}), reasonOf(status(410)), reasonOf(status(401)), reasonOf(status(403)), reasonOf(status(404)),
		reasonOf(status(429)), reasonOf(status(503)), reasonOf(status(422)), reasonOf(io.ErrUnexpectedEOF)}
	for _, r := range reasons {
		there = append(there, reasonOf(fmt.Errorf("in a list: %w", r.err)))
	}
	require.ElementsMatch(t, there, documented)
}

// series matches the names of this package's metrics.
var series = regexp.MustCompile(`\bkinform_[a-z_]+\b`)

// The dashboard, the alerts and the page query only metrics that exist.
func TestDashboardAndAlertsUseExistingMetrics(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, f := range allFamilies(Options{ClientGoNames: true, Holders: true}) {
		known[f.name] = true
		if f.kind == "histogram" {
			known[f.name+"_bucket"], known[f.name+"_sum"], known[f.name+"_count"] = true, true, true
		}
	}
	for _, name := range []string{page, "../docs/metrics/grafana-dashboard.json", "../docs/metrics/alerts.yaml"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		found := series.FindAllString(string(text), -1)
		require.Greater(t, len(found), 15, name)
		for _, metric := range found {
			require.True(t, known[metric] || strings.HasSuffix(metric, "_"), "%s: there is no %s", name, metric)
		}
	}
}

// The dashboard is valid JSON. Each panel has a title and a query, and panels do not overlap.
func TestDashboardIsValid(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/metrics/grafana-dashboard.json")
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			ID      int
			Type    string
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct {
				Expr     string
				Exemplar bool
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range dashboard.Panels {
		require.NotEmpty(t, p.Title)
		require.False(t, ids[p.ID], p.Title)
		ids[p.ID] = true
		require.Equal(t, p.Type == "row", len(p.Targets) == 0, p.Title)
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				cell := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				require.Empty(t, cells[cell], p.Title)
				cells[cell] = p.Title
			}
		}
		for _, target := range p.Targets {
			require.NotEmpty(t, target.Expr, p.Title)
			has := slices.ContainsFunc(onTheWay, func(name string) bool { return strings.Contains(target.Expr, name) })
			require.Equal(t, has, target.Exemplar, "%s: exactly the panels with exemplars request exemplars", p.Title)
		}
	}
	require.Greater(t, len(ids), 40)
}

// Each family has a unique name and a unique help text.
func TestFamiliesHaveUniqueNamesAndHelpTexts(t *testing.T) {
	t.Parallel()
	names, helps := map[string]bool{}, map[string]string{}
	for _, f := range allFamilies(Options{ClientGoNames: true, Holders: true}) {
		require.False(t, names[f.name], "%s exists twice", f.name)
		names[f.name] = true
		require.Empty(t, helps[f.help], "%s has the help text of another", f.name)
		helps[f.help] = f.name
		require.Equal(t, f.clientGo, !strings.HasPrefix(f.name, "kinform_"), f.name)
		require.Equal(t, f.kind == "counter", strings.HasSuffix(f.name, "_total"), f.name)
	}
}
