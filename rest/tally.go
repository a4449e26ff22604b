package rest

import (
	"errors"
	"time"

	"github.com/kinform/kinform/listwatch"
)

// tally counts the results of one stream. Only the goroutine that calls Next uses it.
type tally struct {
	exchange *exchange
	start    time.Time
	ended    Ended
	over     bool
}

func startTally(x *exchange) *tally {
	x.reading.counters.streams.Add(1)
	return &tally{exchange: x, start: time.Now(), ended: Ended{About: x.about, URL: x.url()}}
}

// add counts a result of Next. A bookmark counts as an event, and not as an object.
func (t *tally) add(bookmark, unchanged bool, err error) {
	counters := &t.exchange.reading.counters
	_, skipped := errors.AsType[*listwatch.ObjectError](err)
	switch {
	case skipped:
		t.ended.ObjectErrors++
		counters.objectErrors.Add(1)
	case err != nil:
		t.ended.Err = err
	case bookmark:
		t.ended.Objects++
	case unchanged:
		t.ended.Objects++
		t.ended.Unchanged++
		counters.unchanged.Add(1)
	default:
		t.ended.Objects++
		counters.decoded.Add(1)
	}
}

// end reports the end of the stream. A second call does nothing.
func (t *tally) end() {
	if t.over {
		return
	}
	t.over = true
	reading := t.exchange.reading
	reading.counters.streams.Add(-1)
	if reading.observer != nil && reading.observer.OnEnded != nil {
		t.ended.Duration = time.Since(t.start)
		reading.observer.OnEnded(t.ended)
	}
}
