package metrics

import (
	"context"
	"sort"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// history has the scraped samples. It is a storage for Prometheus' engine.
type history struct {
	series     map[string]*entry
	start, end time.Time
}

type entry struct {
	labels  labels.Labels
	samples []chunks.Sample
}

// add adds a sample to the series with these labels and the pairs in more.
func (h *history) add(at int64, instance, name string, own []*dto.LabelPair, value float64, more ...string) {
	b := labels.NewBuilder(labels.EmptyLabels())
	b.Set("__name__", name).Set("job", "shop").Set("instance", instance)
	for _, l := range own {
		b.Set(l.GetName(), l.GetValue())
	}
	for i := 0; i < len(more); i += 2 {
		b.Set(more[i], more[i+1])
	}
	all := b.Labels()
	e := h.series[all.String()]
	if e == nil {
		e = &entry{labels: all}
		h.series[all.String()] = e
	}
	e.samples = append(e.samples, sample{at, value})
}

// sample is one number.
type sample struct {
	at    int64
	value float64
}

func (s sample) T() int64                                      { return s.at }
func (s sample) ST() int64                                     { return 0 }
func (s sample) F() float64                                    { return s.value }
func (s sample) H() *histogram.Histogram                       { return nil }
func (s sample) FH() *histogram.FloatHistogram                 { return nil }
func (s sample) Type() chunkenc.ValueType                      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample                           { return s }
func (h *history) Querier(_, _ int64) (storage.Querier, error) { return querier{h}, nil }

type querier struct{ *history }

func (q querier) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	set := &found{at: -1}
next:
	for _, e := range q.series {
		for _, m := range matchers {
			if !m.Matches(e.labels.Get(m.Name)) {
				continue next
			}
		}
		set.all = append(set.all, e)
	}
	sort.Slice(set.all, func(i, j int) bool { return labels.Compare(set.all[i].labels, set.all[j].labels) < 0 })
	return set
}

func (querier) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (querier) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (querier) Close() error { return nil }

// found is the set of series that a query selects.
type found struct {
	all []*entry
	at  int
}

func (f *found) Next() bool { f.at++; return f.at < len(f.all) }
func (f *found) At() storage.Series {
	return storage.NewListSeries(f.all[f.at].labels, f.all[f.at].samples)
}
func (*found) Err() error                        { return nil }
func (*found) Warnings() annotations.Annotations { return nil }
