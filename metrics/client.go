package metrics

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/internal/hooks"
	"github.com/kinform/kinform/rest"
)

var clientMetrics = func() snapshotMetrics[rest.Stats] {
	r := snapshotMetrics[rest.Stats]{part: []string{"client"}}
	r.counter("kinform_client_requests_total", "Requests that were sent, retries included.", func(s rest.Stats) uint64 { return s.Requests })
	r.counter("kinform_client_failures_total", "Requests without a response.", func(s rest.Stats) uint64 { return s.Failures })
	r.counter("kinform_client_retries_total", "Requests that were retries.", func(s rest.Stats) uint64 { return s.Retries })
	r.gauge("kinform_client_connections", "Connections that are open.", func(s rest.Stats) float64 { return float64(s.Connections) })
	r.gauge("kinform_client_streams", "Lists and watches that are open.", func(s rest.Stats) float64 { return float64(s.Streams) })
	r.counter("kinform_client_received_bytes_total", "Bytes received on connections, with headers and encryption.", func(s rest.Stats) uint64 { return s.BytesReceived })
	r.counter("kinform_client_sent_bytes_total", "Bytes sent on connections, with headers and encryption.", func(s rest.Stats) uint64 { return s.BytesSent })
	r.counters("kinform_client_objects_total", "Objects on lists and watches: decoded, unchanged and so not decoded, and undecodable.",
		func(s rest.Stats, set func(float64, ...string)) {
			set(float64(s.Decoded), "decoded")
			set(float64(s.Unchanged), "unchanged")
			set(float64(s.ObjectErrors), "undecodable")
		}, "result")
	return r
}()

// Client adds a client, such as a *rest.Client. The value of the label "client" is the argument
// name.
//
// Codes and durations also need an observer: see [Metrics.ClientObserver].
func (m *Metrics) Client(name string, c interface{ Stats() rest.Stats }) (remove func()) {
	return m.add(func(all *scrapeState) { collectClient(all, name, c.Stats()) })
}

func collectClient(c *scrapeState, name string, s rest.Stats) {
	if labels, ok := c.part("client", name); ok {
		clientMetrics.emit(c, s, labels)
	}
}

// requestLabels has the properties of a request that become labels.
type requestLabels struct {
	verb        string
	resource    schema.GroupVersionResource
	subresource string
}

func requestLabelsOf(a rest.RequestInfo) requestLabels {
	return requestLabels{a.Verb, a.Resource, a.Subresource}
}

// responseLabels has the labels of a request, and the status code of its response, or 0 without a
// response.
type responseLabels struct {
	requestLabels
	code int
}

// overflowRequest has the labels of all requests beyond the limit.
var overflowRequest = requestLabels{verb: other, resource: schema.GroupVersionResource{Resource: other}}

const overflowCode = -1

// text returns the resource as a label, such as "deployments.apps/status". The label has no
// version, so that it stays the same if a client changes the version.
func (a requestLabels) text() string {
	text := a.resource.GroupResource().String()
	if a.subresource != "" {
		text += "/" + a.subresource
	}
	return labelValue(text)
}

// ClientObserver returns an observer for the responses that a client gets: codes, durations,
// warnings. It also calls the observer next. The value of the label "client" is the argument name.
// The labels contain the verb and the resource of a request, but no paths and no names of objects.
func (m *Metrics) ClientObserver(name string, next *rest.Observer) *rest.Observer {
	v := &m.observers
	name = v.named("client", name)
	responses := newCappedMap(m.opts.MaxParts, responseLabels{overflowRequest, overflowCode}, func(a responseLabels) prometheus.Counter {
		return v.responses.WithLabelValues(name, labelValue(a.verb), a.text(), codeOf(a.code, "error"))
	})
	times := newCappedMap(m.opts.MaxParts, overflowRequest, func(a requestLabels) prometheus.Observer {
		return v.responseSeconds.WithLabelValues(name, labelValue(a.verb), a.text())
	})
	streams := newCappedMap(m.opts.MaxParts, overflowRequest, func(a requestLabels) prometheus.Observer {
		return v.streamSeconds.WithLabelValues(name, labelValue(a.verb), a.text())
	})
	warnings := v.warnings.WithLabelValues(name)
	v.limits.add(responses)
	v.limits.add(times)
	v.limits.add(streams)

	clientGo := v.clientGo.client(m.opts, v.limits)
	o := hooks.CopyOf(next)
	o.OnResponse = hooks.Chain(func(a rest.ResponseInfo) {
		responses.get(responseLabels{requestLabelsOf(a.RequestInfo), a.StatusCode}).Inc()
		times.get(requestLabelsOf(a.RequestInfo)).Observe(a.Latency.Seconds())
		clientGo.responded(a)
	}, o.OnResponse)
	o.OnRetry = hooks.Chain(clientGo.retried, o.OnRetry)
	o.OnStreamEnd = hooks.Chain(func(e rest.StreamInfo) { streams.get(requestLabelsOf(e.RequestInfo)).Observe(e.Duration.Seconds()) }, o.OnStreamEnd)
	o.OnWarning = hooks.Chain(func(string) { warnings.Inc() }, o.OnWarning)
	return o
}

// Limit wraps a function for rest.Options.Limit. It adds a histogram of the time that requests wait
// in this function.
func (m *Metrics) Limit(name string, limit func(context.Context) error) func(context.Context) error {
	waited := m.observers.limitWait.WithLabelValues(m.observers.named("client", name))
	return func(ctx context.Context) error {
		begun := time.Now()
		err := limit(ctx)
		waited.Observe(time.Since(begun).Seconds())
		return err
	}
}

// codeOf converts a status code to a label. The argument none is the label of a request without a
// response.
func codeOf(code int, none string) string {
	switch code {
	case 0:
		return none
	case overflowCode:
		return other
	}
	return strconv.Itoa(code)
}

// hostOf returns the host of a URL.
func hostOf(url string) string {
	_, host, found := strings.Cut(url, "://")
	if !found {
		host = url
	}
	if end := strings.IndexAny(host, "/?#"); end >= 0 {
		host = host[:end]
	}
	return host
}
