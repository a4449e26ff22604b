package metrics

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// family describes a metric that all parts of one kind have. The registry and the table in
// docs/metrics.md use it.
type family struct {
	name, help string
	kind       string // gauge, counter or histogram
	labels     []string
	clientGo   bool // a metric of client-go or controller-runtime
}

// snapshotMetric is a family whose values are read from a snapshot at each scrape.
type snapshotMetric[S any] struct {
	family
	desc *prometheus.Desc
	// each calls the function set for every series in the snapshot, with the values of the family's
	// own labels. The labels of the part are added later.
	each func(snapshot S, set func(value float64, labels ...string))
	// unbounded is set if the number of series is not known in advance.
	unbounded bool
}

// unboundedLabels are the labels whose values are chosen by the program or the server.
var unboundedLabels = []string{"index", "priority", "part"}

// snapshotMetrics has all families that are read from the snapshot of one kind of part.
type snapshotMetrics[S any] struct {
	part []string // the labels that distinguish the part from others of its kind
	all  []snapshotMetric[S]
}

func (r *snapshotMetrics[S]) add(kind, name, help string, more []string, each func(S, func(float64, ...string))) {
	labels := append(append([]string(nil), r.part...), more...)
	r.all = append(r.all, snapshotMetric[S]{
		family:    family{name: name, help: help, kind: kind, labels: labels},
		desc:      prometheus.NewDesc(name, help, labels, nil),
		each:      each,
		unbounded: slices.ContainsFunc(more, func(label string) bool { return slices.Contains(unboundedLabels, label) }),
	})
}

// counter adds a family with one rising series for each part.
func (r *snapshotMetrics[S]) counter(name, help string, value func(S) uint64) {
	r.add("counter", name, help, nil, func(s S, set func(float64, ...string)) { set(float64(value(s))) })
}

// gauge adds a family with one series for each part.
func (r *snapshotMetrics[S]) gauge(name, help string, value func(S) float64) {
	r.add("gauge", name, help, nil, func(s S, set func(float64, ...string)) { set(value(s)) })
}

// gauges adds a family of gauges with any number of series for each part. The method counters does
// the same for counters.
func (r *snapshotMetrics[S]) gauges(name, help string, each func(s S, set func(value float64, labels ...string)), more ...string) {
	r.add("gauge", name, help, more, each)
}

func (r *snapshotMetrics[S]) counters(name, help string, each func(s S, set func(value float64, labels ...string)), more ...string) {
	r.add("counter", name, help, more, each)
}

func (r *snapshotMetrics[S]) families() (all []family) {
	for _, one := range r.all {
		all = append(all, one.family)
	}
	return all
}

func (r *snapshotMetrics[S]) describe(out chan<- *prometheus.Desc) {
	for _, one := range r.all {
		out <- one.desc
	}
}

// emit sends all metrics of a part. The labels come from c.part.
func (r *snapshotMetrics[S]) emit(c *scrapeState, s S, labels []string) {
	for _, one := range r.all {
		kind := prometheus.GaugeValue
		if one.kind == "counter" {
			kind = prometheus.CounterValue
		}
		n := 0
		one.each(s, func(value float64, more ...string) {
			if n++; one.unbounded && n > c.limit {
				c.leftOut++
				return
			}
			values := append(make([]string, 0, len(one.labels)), labels...)
			for _, value := range more {
				values = append(values, labelValue(value))
			}
			c.out <- prometheus.MustNewConstMetric(one.desc, kind, value, values...)
		})
	}
}

// scrapeState is the state during one scrape.
type scrapeState struct {
	out     chan<- prometheus.Metric
	limit   int
	taken   map[string]bool // kinds and labels of the parts so far
	count   map[string]int  // number of parts, by kind
	leftOut int
}

// part returns the labels of a part. If another part has the same labels, part appends a number to
// the last label, because the scrape would fail otherwise. If ok is false, there are too many
// parts.
func (c *scrapeState) part(kind string, labels ...string) (unique []string, ok bool) {
	if c.count[kind]++; c.count[kind] > c.limit {
		c.leftOut++
		return nil, false
	}
	last := len(labels) - 1
	for i := range labels {
		labels[i] = labelValue(labels[i])
	}
	name := labels[last]
	for n := 2; ; n++ {
		key := kind + "\x00" + strings.Join(labels, "\x00")
		if !c.taken[key] {
			c.taken[key] = true
			return labels, true
		}
		labels[last] = numbered(name, n)
	}
}

// maxLabel limits the length of a label value in bytes.
const maxLabel = 256

// labelValue converts a text to a valid label value, as the registry requires, and shortens a long
// text.
func labelValue(text string) string {
	if len(text) > maxLabel {
		text = text[:maxLabel]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

func boolValue(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// since(t) returns how many seconds ago t was, or 0 if t is in the future.
func since(t time.Time) float64 { return max(time.Since(t), 0).Seconds() }
