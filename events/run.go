package events

import (
	"container/heap"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/rest"
)

// Run sends events until ctx ends, including events that were recorded before. Then Run sends the
// waiting events, for at most Options.FlushTimeout. It counts the remaining and later events as
// dropped. Run returns nil, or an error if it is called a second time.
//
// Let ctx end after the code that records has ended: otherwise the last events are dropped.
func (r *Recorder) Run(ctx context.Context) error {
	if r == nil || r.sink != nil {
		<-ctx.Done()
		return nil
	}
	r.mu.Lock()
	again := r.state != fresh
	if !again {
		r.state = running
	}
	r.mu.Unlock()
	if again {
		return errors.New("events: Run is called a second time: make another Recorder")
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx)) // the context of requests
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-ctx.Done():
			timer := time.NewTimer(r.opts.FlushTimeout)
			defer timer.Stop()
			select {
			case <-timer.C:
				cancel()
			case <-life.Done():
			}
		case <-life.Done():
		}
	}()
	defer func() {
		cancel()
		<-watched
		r.end()
	}()
	r.loop(ctx, life)
	return nil
}

// loop sends until the context life ends, or until the context stop has ended and no event waits.
func (r *Recorder) loop(stop, life context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for life.Err() == nil {
		if stop.Err() != nil {
			r.flush()
		}
		m, wait, empty := r.next()
		r.tell()
		if m != nil {
			r.send(life, m)
			continue
		}
		stopped := stop.Done()
		if stop.Err() != nil {
			if empty {
				return
			}
			stopped = nil
		}
		timer.Reset(wait)
		select {
		case <-stopped:
		case <-life.Done():
		case <-r.wake:
		case <-timer.C:
		}
	}
}

// flush makes all waiting series due.
func (r *Recorder) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == flushing {
		return
	}
	r.state = flushing
	now := time.Now()
	for _, s := range r.waiting {
		s.at = now
	}
	heap.Init(&r.waiting)
	r.pause, r.streak = time.Time{}, 0
}

// end drops the waiting events.
func (r *Recorder) end() {
	r.mu.Lock()
	r.state = ended
	for len(r.waiting) > 0 {
		r.abandonLocked(r.waiting[0], Ended)
	}
	r.known, r.count, r.waiting, r.idle, r.groups, r.buckets = nil, 0, nil, nil, nil, nil
	r.mu.Unlock()
	r.tell()
}

// next takes the series that is due. If no series is due, next returns how long to wait. empty says
// that no series is waiting.
func (r *Recorder) next() (m *message, wait time.Duration, empty bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for len(r.idle) > 0 && !now.Before(r.idle[0].at) {
		r.forgetLocked(r.idle[0])
	}
	wait = time.Hour
	if len(r.idle) > 0 {
		wait = r.idle[0].at.Sub(now)
	}
	if len(r.waiting) == 0 {
		return nil, wait, true
	}
	s := r.waiting[0]
	at := s.at
	if r.pause.After(at) {
		at = r.pause
	}
	if at.After(now) {
		return nil, min(wait, at.Sub(now)), false
	}
	s.remove()
	m = &message{series: *s, of: s, count: s.total}
	if !s.created {
		s.tried = true
	}
	return m, 0, false
}

// send sends a series, and then puts it into the pile that the response requires.
func (r *Recorder) send(life context.Context, m *message) {
	ctx, cancel := context.WithTimeout(life, r.opts.RequestTimeout)
	begun := time.Now()
	var version string
	var err error
	if m.created {
		version, err = r.server.update(ctx, m)
	} else {
		version, err = r.server.create(ctx, m)
	}
	cancel()
	now := time.Now()
	why, next := judge(err, m)
	r.settle(m, version, err, why, next, now)
	switch {
	case next == done || next == changed || next == anew:
		r.trouble.Over()
	case next == refused:
		r.last = err
	case life.Err() != nil:
	default:
		if unsaid, due := r.trouble.Due(len(apierrors.ReasonForError(err)), now); due {
			r.opts.Logger.LogAttrs(context.Background(), slog.LevelWarn, "events could not be sent and will be retried",
				slog.String("controller", r.controller), slog.Any("err", err), slog.Uint64("unlogged", unsaid))
		}
	}
	r.opts.Observer.request(m.key(), !m.created, now.Sub(begun), err)
}

// settle applies a response to its series. Events may have been recorded meanwhile.
func (r *Recorder) settle(m *message, version string, err error, why Drop, next outcome, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := m.of
	s.asked = now
	r.stats.Failing = nil
	if err != nil {
		r.stats.Failures++
	}
	if next != pause {
		r.streak, r.pause = 0, time.Time{}
	}
	switch next {
	case done:
		if m.created {
			r.stats.Updated++
			s.gap = min(2*s.gap, lastGap)
		} else {
			r.stats.Created++
			s.created, s.gap = true, firstGap
		}
		counted := m.count
		if err != nil { // The Event existed already, with an unknown count of at least one.
			counted = min(counted, s.sent+1)
		}
		r.stats.Sent += counted - s.sent
		r.stats.Waiting -= counted - s.sent
		s.sent, s.failures, s.stored = counted, 0, version
		if s.sent < s.total {
			s.since = m.last // The exact time is unknown, but only a little later.
			r.waiting.add(s, r.dueLocked(s, now))
		} else {
			r.idle.add(s, s.last.Add(finished))
		}
	case changed:
		s.stored = ""
		r.waiting.add(s, now)
	case anew:
		s.total, s.sent, s.first = s.total-s.sent, 0, s.since
		s.failures, s.gap = 0, 0
		r.nameLocked(s, now)
		r.waiting.add(s, now)
	case refused:
		r.abandonLocked(s, why)
	case again, later, pause:
		if next == again {
			r.nameLocked(s, now)
		}
		r.stats.Failing = err
		if now.Sub(s.since) >= stale {
			r.abandonLocked(s, Expired)
			return
		}
		s.failures++
		wait := backoff(s.failures)
		if next == pause {
			r.streak++
			wait = backoff(r.streak)
			if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
				wait = max(wait, time.Duration(seconds)*time.Second)
			}
		}
		if r.state == flushing {
			wait = min(wait, 250*time.Millisecond)
		}
		if next == pause {
			r.pause = now.Add(wait)
			s.failures = 0
			r.waiting.add(s, now)
		} else {
			r.waiting.add(s, now.Add(wait))
		}
	}
}

// backoff returns the wait after consecutive failures: a second, doubled each time up to a minute,
// plus up to a fifth at random.
func backoff(failures int) time.Duration {
	wait := min(time.Second<<min(failures-1, 6), time.Minute)
	return wait + rand.N(wait/5+1)
}

// outcome is the meaning of the response to a request.
type outcome uint8

const (
	done outcome = iota // The server has the Event.
	// A request without a response has changed the Event. Update its current state.
	changed
	again   // The name is taken: create the Event under another name, after a wait.
	anew    // The Event has expired on the server: create another.
	refused // Drop the events.
	later   // Retry; other events may be sent meanwhile.
	pause   // The server can't be reached, or is busy.
)

// HTTP status codes of responses.
const (
	unauthorized    = 401
	forbidden       = 403
	notFound        = 404
	requestTimeout  = 408
	conflict        = 409
	tooManyRequests = 429
	unavailable     = 503
	gatewayTimeout  = 504
)

// judge returns the meaning of the response to a request.
func judge(err error, m *message) (why Drop, next outcome) {
	if err == nil {
		return 0, done
	}
	failed, ok := errors.AsType[*rest.Error](err)
	if !ok {
		return 0, pause
	}
	switch code := failed.StatusCode; {
	case apierrors.IsAlreadyExists(err) && !m.created:
		if m.tried || failed.Attempts > 1 { // Perhaps created, but the response was lost.
			return 0, done
		}
		return 0, again
	case code == notFound && m.created:
		return 0, anew
	case code == conflict && m.stored != "":
		return 0, changed
	case code == notFound:
		return NoNamespace, refused
	case code == forbidden:
		return Forbidden, refused
	case code == 0, code == unauthorized, code == requestTimeout, code == tooManyRequests,
		code == unavailable, code == gatewayTimeout:
		return 0, pause
	case code == conflict, code >= 500, code < 400:
		return 0, later
	}
	return Rejected, refused
}

// tell logs the dropped events, and calls the Observer.
func (r *Recorder) tell() {
	r.mu.Lock()
	dropped := r.stats.Dropped
	r.mu.Unlock()
	now := time.Now()
	for i := range Drop(drops) {
		n := dropped[i] - r.told[i]
		if n == 0 {
			continue
		}
		r.told[i] = dropped[i]
		if _, due := r.drops[i].Due(0, now); due {
			attrs := []slog.Attr{slog.String("controller", r.controller), slog.String("reason", i.String()), slog.Uint64("dropped", dropped[i])}
			if (i == Forbidden || i == NoNamespace || i == Rejected) && r.last != nil {
				attrs = append(attrs, slog.Any("err", r.last))
			}
			r.opts.Logger.LogAttrs(context.Background(), slog.LevelWarn, "events are dropped", attrs...)
		}
		r.opts.Observer.drop(i, n)
	}
}
