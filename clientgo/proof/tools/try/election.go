//lint:file-ignore SA1019 what is deprecated is compared as well

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	rl "k8s.io/client-go/tools/leaderelection/resourcelock"
)

// eventRecorder is an event recorder for locks. It records the events in the outcome.
type eventRecorder struct{ o *outcome }

func (t eventRecorder) Eventf(obj runtime.Object, kind, reason, message string, args ...any) {
	t.o.line("event", resource.ReplaceAllString(normalize(text(obj)), "VERSION"), kind, reason, fmt.Sprintf(message, args...))
}

// memoryLock is a lock in memory, with the results that a case defines.
type memoryLock struct {
	o        *outcome
	identity string

	mu     sync.Mutex // guards following
	record *rl.LeaderElectionRecord
	raw    []byte
	errs   map[string]error
}

func (m *memoryLock) recordCall(verb string, r *rl.LeaderElectionRecord) error {
	err := m.errs[verb]
	m.o.recordOnce(verb, normalize(text(r)), kindOf(err))
	if err != nil {
		time.Sleep(time.Millisecond) // a release retries conflicts at once
	}
	return err
}

func (m *memoryLock) Get(ctx context.Context) (*rl.LeaderElectionRecord, []byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err := m.recordCall("get", m.record); err != nil {
		return nil, nil, err
	}
	if m.record == nil {
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{}, "x")
	}
	record := *m.record
	return &record, m.raw, nil
}

func (m *memoryLock) Create(ctx context.Context, r rl.LeaderElectionRecord) error {
	return m.write(ctx, "create", r)
}
func (m *memoryLock) Update(ctx context.Context, r rl.LeaderElectionRecord) error {
	return m.write(ctx, "update", r)
}

func (m *memoryLock) write(ctx context.Context, verb string, r rl.LeaderElectionRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := m.recordCall(verb, &r); err != nil {
		return err
	}
	m.record, m.raw = &r, []byte(text(r))
	return nil
}

func (m *memoryLock) set(record *rl.LeaderElectionRecord) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.record, m.raw = record, []byte(text(record))
}

func (m *memoryLock) fail(errs map[string]error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.errs = errs
}

func (m *memoryLock) RecordEvent(s string) { m.o.line("event", s) }
func (m *memoryLock) Identity() string     { return m.identity }
func (m *memoryLock) Describe() string     { return "memory" }

// election returns a configuration whose callbacks are recorded.
func election(o *outcome, lock rl.Interface) leaderelection.LeaderElectionConfig {
	return leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 70 * time.Millisecond, Name: "n",
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { o.recordAsync("started"); <-ctx.Done() },
			OnStoppedLeading: func() { o.line("stopped") },
			OnNewLeader:      func(identity string) { o.recordAsync("new leader", identity) },
		},
	}
}

// runningElection is a running election.
type runningElection struct {
	*leaderelection.LeaderElector
	cancel context.CancelFunc
	done   chan struct{}
}

func run(o *outcome, config leaderelection.LeaderElectionConfig) *runningElection {
	le, err := leaderelection.NewLeaderElector(config)
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &runningElection{le, cancel, make(chan struct{})}
	go func() {
		defer close(r.done)
		le.Run(ctx)
	}()
	return r
}

func (r *runningElection) leads() bool { return within(15*time.Second, r.IsLeader) }

// end waits at most for the given duration, and records whether the election has ended by itself.
// Then it ends the election.
func (r *runningElection) end(o *outcome, by time.Duration) {
	o.phase("ended by itself", within(by, func() bool {
		select {
		case <-r.done:
			return true
		default:
			return false
		}
	}))
	r.cancel()
	o.line("ended", ends(r.done))
	o.phase(r.IsLeader(), r.GetLeader())
}

func tryElections() {
	try("election: what is wrong with a config", func(o *outcome) {
		good := election(o, &memoryLock{o: o, identity: "i"})
		for i, change := range []func(*leaderelection.LeaderElectionConfig){
			func(*leaderelection.LeaderElectionConfig) {},
			func(c *leaderelection.LeaderElectionConfig) { c.LeaseDuration = c.RenewDeadline },
			func(c *leaderelection.LeaderElectionConfig) { c.LeaseDuration = 0 },
			func(c *leaderelection.LeaderElectionConfig) {
				c.LeaseDuration, c.RenewDeadline, c.RetryPeriod = 0, -1, -2
			},
			func(c *leaderelection.LeaderElectionConfig) { c.RenewDeadline = c.RetryPeriod },
			func(c *leaderelection.LeaderElectionConfig) { c.RenewDeadline = 84 * time.Millisecond },
			func(c *leaderelection.LeaderElectionConfig) { c.RenewDeadline = 84*time.Millisecond + 1 },
			func(c *leaderelection.LeaderElectionConfig) { c.RenewDeadline, c.RetryPeriod = 0, -1 },
			func(c *leaderelection.LeaderElectionConfig) { c.RetryPeriod = 0 },
			func(c *leaderelection.LeaderElectionConfig) { c.RetryPeriod = -5 },
			func(c *leaderelection.LeaderElectionConfig) { c.Callbacks.OnStartedLeading = nil },
			func(c *leaderelection.LeaderElectionConfig) { c.Callbacks.OnStoppedLeading = nil },
			func(c *leaderelection.LeaderElectionConfig) { c.Callbacks.OnNewLeader = nil },
			func(c *leaderelection.LeaderElectionConfig) { c.Callbacks = leaderelection.LeaderCallbacks{} },
			func(c *leaderelection.LeaderElectionConfig) { c.Lock = nil },
			func(c *leaderelection.LeaderElectionConfig) { c.Lock = &memoryLock{o: o} },
			func(c *leaderelection.LeaderElectionConfig) { c.Name = "" },
			func(c *leaderelection.LeaderElectionConfig) { *c = leaderelection.LeaderElectionConfig{} },
		} {
			c := good
			change(&c)
			le, err := leaderelection.NewLeaderElector(c)
			o.line(i, le == nil, kindOf(err))
			if err != nil {
				o.panics(fmt.Sprint(i, " run or die"), func() { leaderelection.RunOrDie(context.Background(), c) })
				continue
			}
			o.line(le.IsLeader(), le.GetLeader(), kindOf(le.Check(0)))
		}
	})
	errs := map[string]error{
		"500": errorOfStatus(500, metav1.StatusReasonInternalError), "404": errorOfStatus(404, metav1.StatusReasonNotFound), "409": errorOfStatus(409, metav1.StatusReasonConflict), "exists": errorOfStatus(409, metav1.StatusReasonAlreadyExists),
		"plain": errors.New("x"), "wrapped 404": fmt.Errorf("w: %w", errorOfStatus(404, metav1.StatusReasonNotFound)), "canceled": context.Canceled,
	}
	for name, err := range errs {
		for _, verb := range []string{"get", "create", "update", "get update"} {
			for _, release := range []bool{false, true} {
				try(fmt.Sprintf("election: %s fails with %s while it leads, release %t", verb, name, release), func(o *outcome) {
					m := &memoryLock{o: o, identity: "me"}
					c := election(o, m)
					c.ReleaseOnCancel = release
					c.LeaseDuration, c.RenewDeadline = 1200*time.Millisecond, time.Second
					r := run(o, c)
					o.phase(r.leads())
					failing := map[string]error{}
					for one := range strings.FieldsSeq(verb) {
						failing[one] = err
					}
					m.fail(failing)
					time.Sleep(100 * time.Millisecond)
					by := 8 * time.Second
					if failing["get"] != nil && failing["update"] != nil && strings.Contains(name, "404") {
						// the candidate creates the lock again each time, and remains the leader
						by = 2 * time.Second
					}
					r.end(o, map[bool]time.Duration{true: by}[strings.Contains(verb, "update")])
				})
			}
		}
		try("election: "+name+" before it leads", func(o *outcome) {
			for _, verb := range []string{"get", "create", "update"} {
				m := &memoryLock{o: o, identity: "me", errs: map[string]error{verb: err}}
				r := run(o, election(o, m))
				o.phase(verb, r.IsLeader(), r.GetLeader())
				m.fail(nil)
				o.phase(r.leads())
				r.end(o, 0)
			}
		})
	}
	tryHolders()
	tryTwoCandidates()
	tryHealth()
	tryElectionOnTheWire()
	tryCoordinated()
}

func tryHolders() {
	at := metav1.NewTime(time.Unix(1000, 0).UTC())
	for name, record := range map[string]*rl.LeaderElectionRecord{
		"nobody": nil, "released": {AcquireTime: at, RenewTime: at, LeaseDurationSeconds: 1, LeaderTransitions: 3}, "another for a second": {HolderIdentity: "other", AcquireTime: at, RenewTime: at, LeaseDurationSeconds: 1, LeaderTransitions: 3},
		"another for no time": {HolderIdentity: "other", AcquireTime: at, RenewTime: at, LeaderTransitions: 3}, "myself": {HolderIdentity: "me", AcquireTime: at, RenewTime: at, LeaseDurationSeconds: 60, LeaderTransitions: 3},
		"another for long": {HolderIdentity: "other", LeaseDurationSeconds: 60}, "another for less than no time": {HolderIdentity: "other", LeaseDurationSeconds: -5}, "myself with a preferred holder": {HolderIdentity: "me", LeaseDurationSeconds: 60, PreferredHolder: "other", Strategy: "S"},
	} {
		for _, coordinated := range []bool{false, true} {
			try(fmt.Sprintf("election: the lock is held by %s, coordinated %t", name, coordinated), func(o *outcome) {
				m := &memoryLock{o: o, identity: "me"}
				if record != nil {
					m.set(record)
				}
				c := election(o, m)
				c.Coordinated = coordinated
				r := run(o, c)
				within(2*time.Second, r.IsLeader)
				o.phase(r.IsLeader(), r.GetLeader())
				r.end(o, 0)
			})
		}
	}
	try("election: another takes the lock", func(o *outcome) {
		m := &memoryLock{o: o, identity: "me"}
		r := run(o, election(o, m))
		o.phase(r.leads())
		m.fail(map[string]error{"update": errorOfStatus(409, metav1.StatusReasonConflict)})
		m.set(&rl.LeaderElectionRecord{HolderIdentity: "other", LeaseDurationSeconds: 60, RenewTime: metav1.Now()})
		r.end(o, 10*time.Second)
	})
	try("election: a context that has ended", func(o *outcome) {
		m := &memoryLock{o: o, identity: "me"}
		le, _ := leaderelection.NewLeaderElector(election(o, m))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		le.Run(ctx)
		o.line(le.IsLeader())
	})
	try("election: a callback that panics", func(o *outcome) {
		m := &memoryLock{o: o, identity: "me"}
		c := election(o, m)
		c.ReleaseOnCancel = true
		c.Callbacks.OnStoppedLeading = func() { o.line("stopped"); panic("x") }
		r := run(o, c)
		o.phase(r.leads())
		r.cancel()
		o.phase(ends(r.done))
	})
	try("election: what has begun ends with the lead", func(o *outcome) {
		m := &memoryLock{o: o, identity: "me"}
		c := election(o, m)
		c.ReleaseOnCancel = true
		ended := make(chan struct{})
		c.Callbacks.OnStartedLeading = func(ctx context.Context) { <-ctx.Done(); o.recordAsync("ended", ctx.Err()); close(ended) }
		c.Callbacks.OnStoppedLeading = func() { <-ended; o.line("stopped") }
		r := run(o, c)
		o.phase(r.leads())
		r.cancel()
		o.phase(ends(r.done))
	})
	try("election: run a second time", func(o *outcome) {
		m := &memoryLock{o: o, identity: "me"}
		c := election(o, m)
		c.ReleaseOnCancel = true
		r := run(o, c)
		o.phase(r.leads())
		r.cancel()
		o.phase(ends(r.done))
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); r.Run(ctx) }()
		o.phase(r.leads())
		cancel()
		o.phase(ends(done))
	})
}

func tryTwoCandidates() {
	for _, release := range []bool{true, false} {
		try(fmt.Sprint("election: two candidates, release ", release), func(o *outcome) {
			s := serve(o)
			defer s.Close()
			quiet := &outcome{}
			lock := func(identity string) rl.Interface {
				return &rl.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: "l", Namespace: "ns"}, Client: kubernetes.NewForConfigOrDie(s.config()).CoordinationV1(), LockConfig: rl.ResourceLockConfig{Identity: identity}}
			}
			config := func(identity string) leaderelection.LeaderElectionConfig {
				c := election(quiet, lock(identity))
				c.ReleaseOnCancel = release
				c.LeaseDuration, c.RenewDeadline = 2*time.Second, time.Second
				return c
			}
			first := run(quiet, config("a"))
			o.line(first.leads())
			second := run(o, config("b"))
			o.line(within(5*time.Second, func() bool { return second.GetLeader() == "a" }))
			o.phase()
			start := time.Now()
			first.cancel()
			o.line(ends(first.done))
			o.phase(second.leads(), time.Since(start) < time.Second)
			lease, err := kubernetes.NewForConfigOrDie(s.config()).CoordinationV1().Leases("ns").Get(context.Background(), "l", metav1.GetOptions{})
			o.line(*lease.Spec.LeaseTransitions, *lease.Spec.HolderIdentity, kindOf(err))
			second.cancel()
			o.phase(ends(second.done))
		})
	}
}

func tryHealth() {
	try("election: health", func(o *outcome) {
		w := leaderelection.NewLeaderHealthzAdaptor(0)
		o.line(w.Name(), kindOf(w.Check(nil)))
		m := &memoryLock{o: &outcome{}, identity: "me"}
		c := election(&outcome{}, m)
		c.LeaseDuration, c.RenewDeadline = 1100*time.Millisecond, time.Second
		le, _ := leaderelection.NewLeaderElector(c)
		w.SetLeaderElection(le)
		o.line(kindOf(w.Check(&http.Request{})))
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); le.Run(ctx) }()
		within(5*time.Second, le.IsLeader)
		o.line(kindOf(w.Check(nil)), kindOf(le.Check(time.Hour)))
		cancel()
		<-done
		time.Sleep(1500 * time.Millisecond)
		o.line(le.IsLeader())
		err := w.Check(nil)
		o.line(err != nil, err != nil && strings.HasPrefix(err.Error(), "failed election to renew leadership on lease n"))
		o.line(kindOf(le.Check(time.Hour)))
		w.SetLeaderElection(nil)
		o.line(kindOf(w.Check(nil)))
	})
	try("election: watch dog", func(o *outcome) {
		w := leaderelection.NewLeaderHealthzAdaptor(time.Hour)
		m := &memoryLock{o: o, identity: "me"}
		c := election(o, m)
		c.WatchDog = w
		ctx, cancel := context.WithCancel(context.Background())
		c.Callbacks.OnStartedLeading = func(context.Context) { o.recordAsync("started", kindOf(w.Check(nil))); cancel() }
		leaderelection.RunOrDie(ctx, c)
		o.phase()
	})
	tryAlone("election: metrics", func(o *outcome) {
		leaderelection.SetProvider(electionMetrics{o})
		leaderelection.SetProvider(electionMetrics{nil})
		m := &memoryLock{o: &outcome{}, identity: "me"}
		for _, coordinated := range []bool{false, true} {
			c := election(&outcome{}, m)
			c.Coordinated, c.ReleaseOnCancel = coordinated, true
			if coordinated {
				m.set(&rl.LeaderElectionRecord{HolderIdentity: "me", LeaseDurationSeconds: 60})
			}
			r := run(o, c)
			o.phase(r.leads())
			m.fail(map[string]error{"update": errorOfStatus(409, metav1.StatusReasonConflict)})
			time.Sleep(100 * time.Millisecond)
			m.fail(nil)
			o.phase()
			r.cancel()
			o.phase(ends(r.done))
		}
	})
}

type electionMetrics struct{ o *outcome }

func (m electionMetrics) NewLeaderMetric() leaderelection.LeaderMetric {
	m.o.line("new metric")
	return m
}
func (m electionMetrics) On(name string)                { m.o.line("on", name) }
func (m electionMetrics) Off(name string)               { m.o.line("off", name) }
func (m electionMetrics) SlowpathExercised(name string) { m.o.recordOnce("slow path", name) }

func tryElectionOnTheWire() {
	faults := map[string]*fault{
		"nothing": {}, "409": {method: "PUT", times: 1, handler: statusHandler(409, "Conflict", "no")}, "404 of PUT": {method: "PUT", times: 1, handler: statusHandler(404, "NotFound", "no")}, "500 of PUT": {method: "PUT", times: 1, handler: statusHandler(500, "InternalError", "no")},
		"cut PUT": {method: "PUT", times: 1, handler: closeConnection}, "403 for ever": {method: "PUT", times: -1, handler: statusHandler(403, "Forbidden", "no")}, "409 and 404": {times: 2, handler: statusHandler(404, "NotFound", "no")}, "500 of all": {times: -1, handler: statusHandler(500, "InternalError", "no")},
		"an empty answer": {method: "PUT", times: 1, handler: textHandler(200, "")}, "409 for ever": {method: "PUT", times: -1, handler: statusHandler(409, "Conflict", "no")}, "429 once": {method: "PUT", times: 1, handler: statusHandler(429, "TooManyRequests", "no", "Retry-After: 0")},
	}
	for name, f := range faults {
		for _, release := range []bool{false, true} {
			try(fmt.Sprintf("election on the wire: %s, release %t", name, release), func(o *outcome) {
				s := serve(o)
				defer s.Close()
				lock, err := rl.NewFromKubeconfig(rl.LeasesResourceLock, "ns", "l", rl.ResourceLockConfig{Identity: "me", EventRecorder: eventRecorder{o}}, s.config(), time.Second)
				o.line(kindOf(err))
				c := election(o, lock)
				c.LeaseDuration, c.RenewDeadline, c.ReleaseOnCancel = 2*time.Second, time.Second, release
				r := run(o, c)
				o.phase(r.leads())
				s.printFirst("asked")
				copied := *f
				s.fail(&copied)
				time.Sleep(250 * time.Millisecond)
				o.phase("answers")
				s.printFirst("asked")
				if f.times >= 0 {
					r.end(o, 0)
				} else {
					r.end(o, 4*time.Second)
				}
				s.printFirst("asked")
			})
		}
	}
}

func tryLocks() {
	try("locks: types", func(o *outcome) {
		for _, kind := range []string{"leases", "endpoints", "configmaps", "endpointsleases", "configmapsleases", "", "Leases", "x"} {
			lock, err := rl.New(kind, "ns", "n", nil, nil, rl.ResourceLockConfig{Identity: "i"})
			o.line(kind, lock == nil, kindOf(err))
			lock, err = rl.NewWithLabels(kind, "ns", "n", nil, nil, rl.ResourceLockConfig{Identity: "i"}, map[string]string{"x": "y"})
			o.line(kind, lock == nil, kindOf(err))
			if lock != nil {
				o.line(lock.Identity(), lock.Describe(), fmt.Sprintf("%T", lock))
				lock.RecordEvent("x")
			}
		}
		o.panics("no config", func() {
			c := kubernetes.NewForConfigOrDie(serve(o).config())
			_, err := rl.NewFromKubeconfig("leases", "ns", "n", rl.ResourceLockConfig{}, nil, 0)
			o.line(c != nil, kindOf(err))
		})
	})
	try("locks: lease", func(o *outcome) {
		s := serve(o)
		defer s.Close()
		client := kubernetes.NewForConfigOrDie(s.config())
		ctx := context.Background()
		for _, labels := range []map[string]string{nil, {}, {"x": "y"}} {
			name := fmt.Sprint("l", len(labels), "-", labels == nil)
			l := &rl.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", Labels: map[string]string{"not": "used"}, Annotations: map[string]string{"a": "b"}}, Client: client.CoordinationV1(), LockConfig: rl.ResourceLockConfig{Identity: "i", EventRecorder: eventRecorder{o}}, Labels: labels}
			o.line(l.Describe(), l.Identity())
			at := metav1.NewTime(time.Unix(1000, 0).UTC())
			o.line(kindOf(l.Update(ctx, rl.LeaderElectionRecord{})))
			record, raw, err := l.Get(ctx)
			o.line(record == nil, string(raw), kindOf(err))
			o.line(kindOf(l.Create(ctx, rl.LeaderElectionRecord{HolderIdentity: "h", LeaseDurationSeconds: 15, AcquireTime: at, RenewTime: at, LeaderTransitions: 2, Strategy: "S", PreferredHolder: "p"})))
			o.line(kindOf(l.Create(ctx, rl.LeaderElectionRecord{})))
			record, raw, err = l.Get(ctx)
			o.line(text(record), string(raw), kindOf(err))
			l.RecordEvent("100%")
			o.line(kindOf(l.Update(ctx, rl.LeaderElectionRecord{HolderIdentity: "other"})))
			o.line(kindOf(l.Update(ctx, rl.LeaderElectionRecord{})))
			lease, _ := client.CoordinationV1().Leases("ns").Get(ctx, name, metav1.GetOptions{})
			lease.Labels = map[string]string{"server": "own", "x": "z"}
			_, err = client.CoordinationV1().Leases("ns").Update(ctx, lease, metav1.UpdateOptions{})
			o.line(kindOf(err))
			o.line(apierrors.IsConflict(l.Update(ctx, rl.LeaderElectionRecord{HolderIdentity: "i"})))
			_, _, _ = l.Get(ctx)
			o.line(kindOf(l.Update(ctx, rl.LeaderElectionRecord{HolderIdentity: "i"})))
			for _, asked := range s.takeRequests() {
				o.line("asked", asked)
			}
		}
	})
	try("locks: an event before there is a lease", func(o *outcome) {
		l := &rl.LeaseLock{LockConfig: rl.ResourceLockConfig{Identity: "i", EventRecorder: eventRecorder{o}}}
		l.RecordEvent("x")
	})
	try("locks: records and specs", func(o *outcome) {
		for _, spec := range []coordinationv1.LeaseSpec{{}, {HolderIdentity: ptr.To("h")}, {LeaseDurationSeconds: ptr.To[int32](5), LeaseTransitions: ptr.To[int32](6)}, {AcquireTime: &metav1.MicroTime{Time: time.Unix(5, 6000).UTC()}, RenewTime: &metav1.MicroTime{}, Strategy: ptr.To(coordinationv1.OldestEmulationVersion), PreferredHolder: ptr.To("")}} {
			record := rl.LeaseSpecToLeaderElectionRecord(&spec)
			o.line(text(record), text(rl.LeaderElectionRecordToLeaseSpec(record)))
		}
		o.line(text(rl.LeaderElectionRecordToLeaseSpec(&rl.LeaderElectionRecord{Strategy: "x", PreferredHolder: "y", LeaseDurationSeconds: 1 << 40})))
		o.line(string(rl.ConcatRawRecord([]byte("a"), nil)), string(rl.ConcatRawRecord(nil, nil)), rl.UnknownLeader, rl.LeaderElectionRecordAnnotationKey)
	})
	missing, broken := errorOfStatus(404, metav1.StatusReasonNotFound), errors.New("x")
	errs := map[string]error{"fine": nil, "missing": missing, "broken": broken, "exists": errorOfStatus(409, metav1.StatusReasonAlreadyExists)}
	for _, holders := range [][2]string{{"me", "me"}, {"me", "other"}, {"other", "me"}, {"other", "other"}, {"", ""}} {
		for first, one := range errs {
			for second, other := range errs {
				try(fmt.Sprintf("locks: of two, held by %q and %q, %s and %s", holders[0], holders[1], first, second), func(o *outcome) {
					a, b := &memoryLock{o: o, identity: "me"}, &memoryLock{o: o, identity: "you"}
					a.set(&rl.LeaderElectionRecord{HolderIdentity: holders[0]})
					b.set(&rl.LeaderElectionRecord{HolderIdentity: holders[1]})
					for _, verb := range []string{"get", "create", "update"} {
						a.fail(map[string]error{verb: one})
						b.fail(map[string]error{verb: other})
						l := &rl.MultiLock{Primary: a, Secondary: b}
						record, raw, err := l.Get(context.Background())
						o.line("Get", text(record), string(raw), kindOf(err))
						o.line("Create", kindOf(l.Create(context.Background(), rl.LeaderElectionRecord{HolderIdentity: "new"})))
						o.line("Update", kindOf(l.Update(context.Background(), rl.LeaderElectionRecord{HolderIdentity: "newer"})))
						l.RecordEvent("x")
						o.line(l.Describe(), l.Identity())
					}
				})
			}
		}
	}
}

func tryCoordinated() {
	for name, change := range map[string]func(*rl.LeaderElectionRecord){
		"term ends": func(r *rl.LeaderElectionRecord) { r.PreferredHolder = "other" },
		"another":   func(r *rl.LeaderElectionRecord) { r.HolderIdentity = "other" },
		"released":  func(r *rl.LeaderElectionRecord) { r.HolderIdentity = "" },
		"no time":   func(r *rl.LeaderElectionRecord) { r.LeaseDurationSeconds = 0 },
	} {
		try("election, coordinated: "+name, func(o *outcome) {
			m := &memoryLock{o: o, identity: "me"}
			c := election(o, m)
			c.Coordinated, c.ReleaseOnCancel = true, true
			c.RenewDeadline = time.Second
			r := run(o, c)
			o.phase(r.IsLeader())
			record := rl.LeaderElectionRecord{HolderIdentity: "me", LeaseDurationSeconds: 30, Strategy: "S", LeaderTransitions: 4}
			m.set(&record)
			o.phase(r.leads())
			m.mu.Lock()
			next := *m.record
			m.mu.Unlock()
			change(&next)
			m.set(&next)
			if name == "no time" { // it depends on timing whether the next renewal is in time
				time.Sleep(100 * time.Millisecond)
				r.cancel()
			}
			r.end(o, 10*time.Second)
		})
	}
}
