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
	again := r.state != notStarted
	if !again {
		r.state = running
	}
	r.mu.Unlock()
	if again {
		return errors.New("events: Run is called a second time: make another Recorder")
	}
	sendCtx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // the context of requests
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
			case <-sendCtx.Done():
			}
		case <-sendCtx.Done():
		}
	}()
	defer func() {
		cancel()
		<-watched
		r.dropAll()
	}()
	r.loop(ctx, sendCtx)
	return nil
}

// loop sends events until sendCtx ends, or until the context stop has ended and no event waits.
func (r *Recorder) loop(stop, sendCtx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for sendCtx.Err() == nil {
		if stop.Err() != nil {
			r.flush()
		}
		m, wait, empty := r.next()
		r.reportDrops()
		if m != nil {
			r.send(sendCtx, m)
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
		case <-sendCtx.Done():
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
	for _, s := range r.unsent {
		s.dueAt = now
	}
	heap.Init(&r.unsent)
	r.pausedUntil, r.failureStreak = time.Time{}, 0
}

// dropAll drops the waiting events.
func (r *Recorder) dropAll() {
	r.mu.Lock()
	r.state = ended
	for len(r.unsent) > 0 {
		r.dropSeriesLocked(r.unsent[0], Ended)
	}
	r.known, r.count, r.unsent, r.idle, r.groups, r.buckets = nil, 0, nil, nil, nil, nil
	r.mu.Unlock()
	r.reportDrops()
}

// next returns a request for the series that is due, and removes the series from its heap. If no
// series is due, next returns how long to wait. The result empty says that no series is waiting.
func (r *Recorder) next() (m *eventRequest, wait time.Duration, empty bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for len(r.idle) > 0 && !now.Before(r.idle[0].dueAt) {
		r.forgetLocked(r.idle[0])
	}
	wait = time.Hour
	if len(r.idle) > 0 {
		wait = r.idle[0].dueAt.Sub(now)
	}
	if len(r.unsent) == 0 {
		return nil, wait, true
	}
	s := r.unsent[0]
	at := s.dueAt
	if r.pausedUntil.After(at) {
		at = r.pausedUntil
	}
	if at.After(now) {
		return nil, min(wait, at.Sub(now)), false
	}
	s.remove()
	m = &eventRequest{series: *s, original: s, count: s.total}
	if !s.created {
		s.tried = true
	}
	return m, 0, false
}

// send sends a series. applyResult then puts the series into the heap that the response requires.
func (r *Recorder) send(sendCtx context.Context, m *eventRequest) {
	ctx, cancel := context.WithTimeout(sendCtx, r.opts.RequestTimeout)
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
	reason, next := classify(err, m)
	r.applyResult(m, version, err, reason, next, now)
	switch {
	case next == stepDone || next == stepUpdateAgain || next == stepCreateNew:
		r.failureLog.Recovered()
	case next == stepDrop:
		r.lastRefusal = err
	case sendCtx.Err() != nil:
	default:
		if suppressed, due := r.failureLog.Due(len(apierrors.ReasonForError(err)), now); due {
			r.opts.Logger.LogAttrs(context.Background(), slog.LevelWarn, "events could not be sent and will be retried",
				slog.String("controller", r.controller), slog.Any("err", err), slog.Uint64("unlogged", suppressed))
		}
	}
	r.opts.Observer.request(m.key(), !m.created, now.Sub(begun), err)
}

// applyResult applies a response to the series of the request. Events may have been recorded since
// the request was made.
func (r *Recorder) applyResult(m *eventRequest, version string, err error, reason DropReason, next nextStep, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := m.original
	s.lastResponseAt = now
	r.stats.Failing = nil
	if err != nil {
		r.stats.Failures++
	}
	if next != stepPause {
		r.failureStreak, r.pausedUntil = 0, time.Time{}
	}
	switch next {
	case stepDone:
		if m.created {
			r.stats.Updated++
			s.updateInterval = min(2*s.updateInterval, maxUpdateInterval)
		} else {
			r.stats.Created++
			s.created, s.updateInterval = true, minUpdateInterval
		}
		acknowledged := m.count
		if err != nil { // The Event existed already, with an unknown count of at least one.
			acknowledged = min(acknowledged, s.sent+1)
		}
		r.stats.Sent += acknowledged - s.sent
		r.stats.Waiting -= acknowledged - s.sent
		s.sent, s.failures, s.stored = acknowledged, 0, version
		if s.sent < s.total {
			s.since = m.last // The exact time is unknown, but only a little later.
			r.unsent.add(s, r.dueLocked(s, now))
		} else {
			r.idle.add(s, s.last.Add(seriesTimeout))
		}
	case stepUpdateAgain:
		s.stored = ""
		r.unsent.add(s, now)
	case stepCreateNew:
		s.total, s.sent, s.first = s.total-s.sent, 0, s.since
		s.failures, s.updateInterval = 0, 0
		r.nameLocked(s, now)
		r.unsent.add(s, now)
	case stepDrop:
		r.dropSeriesLocked(s, reason)
	case stepRename, stepRetry, stepPause:
		if next == stepRename {
			r.nameLocked(s, now)
		}
		r.stats.Failing = err
		if now.Sub(s.since) >= maxUnsentAge {
			r.dropSeriesLocked(s, Expired)
			return
		}
		s.failures++
		wait := backoff(s.failures)
		if next == stepPause {
			r.failureStreak++
			wait = backoff(r.failureStreak)
			if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
				wait = max(wait, time.Duration(seconds)*time.Second)
			}
		}
		if r.state == flushing {
			wait = min(wait, 250*time.Millisecond)
		}
		if next == stepPause {
			r.pausedUntil = now.Add(wait)
			s.failures = 0
			r.unsent.add(s, now)
		} else {
			r.unsent.add(s, now.Add(wait))
		}
	}
}

// backoff returns the wait after consecutive failures: a second, doubled each time up to a minute,
// plus up to a fifth at random.
func backoff(failures int) time.Duration {
	wait := min(time.Second<<min(failures-1, 6), time.Minute)
	return wait + rand.N(wait/5+1)
}

// nextStep is the meaning of the response to a request.
type nextStep uint8

const (
	stepDone nextStep = iota // The server has the Event.
	// The Event has changed since the last known response, through a request whose response was
	// lost. Update the current Event.
	stepUpdateAgain
	stepRename    // The name is taken: create the Event under another name, after a wait.
	stepCreateNew // The Event has expired on the server: create another.
	stepDrop      // Drop the events.
	stepRetry     // Retry; other events may be sent meanwhile.
	stepPause     // The server can't be reached, or is busy.
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

// classify returns the meaning of the response to a request. If events are dropped, reason says
// why.
func classify(err error, m *eventRequest) (reason DropReason, next nextStep) {
	if err == nil {
		return 0, stepDone
	}
	failed, ok := errors.AsType[*rest.Error](err)
	if !ok {
		return 0, stepPause
	}
	switch code := failed.StatusCode; {
	case apierrors.IsAlreadyExists(err) && !m.created:
		if m.tried || failed.Attempts > 1 { // Perhaps created, but the response was lost.
			return 0, stepDone
		}
		return 0, stepRename
	case code == notFound && m.created:
		return 0, stepCreateNew
	case code == conflict && m.stored != "":
		return 0, stepUpdateAgain
	case code == notFound:
		return NoNamespace, stepDrop
	case code == forbidden:
		return Forbidden, stepDrop
	case code == 0, code == unauthorized, code == requestTimeout, code == tooManyRequests,
		code == unavailable, code == gatewayTimeout:
		return 0, stepPause
	case code == conflict, code >= 500, code < 400:
		return 0, stepRetry
	}
	return Rejected, stepDrop
}

// reportDrops logs the dropped events, and calls the Observer.
func (r *Recorder) reportDrops() {
	r.mu.Lock()
	dropped := r.stats.Dropped
	r.mu.Unlock()
	now := time.Now()
	for i := range DropReason(numDropReasons) {
		n := dropped[i] - r.reported[i]
		if n == 0 {
			continue
		}
		r.reported[i] = dropped[i]
		if _, due := r.dropLogs[i].Due(0, now); due {
			attrs := []slog.Attr{slog.String("controller", r.controller), slog.String("reason", i.String()), slog.Uint64("dropped", dropped[i])}
			if (i == Forbidden || i == NoNamespace || i == Rejected) && r.lastRefusal != nil {
				attrs = append(attrs, slog.Any("err", r.lastRefusal))
			}
			r.opts.Logger.LogAttrs(context.Background(), slog.LevelWarn, "events are dropped", attrs...)
		}
		r.opts.Observer.drop(i, n)
	}
}
