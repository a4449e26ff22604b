package tracing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/rest"
)

// This test logs the picture of docs/tracing.md. Run it with go test -C tracing -run Diagram -v .
func TestDiagramOfATrace(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Ratio: 1}, rest.Options{})
	failed := false
	r.reconcile = func(ctx context.Context, m *configMap) (controller.Result, error) {
		if m.Name != "shop" {
			return controller.Done, nil
		}
		if !failed {
			failed = true
			_, err := r.secrets.Server().Get(ctx, keyOf("theme"), metav1.GetOptions{})
			return controller.Done, err
		}
		_, err := r.secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "shop"}})
		return controller.Done, err
	}
	r.run()
	r.create("warm") // warms up connections and the processor's caches
	r.waitForSpans("reconcile greet", 1)
	r.create("shop")
	r.waitForSpans("reconcile greet", 3)
	r.requireAllEnded()
	root := r.ended("change configmaps")[1]
	picture := waterfall(r.recorder.Ended(), root)
	t.Log("\n" + picture)
	for _, name := range []string{"change configmaps", "  deltafifo", "  store", "  mailbox", "  handle greet", "  workqueue", "  reconcile greet", "    get secrets", "    create secrets"} {
		require.Contains(t, picture, "\n"+name+" ")
	}
}

// waterfall draws the spans of a trace, one per line, with start and end times. Each span is below
// its parent.
func waterfall(all []sdk.ReadOnlySpan, root sdk.ReadOnlySpan) string {
	const width = 48
	var end time.Time
	for _, s := range all {
		if s.SpanContext().TraceID() == root.SpanContext().TraceID() && s.EndTime().After(end) {
			end = s.EndTime()
		}
	}
	begin := root.StartTime()
	column := func(at time.Time) int { return int(int64(width-1) * int64(at.Sub(begin)) / int64(end.Sub(begin))) }
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b sdk.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
	var b strings.Builder
	b.WriteString("\n")
	var draw func(s sdk.ReadOnlySpan, depth int)
	draw = func(s sdk.ReadOnlySpan, depth int) {
		from := max(column(s.StartTime()), 0)
		to := max(column(s.EndTime()), from)
		bar := strings.Repeat(" ", from) + strings.Repeat("█", to-from+1)
		fmt.Fprintf(&b, "%-24s %8.3f ms %8.3f ms  %s\n", strings.Repeat("  ", depth)+s.Name(),
			float64(s.StartTime().Sub(begin))/1e6, float64(s.EndTime().Sub(s.StartTime()))/1e6, bar)
		for _, child := range all {
			if child.Parent().SpanID() == s.SpanContext().SpanID() && child.SpanContext().TraceID() == s.SpanContext().TraceID() {
				draw(child, depth+1)
			}
		}
	}
	draw(root, 0)
	return b.String()
}
