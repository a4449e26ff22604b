package metrics

import (
	"encoding/json"
	"flag"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
)

var drawFile = flag.String("draw", "", "write the dashboard as a picture, a PNG, to this file")

const (
	dashboardFile = "../../docs/metrics/grafana-dashboard.json"
	alertsFile    = "../../docs/metrics/alerts.yaml"
)

var language = parser.NewParser(parser.Options{})

// panel is a panel of the dashboard, with its data.
type panel struct {
	Title, Type string
	GridPos     struct{ X, Y, W, H int }
	Targets     []struct{ Expr, LegendFormat string }

	lines []line
}

// line is one series of a panel.
type line struct {
	name   string
	points []promql.FPoint
}

func panels(t *testing.T) []*panel {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	require.NoError(t, err)
	var dashboard struct{ Panels []*panel }
	require.NoError(t, json.Unmarshal(text, &dashboard))
	return dashboard.Panels
}

// emptyPanels has the panels that are empty in the recorded hour.
var emptyPanels = []string{"Objects that cannot be read", "Merged"}

// Prometheus can parse every query of the dashboard. Each query has a result over an hour with most
// possible faults. Prometheus can also parse every alert, and the expected alerts fire in that
// hour.
func TestDashboardAndAlertsOverAnHour(t *testing.T) {
	h := record(t)
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 50_000_000, Timeout: time.Minute, Parser: language})
	all := panels(t)
	for _, p := range all {
		for _, target := range p.Targets {
			expr := strings.NewReplacer("$job", ".*", "$instance", ".*", "$__rate_interval", "1m").Replace(target.Expr)
			_, err := language.ParseExpr(expr)
			require.NoError(t, err, "%s: %s", p.Title, expr)
			for _, series := range h.evaluate(t, engine, expr) {
				p.lines = append(p.lines, line{legend(target.LegendFormat, series.Metric.Map()), series.Floats})
			}
		}
		some := slices.ContainsFunc(p.lines, func(l line) bool { return len(l.points) > 0 })
		require.Equal(t, len(p.Targets) > 0 && !slices.Contains(emptyPanels, p.Title) || some, some, "panel %s must have data, unless it has no query or is in emptyPanels", p.Title)
	}
	if *drawFile != "" {
		drawDashboard(t, *drawFile, all, h)
	}

	text, err := os.ReadFile(alertsFile)
	require.NoError(t, err)
	groups, errs := rulefmt.Parse(text, false, model.UTF8Validation, language, slog.Default())
	require.Empty(t, errs)
	raised := map[string]bool{}
	for _, rule := range groups.Groups[0].Rules {
		lasted := time.Duration(rule.For)
		for _, series := range h.evaluate(t, engine, rule.Expr) {
			raised[rule.Alert] = raised[rule.Alert] || longestRun(series.Floats) >= lasted
		}
	}
	t.Log("raised:", raised)
	for _, alert := range []string{"KinformCacheStale", "KinformKeysWait", "KinformReconcilePanics", "KinformEventsDropped"} {
		require.True(t, raised[alert], alert)
	}
	for _, alert := range []string{"KinformMetricsLeftOut", "KinformObjectsUndecodable", "KinformHandlerPanics", "KinformCacheNotSynced"} {
		require.False(t, raised[alert], alert)
	}
}

// evaluate evaluates an expression at the time of each scrape.
func (h *history) evaluate(t *testing.T, engine *promql.Engine, expr string) promql.Matrix {
	t.Helper()
	query, err := engine.NewRangeQuery(t.Context(), h, promql.NewPrometheusQueryOpts(false, 0, nil), expr, h.start.Add(interval), h.end, interval)
	require.NoError(t, err, expr)
	defer query.Close()
	result := query.Exec(t.Context())
	require.NoError(t, result.Err, expr)
	matrix, err := result.Matrix()
	require.NoError(t, err, expr)
	copied := make(promql.Matrix, len(matrix)) // the engine reuses the points
	for i, s := range matrix {
		copied[i] = promql.Series{Metric: s.Metric.Copy(), Floats: slices.Clone(s.Floats)}
	}
	return copied
}

// longestRun returns the longest time in which each scrape has a point.
func longestRun(points []promql.FPoint) (most time.Duration) {
	begun := 0
	for i := range points {
		if i > 0 && points[i].T-points[i-1].T > interval.Milliseconds() {
			begun = i
		}
		most = max(most, time.Duration(points[i].T-points[begun].T)*time.Millisecond)
	}
	return most
}

func legend(format string, labels map[string]string) string {
	for name, value := range labels {
		format = strings.ReplaceAll(format, "{{"+name+"}}", value)
	}
	return format
}
