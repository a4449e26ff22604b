package rest

import (
	"errors"
	"time"

	"github.com/kinform/kinform/listwatch"
)

// streamStats counts the results of one stream. Only the goroutine that calls Next uses it.
type streamStats struct {
	exchange *exchange
	start    time.Time
	info     StreamInfo
	closed   bool
}

func newStreamStats(x *exchange) *streamStats {
	x.config.counters.streams.Add(1)
	return &streamStats{exchange: x, start: time.Now(), info: StreamInfo{RequestInfo: x.info, URL: x.url()}}
}

// add counts a result of Next. A bookmark counts as an event, and not as an object.
func (t *streamStats) add(bookmark, unchanged bool, err error) {
	counters := &t.exchange.config.counters
	_, skipped := errors.AsType[*listwatch.ObjectError](err)
	switch {
	case skipped:
		t.info.ObjectErrors++
		counters.objectErrors.Add(1)
	case err != nil:
		t.info.Err = err
	case bookmark:
		t.info.Objects++
	case unchanged:
		t.info.Objects++
		t.info.Unchanged++
		counters.unchanged.Add(1)
	default:
		t.info.Objects++
		counters.decoded.Add(1)
	}
}

// end reports the end of the stream. A second call does nothing.
func (t *streamStats) end() {
	if t.closed {
		return
	}
	t.closed = true
	config := t.exchange.config
	config.counters.streams.Add(-1)
	if config.observer != nil && config.observer.OnStreamEnd != nil {
		t.info.Duration = time.Since(t.start)
		config.observer.OnStreamEnd(t.info)
	}
}
