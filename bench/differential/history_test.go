package differential

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"strconv"
	"sync/atomic"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/bench/clientgo"
	"github.com/kinform/kinform/internal/testing/conformance"
	"github.com/kinform/kinform/internal/testing/conformance/kinform"
	"github.com/kinform/kinform/internal/testing/conformance/plain"
)

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// history is the state of one running history.
type history struct {
	random     *rand.Rand
	server     *apitest.Server
	sides      []*side
	faults     []*apitest.InjectedFault
	touched    map[types.NamespacedName]bool // changed in the current phase
	trace      []string
	began      time.Time
	violations []string
}

// played counts the comparisons, to show that the histories were not empty.
var played struct{ phases, calmPhases, notifications, faults atomic.Int64 }

// play runs the history of a seed, inside a bubble of testing/synctest. It returns the steps of the
// history, and the violations.
func play(seed uint64) (trace, wrong []string) {
	h := &history{random: rand.New(rand.NewPCG(seed, 1)), touched: map[types.NamespacedName]bool{}, began: time.Now()}
	h.server = apitest.New(apitest.Options{BookmarkInterval: 10 * time.Second, Seed: seed})
	if err := h.server.ListenMemory(); err != nil {
		return nil, []string{err.Error()}
	}
	defer h.server.Close()
	setup := conformance.Setup{Server: h.server, WatchList: h.chance(3)}
	h.traceStep("watchlist=%v", setup.WatchList)
	for _, contestant := range []struct {
		name   string
		open   conformance.NewInformer
		strict bool
	}{
		{"kinform", kinform.NewInformer, true},
		{"plain", plain.NewInformer, true},
		{"client-go", clientgo.NewInformer, false},
	} {
		s, err := newSide(contestant.name, contestant.open, setup, contestant.strict)
		if err != nil {
			return nil, []string{err.Error()}
		}
		h.sides = append(h.sides, s)
	}
	if h.chance(4) {
		h.traceStep("every event comes twice")
		h.server.Inject(apitest.Fault{Verb: "watch", Action: apitest.DuplicateEvents()})
	}
	h.prepare()
	for phases := 1 + h.random.IntN(3); phases > 0 && len(h.violations) == 0; phases-- {
		h.phase()
	}
	for _, s := range h.sides {
		s.stop()
	}
	return h.trace, h.violations
}

// prepare creates the objects and handlers that exist before the informers start.
func (h *history) prepare() {
	for range h.random.IntN(5) {
		h.change()
	}
	h.addHandler()
	if h.chance(3) {
		h.fault()
	}
	for _, s := range h.sides {
		s.start()
	}
	h.traceStep("start")
	h.waitAndCompare(false)
}

// phase runs one phase and compares the sides.
func (h *history) phase() {
	calm := h.chance(2)
	h.traceStep("-- a phase, calm: %v", calm)
	if h.chance(3) {
		h.addHandler()
	}
	if len(h.sides[0].handlers) > 1 && h.chance(3) {
		n := h.random.IntN(len(h.sides[0].handlers))
		h.traceStep("remove handler %d", n)
		for _, s := range h.sides {
			s.removeHandler(n)
		}
	}
	if calm {
		played.calmPhases.Add(1)
		synctest.Wait() // so that the state for a new handler is stable
	}
	for range 1 + h.random.IntN(12) {
		h.change()
		if h.chance(3) {
			h.sleep(time.Duration(h.random.IntN(2000)) * time.Millisecond)
		}
		if !calm && h.chance(3) {
			h.fault()
		}
		if !calm && h.chance(12) {
			h.addHandler()
		}
	}
	h.waitAndCompare(calm)
}

func (h *history) chance(oneIn int) bool { return h.random.IntN(oneIn) == 0 }

func (h *history) traceStep(format string, args ...any) {
	h.trace = append(h.trace, fmt.Sprintf("%8v ", time.Since(h.began).Round(time.Millisecond))+fmt.Sprintf(format, args...))
}

func (h *history) sleep(d time.Duration) {
	h.traceStep("sleep %v", d)
	time.Sleep(d)
}

func (h *history) addHandler() {
	pace := time.Duration(0)
	if h.chance(4) {
		pace = time.Duration(h.random.IntN(500)) * time.Millisecond
	}
	h.traceStep("add a handler that takes %v", pace)
	for _, s := range h.sides {
		if err := s.addHandler(pace); err != nil {
			h.object("%s: %v", s.name, err)
		}
	}
}

// change creates, updates or deletes one of four pods.
func (h *history) change() {
	key := types.NamespacedName{Namespace: "ns", Name: "pod-" + strconv.Itoa(h.random.IntN(4))}
	h.touched[key] = true
	object, err := h.server.Get(pods, key)
	verb := "update"
	switch {
	case err != nil:
		verb = "create"
		_, err = h.server.Create(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example/web:1"}}},
		})
	case h.chance(3):
		verb = "delete"
		err = h.server.Delete(pods, key)
	default:
		pod := object.(*corev1.Pod)
		pod.Labels = map[string]string{"changed": strconv.Itoa(h.random.IntN(1_000_000))}
		_, err = h.server.Update(pod)
	}
	h.traceStep("%s %s, now at %s", verb, key.Name, h.server.ResourceVersion())
	if err != nil {
		h.object("%s %v: %v", verb, key, err)
	}
}

// fault breaks the next request of each side.
func (h *history) fault() {
	faults := []struct {
		name, verb string
		action     apitest.Action
	}{
		{"expired", "watch", apitest.Expired()},
		{"busy", "watch", apitest.TooManyRequests(time.Second)},
		{"busy", "list", apitest.TooManyRequests(time.Second)},
		{"cut", "list", apitest.CutBody(200)},
		{"cut", "watch", apitest.CutFrame(1 + h.random.IntN(3))},
		{"dropped", "watch", apitest.Drop()},
		{"broken", "list", apitest.Code(500, 0)},
		{"broken", "watch", apitest.Code(500, 0)},
		{"a page of HTML", "watch", apitest.HTML()},
		{"expired after an event", "watch", apitest.FailAfterEvents(1, errExpired)},
	}
	for range 1 + h.random.IntN(2) {
		f := faults[h.random.IntN(len(faults))]
		h.traceStep("the next %s is %s", f.verb, f.name)
		played.faults.Add(1)
		for _, s := range h.sides {
			h.faults = append(h.faults, h.server.Inject(apitest.Fault{Verb: f.verb, Times: 1, Action: f.action, Match: s.sent}))
		}
	}
	if h.chance(3) {
		h.traceStep("compact")
		h.server.Compact()
	}
	if h.chance(2) {
		h.traceStep("drop watches")
		h.server.DropWatches("")
	} else {
		h.traceStep("end watches")
		h.server.EndWatches("")
	}
}

// sent reports whether a request is from this side.
func (s *side) sent(r apitest.Request) bool { return r.HTTP.UserAgent() == s.name }

// waitAndCompare waits until everything is idle, and compares.
func (h *history) waitAndCompare(calm bool) {
	for _, f := range h.faults {
		f.Remove()
	}
	h.faults = nil
	if !calm {
		h.server.EndWatches("") // an open watch may still have a planned fault
	}
	truth, versions := h.serverState()
	notified := -1
	for quiet, patience := 0, 3000; quiet < 3; patience-- {
		if patience == 0 {
			h.object("the sides do not come to rest: %s", h.describePending(versions))
			return
		}
		time.Sleep(time.Second)
		now := h.notificationCount()
		if now == notified && h.isIdle(versions) {
			quiet++
		} else {
			quiet = 0
		}
		notified = now
	}
	h.traceStep("at rest")
	played.phases.Add(1)
	played.notifications.Add(int64(notified))
	for _, s := range h.sides {
		if stored := s.informer.Pods(); !apiequality.Semantic.DeepEqual(truth, stored) {
			h.object("%s: the objects of the store are not the server's", s.name)
		}
	}
	h.compare(calm)
	h.touched = map[types.NamespacedName]bool{}
}

// serverState returns the server's state.
func (h *history) serverState() (objects map[types.NamespacedName]*corev1.Pod, versions map[types.NamespacedName]string) {
	objects, versions = map[types.NamespacedName]*corev1.Pod{}, map[types.NamespacedName]string{}
	list, _, err := h.server.List(pods, "")
	if err != nil {
		h.object("%v", err)
	}
	for _, object := range list {
		pod := object.(*corev1.Pod)
		key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		objects[key], versions[key] = pod, pod.ResourceVersion
	}
	return objects, versions
}

func (h *history) notificationCount() (n int) {
	for _, s := range h.sides {
		for _, handler := range s.handlers {
			n += handler.notificationCount()
		}
	}
	return n
}

func (h *history) isIdle(versions map[types.NamespacedName]string) bool {
	return h.describePending(versions) == ""
}

// describePending describes why the sides are not idle yet.
func (h *history) describePending(versions map[types.NamespacedName]string) string {
	if n := h.server.Watches("pods"); n != len(h.sides) {
		return fmt.Sprintf("%d watch", n)
	}
	for _, s := range h.sides {
		stored := map[types.NamespacedName]string{}
		for key, pod := range s.informer.Pods() {
			stored[key] = pod.ResourceVersion
		}
		if !maps.Equal(stored, versions) {
			return fmt.Sprintf("%s has stored %v, not %v", s.name, stored, versions)
		}
		for n, handler := range s.handlers {
			if known := handler.known(); !maps.Equal(known, versions) {
				return fmt.Sprintf("%s: handler %d knows %v, not %v", s.name, n, known, versions)
			}
			if !handler.registration.Synced() {
				return fmt.Sprintf("%s: handler %d is not synced", s.name, n)
			}
		}
	}
	return ""
}

// compare compares the notifications of all handlers in this phase.
func (h *history) compare(calm bool) {
	for n := range h.sides[0].handlers {
		var all []map[types.NamespacedName][]note
		for _, s := range h.sides {
			handler := s.handlers[n]
			notified, wrong := handler.endPhase()
			for _, w := range wrong {
				h.object("%s: handler %d: %s", s.name, n, w)
			}
			for key, notes := range notified {
				initially := len(notes) == 1 && notes[0].initial && handler.fresh
				if !h.touched[key] && !initially {
					h.object("%s: handler %d was notified of %v, which was not changed: %v", s.name, n, key, notes)
				}
			}
			handler.fresh = false
			all = append(all, notified)
		}
		for other := range all {
			if calm && !reflect.DeepEqual(all[0], all[other]) {
				h.object("handler %d: %s %v, %s %v", n, h.sides[0].name, all[0], h.sides[other].name, all[other])
			}
		}
	}
}

func (h *history) object(format string, args ...any) {
	h.violations = append(h.violations, fmt.Sprintf(format, args...))
	h.traceStep(format, args...)
}
