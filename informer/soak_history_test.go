package informer_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/testing/guarantees"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

var expired = apierrors.NewResourceExpired("too old resource version")

// soaked counts events, states, faults and reconciles, to show that the histories contained some.
var soaked struct{ events, states, faults, reconciled atomic.Int64 }

// soakRun is one history in progress.
type soakRun struct {
	*rig
	keys       int
	states     guarantees.StateChecker
	witnesses  []*guarantees.EventChecker[*corev1.Pod]
	reconciler *reconciler
	began      time.Time
	trace      []string

	mu         sync.Mutex // guards following
	violations []string
}

// byChange is the index that readers use.
func byChange(pod *corev1.Pod) ([]string, error) { return []string{pod.Labels["changed"]}, nil }

// playHistory plays the history of a seed, and returns its steps and the violated guarantees.
func playHistory(t *testing.T, seed uint64) (trace, violations []string) {
	random := rand.New(rand.NewPCG(seed, 2))
	opts := informer.Options[*corev1.Pod]{}
	opts.Reflector.ListMode = reflector.ListMode(1 + random.IntN(2))
	opts.Reflector.PageSize = []int64{0, 0, 2, -1}[random.IntN(4)]
	opts.Queue.MaxDeltasPerKey = []int{0, 2, -1}[random.IntN(3)]
	encoding := []rest.Encoding{rest.Protobuf, rest.JSON}[random.IntN(2)]
	s := &soakRun{rig: newRigFor(t, rest.ResourceOptions{Encoding: encoding}, opts), keys: 1 + random.IntN(12), began: time.Now()}
	s.random = random
	s.tracef("%v, %v, pages of %d, %d deltas per key, %d keys", opts.Reflector.ListMode, encoding, opts.Reflector.PageSize, opts.Queue.MaxDeltasPerKey, s.keys)
	if err := s.informer.AddIndex("changed", byChange); err != nil {
		s.violate("%v", err)
	}
	s.remember()

	for range random.IntN(2 * s.keys) {
		s.step()
	}
	s.reconciler = newReconciler(s)
	s.addWitness(s.reconciler.enqueue)
	stopReading := s.readConcurrently()
	s.run()
	for range 20 + random.IntN(150) {
		s.changeServer()
	}
	s.settleAndCompare()
	stopReading()
	s.reconciler.stop()
	s.end()
	return s.trace, s.violations
}

func (s *soakRun) tracef(format string, args ...any) {
	s.trace = append(s.trace, fmt.Sprintf("%10v ", time.Since(s.began).Round(time.Millisecond))+fmt.Sprintf(format, args...))
}

func (s *soakRun) violate(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violations = append(s.violations, fmt.Sprintf(format, args...))
}

// remember records the state of the server.
func (s *soakRun) remember() { s.states.RecordServer(s.server.ResourceVersion(), s.versions()) }

func (s *soakRun) step() {
	s.change(s.keys)
	s.remember()
	s.tracef("changed a pod, now at %s", s.server.ResourceVersion())
}

// changeServer takes one random action.
func (s *soakRun) changeServer() {
	switch n := s.random.IntN(40); {
	case n < 26:
		s.step()
	case n < 30:
		d := time.Duration(s.random.IntN(1000)) * time.Millisecond
		if s.random.IntN(10) == 0 {
			d *= 200
		}
		s.tracef("sleep %v", d)
		time.Sleep(d)
	case n < 34:
		s.injectFault()
	case n < 36:
		s.addWitness(nil)
	case n < 37 && len(s.witnesses) > 1:
		n := 1 + s.random.IntN(len(s.witnesses)-1)
		s.tracef("remove handler %d", n)
		s.removeWitness(n)
	default:
		s.awaitOwnWrite()
	}
}

// injectFault injects a fault, mostly into the informer's next request.
func (s *soakRun) injectFault() {
	faults := []struct {
		name, verb string
		action     apitest.Action
	}{
		{"silent", "watch", apitest.SilentAfterEvents(s.random.IntN(3))},
		{"not answered for long", "watch", apitest.Delay(time.Duration(s.random.IntN(300)) * time.Second)},
		{"not answered for long", "list", apitest.Delay(time.Duration(s.random.IntN(300)) * time.Second)},
		{"slow", "list", apitest.SlowBody(300)},
		{"garbage", "list", apitest.Garbage()},
		{"garbage", "watch", apitest.Garbage()},
		{"a table", "list", apitest.Table()},
		{"empty", "watch", apitest.Empty()},
		{"without an end marker", "watch", apitest.NoEndMarker()},
		{"late with bookmarks", "watch", apitest.DelayBookmarks(time.Minute)},
		{"expired after an event", "watch", apitest.FailAfterEvents(1, expired)},
		{"ended after an event", "watch", apitest.EndAfterEvents(1)},
		{"dropped after two", "watch", apitest.DropAfterEvents(2)},
	}
	soaked.faults.Add(1)
	if s.random.IntN(2) == 0 {
		s.tracef("a fault of the rig")
		s.fault()
		return
	}
	f := faults[s.random.IntN(len(faults))]
	s.tracef("the next %s is %s", f.verb, f.name)
	s.server.Inject(apitest.Fault{Verb: f.verb, Times: 1, Action: f.action})
	switch s.random.IntN(4) {
	case 0:
		s.tracef("compact, drop watches")
		s.server.Compact()
		s.server.DropWatches("")
	case 1:
		s.tracef("end watches")
		s.server.EndWatches("")
	}
}

func (s *soakRun) addWitness(do func(informer.Event[*corev1.Pod])) {
	opts := informer.HandlerOptions{
		Mailbox:  []int{0, 1, 3}[s.random.IntN(3)],
		Overflow: informer.Overflow(s.random.IntN(3)),
	}
	if s.random.IntN(4) == 0 {
		opts.Resync = time.Duration(1+s.random.IntN(60)) * time.Second
	}
	pace := time.Duration(s.random.IntN(4)*s.random.IntN(30)) * time.Millisecond
	s.tracef("add handler %d, %+v, which takes %v", len(s.witnesses), opts, pace)
	w, err := guarantees.AddChecker(s.informer, opts, func(e informer.Event[*corev1.Pod]) {
		if do != nil {
			do(e)
		}
		time.Sleep(pace)
	})
	if err != nil {
		s.violate("AddHandler: %v", err)
	}
	s.witnesses = append(s.witnesses, w)
}

// removeWitness removes a handler, and checks that it is not called after Done.
func (s *soakRun) removeWitness(n int) {
	w := s.witnesses[n]
	s.witnesses = slices.Delete(s.witnesses, n, n+1)
	w.Registration().Remove()
	go func() {
		<-w.Registration().Done()
		events := w.Events()
		time.Sleep(time.Minute)
		if now := w.Events(); now != events {
			s.violate("a removed handler received %d events", now-events)
		}
		s.add(w.Violations())
	}()
}

func (s *soakRun) add(violations []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violations = append(s.violations, violations...)
}

// awaitOwnWrite waits, concurrently, until the store has the server's current state (G8).
func (s *soakRun) awaitOwnWrite() {
	version := s.server.ResourceVersion()
	go func() {
		ctx, cancel := context.WithTimeout(s.t.Context(), 24*time.Hour)
		defer cancel()
		if err := s.informer.Store().WaitRV(ctx, version); err != nil {
			s.violate("G8: %v", err)
		}
		snapshot := s.informer.Store().Snapshot()
		if number(s.t, snapshot.ResourceVersion()) < number(s.t, version) {
			s.violate("G8: WaitRV of %s returned at %s", version, snapshot.ResourceVersion())
		}
		guarantees.RecordStore(&s.states, snapshot)
	}()
}

// readConcurrently starts readers that check every version of the store they can read.
func (s *soakRun) readConcurrently() (stop func()) {
	done := make(chan struct{})
	var readers sync.WaitGroup
	for n := range 2 {
		readers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 3))
			last := uint64(0)
			for {
				select {
				case <-done:
					return
				default:
				}
				snapshot := s.informer.Store().Snapshot()
				if snapshot.Revision() != last {
					last = snapshot.Revision()
					guarantees.RecordStore(&s.states, snapshot)
					if d := guarantees.IndexMismatch(snapshot, "changed", byChange); d != "" {
						s.violate("%s", d)
					}
				}
				if random.IntN(3) == 0 {
					runtime.Gosched()
				} else {
					time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
				}
			}
		})
	}
	return func() {
		close(done)
		readers.Wait()
	}
}

// settleAndCompare stops all faults and changes. Then everything must equal the server (G2).
func (s *soakRun) settleAndCompare() {
	s.tracef("the server is quiet")
	truth := s.versions()
	wrong := "?"
	for range 3 * 3600 {
		if wrong = s.differs(truth); wrong == "" {
			break
		}
		time.Sleep(time.Second)
	}
	if wrong != "" {
		s.violate("G2: %s", wrong)
	}
	time.Sleep(2 * time.Minute) // The checks of removed handlers take a minute.
	synctest.Wait()
}

func (s *soakRun) differs(truth guarantees.State) string {
	if stored := s.stored(); !maps.Equal(stored, truth) {
		return fmt.Sprintf("the store has %v, the server %v", stored, truth)
	}
	for n, w := range s.witnesses {
		if !maps.Equal(w.Versions(), truth) {
			return fmt.Sprintf("handler %d knows %v, the server has %v", n, w.Versions(), truth)
		}
		select {
		case <-w.Registration().Synced():
		default:
			return fmt.Sprintf("handler %d is not synced", n)
		}
	}
	return s.reconciler.differs(truth)
}

// end stops the informer, and collects the violations.
func (s *soakRun) end() {
	if err := s.stop(); err != nil {
		s.violate("G10: Run returned %v", err)
	}
	events := 0
	for _, w := range s.witnesses {
		events += w.Events()
	}
	synctest.Wait()
	if n := s.server.Watches(""); n != 0 {
		s.violate("G10: %d watches are open after Run", n)
	}
	time.Sleep(time.Hour)
	for _, w := range s.witnesses {
		events -= w.Events()
		s.add(w.Violations())
		if !s.states.ServerHad(w.Initials()) {
			s.violate("G5: the server never had the initial objects of a handler: %v", w.Initials())
		}
		soaked.events.Add(int64(w.Events()))
	}
	if events != 0 {
		s.violate("G10: handlers received %d events after Run", -events)
	}
	s.add(s.states.Violations())
	soaked.states.Add(int64(s.states.StoreStates()))
}
