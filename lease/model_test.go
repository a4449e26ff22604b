package lease_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/rest"
)

var (
	modelSeeds = flag.Int("lease.seeds", 10, "how many random histories TestOneLeaderInRandomHistories plays")
	modelSeed  = flag.Uint64("lease.seed", 0, "play this history alone, and say what happens in it")
)

// These are the times on which all candidates of the model agree. They are ten times the defaults,
// because a Lease has whole seconds, and each host divides them by its clock rate.
const (
	nominalDuration = 150 * time.Second
	nominalDeadline = 100 * time.Second
	nominalPeriod   = 20 * time.Second
)

// fence records the leader at each moment of true time, which is the bubble's time.
type fence struct {
	t    *testing.T
	seed uint64

	mu          sync.Mutex // guards following
	leading     map[context.Context]string
	all         []context.Context
	begun, lost int
	maxSeen     int32
}

func (f *fence) logf(format string, args ...any) {
	if *modelSeed != 0 {
		f.t.Logf("%s %s", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...))
	}
}

// begin must be the first call of each leader.
func (f *fence) begin(ctx context.Context, who string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	term, _ := lease.FromContext(ctx)
	f.logf("%s leads, %d", who, term.Transitions)
	for _, other := range f.leading {
		f.t.Errorf("seed %d: %s leads at %v while %s does", f.seed, who, time.Now(), other)
	}
	for _, ctx := range f.all {
		if lease.Check(ctx) == nil {
			f.t.Errorf("seed %d: Check still passes for another leader when %s leads", f.seed, who)
		}
	}
	if f.begun > 0 && term.Transitions <= f.maxSeen {
		f.t.Errorf("seed %d: %s leads with %d transitions, after a term with %d", f.seed, who, term.Transitions, f.maxSeen)
	}
	f.maxSeen = term.Transitions
	f.leading[ctx] = who
	f.all = append(f.all, ctx)
	f.begun++
}

// end is called when a leader must not act any more: it has lost the lease, or has returned.
func (f *fence) end(ctx context.Context, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if who, ok := f.leading[ctx]; ok {
		f.logf("%s ends: %s", who, why)
		delete(f.leading, ctx)
	}
}

// host is a machine with a clock and a network of its own.
type host struct {
	name   string
	server *apitest.Server
	rate   float64       // rate of its clock: 1.1 is 10 % fast
	ahead  time.Duration // offset of its clock

	traffic sync.WaitGroup
	mu      sync.Mutex // guards following
	random  *rand.Rand
	faults  float64 // share of requests that fail
	cut     bool
}

// withProbability returns true with probability p, from the host's random source.
func (h *host) withProbability(p float64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.random.Float64() < p
}

// randomUpTo returns a random time; most are short.
func (h *host) randomUpTo(d time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.random.Float64()
	return time.Duration(x * x * float64(d))
}

func (h *host) set(faults float64, cut bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults, h.cut = faults, cut
}

func (h *host) state() (faults float64, cut bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.faults, h.cut
}

// toHostTime converts a duration by this host's clock to true time.
func (h *host) toHostTime(d time.Duration) time.Duration { return time.Duration(float64(d) / h.rate) }

// duration converts the seconds in the Lease to this host's clock.
func (h *host) duration(seconds int32) int32 {
	if seconds == int32(nominalDuration/time.Second) {
		return int32(h.toHostTime(nominalDuration).Round(time.Second) / time.Second)
	}
	return seconds
}

// translate converts a Lease between the server's times and this host's clock.
func (h *host) translate(body []byte, outwards bool) []byte {
	var object coordinationv1.Lease
	if json.Unmarshal(body, &object) != nil || (object.Kind != "Lease" && !outwards) {
		return body // an error, not a Lease
	}
	ahead := -h.ahead
	if outwards {
		ahead = h.ahead
	}
	move := func(t *metav1.MicroTime) {
		if t != nil {
			t.Time = t.Add(ahead)
		}
	}
	move(object.Spec.AcquireTime)
	move(object.Spec.RenewTime)
	if seconds := object.Spec.LeaseDurationSeconds; seconds != nil {
		if outwards && *seconds == h.duration(int32(nominalDuration/time.Second)) {
			*seconds = int32(nominalDuration / time.Second)
		} else if !outwards {
			*seconds = h.duration(*seconds)
		}
	}
	body, err := json.Marshal(&object)
	if err != nil {
		panic(err)
	}
	return body
}

// forward passes a request to the server, even if its client gives up meanwhile.
func (h *host) forward(r *http.Request, body []byte) *httptest.ResponseRecorder {
	forwarded := r.Clone(context.WithoutCancel(r.Context()))
	if len(body) > 0 {
		body = h.translate(body, true)
	}
	forwarded.Body = io.NopCloser(bytes.NewReader(body))
	forwarded.ContentLength = int64(len(body))
	forwarded.Header.Set("Accept", "application/json")
	response := httptest.NewRecorder()
	h.server.ServeHTTP(response, forwarded)
	return response
}

// ServeHTTP is the network between the host and the server, in both directions.
func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.traffic.Add(1)
	defer h.traffic.Done()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	hang := func() {
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Minute):
		}
		panic(http.ErrAbortHandler)
	}
	if r.URL.Query().Get("watch") == "true" {
		h.watch(w, r)
		return
	}
	faults, cut := h.state()
	if cut {
		if h.withProbability(0.3) {
			panic(http.ErrAbortHandler)
		}
		hang()
	}
	time.Sleep(h.randomUpTo(500 * time.Millisecond))
	if h.withProbability(faults) {
		switch h.randomUpTo(0); { // one of these faults
		case h.withProbability(0.15): // the request never arrives
			hang()
		case h.withProbability(0.2):
			// The request arrives late, perhaps after its client has given up.
			h.traffic.Go(func() {
				time.Sleep(h.randomUpTo(2 * nominalDuration))
				h.forward(r, body)
			})
			hang()
		case h.withProbability(0.25): // the response never arrives
			h.forward(r, body)
			hang()
		case h.withProbability(0.3): // the connection breaks, before or after the request
			if h.withProbability(0.5) {
				h.forward(r, body)
			}
			panic(http.ErrAbortHandler)
		case h.withProbability(0.4):
			// The server reports a failure, but may have executed the request.
			if h.withProbability(0.5) {
				h.forward(r, body)
			}
			http.Error(w, "etcdserver: request timed out", http.StatusInternalServerError)
			return
		case h.withProbability(0.5): // the request arrives late
			time.Sleep(h.randomUpTo(nominalDeadline))
		default: // the response arrives late
			response := h.forward(r, body)
			time.Sleep(h.randomUpTo(nominalDeadline))
			h.reply(w, response)
			if h.withProbability(0.5) {
				h.set(faults, true) // this was the last request for a while
			}
			return
		}
	}
	response := h.forward(r, body)
	time.Sleep(h.randomUpTo(500 * time.Millisecond))
	h.reply(w, response)
}

// watch simulates the network of a watch. The watch is refused, or its events arrive late, twice,
// in the wrong order, or not at all.
func (h *host) watch(w http.ResponseWriter, r *http.Request) {
	faults, cut := h.state()
	switch {
	case cut:
		panic(http.ErrAbortHandler)
	case h.withProbability(faults / 2):
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	}
	r = r.Clone(r.Context())
	r.Header.Set("Accept", "application/json")
	h.server.ServeHTTP(&watchWriter{host: h, ResponseWriter: w, ctx: r.Context()}, r)
}

// watchWriter is the response writer of a watch.
type watchWriter struct {
	http.ResponseWriter
	host *host
	ctx  context.Context
	part []byte   // incomplete event
	sent [][]byte // events that were sent to the host
}

func (w *watchWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush sends what was written.
func (w *watchWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Write receives data from the server.
func (w *watchWriter) Write(data []byte) (int, error) {
	w.part = append(w.part, data...)
	for {
		line, rest, whole := bytes.Cut(w.part, []byte("\n"))
		if !whole {
			return len(data), nil
		}
		if err := w.event(line); err != nil {
			return 0, err
		}
		w.part = rest
	}
}

func (w *watchWriter) event(line []byte) error {
	h := w.host
	faults, cut := h.state()
	late := h.randomUpTo(500 * time.Millisecond)
	if h.withProbability(faults) {
		late = h.randomUpTo(2 * nominalDuration)
	}
	if err := pauseFor(w.ctx, late); err != nil {
		return err
	}
	for ; cut; _, cut = h.state() {
		if err := pauseFor(w.ctx, time.Second); err != nil {
			return err
		}
	}
	var event struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return err
	}
	event.Object = h.translate(event.Object, false)
	rewritten, err := json.Marshal(&event)
	if err != nil {
		return err
	}
	w.sent = append(w.sent, append(rewritten, '\n'))
	sent := w.sent[len(w.sent)-1:]
	switch {
	case !h.withProbability(faults):
	case h.withProbability(0.3): // the event is lost
		sent = nil
	case h.withProbability(0.5): // an earlier event is repeated
		sent = w.sent[max(0, len(w.sent)-1-int(h.randomUpTo(20))):]
	case h.withProbability(0.3): // the watch breaks
		panic(http.ErrAbortHandler)
	}
	for _, event := range sent {
		if _, err := w.ResponseWriter.Write(event); err != nil {
			return err
		}
	}
	return nil
}

func (h *host) reply(w http.ResponseWriter, reply *httptest.ResponseRecorder) {
	w.Header().Set("Content-Type", reply.Header().Get("Content-Type"))
	w.WriteHeader(reply.Code)
	_, _ = w.Write(h.translate(reply.Body.Bytes(), false))
}

// pipes is a listener with in-memory connections.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// runCandidate simulates a host until ctx ends: a sequence of processes that stand for election,
// lead in many ways and end in many ways.
func (h *host) runCandidate(ctx context.Context, f *fence, config rest.Config, identity string) {
	for n := 0; ctx.Err() == nil; n++ {
		client, err := rest.NewClient(config, rest.Options{MaxRetries: -1 + 3*n%5})
		require.NoError(f.t, err)
		name := fmt.Sprintf("%s-%d", h.name, n)
		var leader context.Context // in this process; hooks are called one at a time
		e, err := lease.New(client, key, lease.Options{
			Identity:      map[bool]string{true: name, false: identity}[identity == ""],
			LeaseDuration: h.toHostTime(nominalDuration).Round(time.Second),
			RenewDeadline: h.toHostTime(nominalDeadline), RetryPeriod: h.toHostTime(nominalPeriod),
			KeepOnEnd: h.withProbability(0.3), StandAgain: h.withProbability(0.5), Watch: h.withProbability(0.5),
			Observer: &lease.Observer{OnLost: func(_ lease.Term, err error) {
				if leader.Err() == nil {
					f.t.Errorf("seed %d: %s lost the lease with a context that lives", f.seed, name)
				}
				f.end(leader, err.Error())
				f.mu.Lock()
				f.lost++
				f.mu.Unlock()
			}},
		})
		require.NoError(f.t, err)
		running, stop := context.WithCancel(ctx)
		if h.withProbability(0.5) {
			time.AfterFunc(h.randomUpTo(time.Hour), stop)
		}
		_ = e.Run(running, func(ctx context.Context) error {
			leader = ctx
			f.begin(ctx, name)
			defer f.end(ctx, "it returns")
			// If the caller has ended the leader's context, only a loss of the lease ends the
			// leader.
			defer context.AfterFunc(ctx, func() {
				if lost, ok := errors.AsType[*lease.LostError](context.Cause(ctx)); ok {
					f.end(ctx, lost.Error())
				}
			})()
			if h.withProbability(0.3) {
				_ = pauseFor(ctx, h.randomUpTo(20*time.Minute))
				return nil
			}
			<-ctx.Done()
			if lasting := h.randomUpTo(2 * nominalDuration); h.withProbability(0.5) {
				for end := time.Now().Add(lasting); time.Now().Before(end); time.Sleep(time.Second) {
					if err := lease.Check(ctx); err != nil {
						// a write would be refused in the same way
						f.end(ctx, err.Error())
					}
				}
			}
			return ctx.Err()
		})
		stop()
		client.Close()
		_ = pauseFor(ctx, h.randomUpTo(time.Minute))
	}
}

func pauseFor(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// TestOneLeaderInRandomHistories simulates hosts with clocks of different rates and offsets.
// Networks lose, delay and repeat messages and partition, and the server may be unavailable.
// Administrators edit the Lease, processes end in every way, and candidates have the same identity
// by mistake. Some candidates watch the Lease, and get events late, twice, out of date or not at
// all.
//
// By the fence, at most one candidate leads at a time, and each term has more transitions than the
// term before. When all faults are over, one candidate leads.
func TestOneLeaderInRandomHistories(t *testing.T) {
	t.Parallel()
	if *modelSeed != 0 {
		playHistory(t, *modelSeed)
		return
	}
	seeds := *modelSeeds
	if testing.Short() {
		seeds = min(seeds, 2)
	}
	begun, lost := 0, 0
	for seed := range uint64(seeds) {
		b, l := playHistory(t, seed+1)
		begun, lost = begun+b, lost+l
		if t.Failed() {
			return
		}
	}
	t.Logf("%d terms, of which %d were lost", begun, lost)
	require.Greater(t, begun, 5*seeds, "the histories have terms")
	require.Greater(t, lost, seeds, "the histories have leases that are lost")
}

func playHistory(t *testing.T, seed uint64) (begun, lost int) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(seed, 13))
		server := apitest.New(apitest.Options{Seed: seed})
		defer server.Close()
		f := &fence{t: t, seed: seed, leading: map[context.Context]string{}}
		ctx, cancel := context.WithCancel(t.Context())
		var living, serving sync.WaitGroup
		var hosts []*host
		var closers []func()
		twins := random.IntN(4) == 0
		for i := range 2 + random.IntN(3) {
			h := &host{
				name: string(rune('a' + i)), server: server, rate: []float64{0.83, 0.9, 1, 1.1, 1.2}[random.IntN(5)], ahead: time.Duration(random.IntN(7200)-3600) * time.Second,
				random: rand.New(rand.NewPCG(seed, uint64(i))),
			}
			hosts = append(hosts, h)
			listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
			httpServer := &http.Server{Handler: h}
			serving.Go(func() { _ = httpServer.Serve(listener) })
			closers = append(closers, func() { _ = httpServer.Close() })
			identity := ""
			if twins {
				identity = "twin"
			}
			living.Go(func() {
				h.runCandidate(ctx, f, rest.Config{Host: "http://server", DialContext: listener.dial}, identity)
			})
		}
		for end := time.Now().Add(3 * time.Hour); time.Now().Before(end); {
			time.Sleep(time.Duration(random.IntN(300)) * time.Second)
			switch random.IntN(6) {
			case 0: // the server is down, or the whole network
				f.logf("all are cut off")
				for _, h := range hosts {
					h.set(0.2, true)
				}
			case 1, 2:
				h := hosts[random.IntN(len(hosts))]
				f.logf("%s is cut off", h.name)
				h.set(0.2, true)
			case 3:
				if object, err := server.Get(leases, key); err == nil {
					object.SetAnnotations(map[string]string{"edited": time.Now().String()})
					_, err = server.Update(object)
					require.NoError(t, err)
				}
			default:
				f.logf("all are connected")
				faults := random.Float64() / 2
				for _, h := range hosts {
					h.set(faults, false)
				}
			}
		}
		for _, h := range hosts {
			h.set(0, false)
		}
		healed := f.terms()
		leads := false
		for end := time.Now().Add(time.Hour); time.Now().Before(end) && !leads; time.Sleep(time.Second) {
			leads = f.leads() || f.terms() > healed
		}
		if !leads {
			t.Errorf("seed %d: no candidate leads an hour after the last fault", seed)
		}
		cancel()
		living.Wait()
		for _, h := range hosts {
			h.traffic.Wait()
		}
		for _, c := range closers {
			c()
		}
		serving.Wait()
		begun, lost = f.begun, f.lost
	})
	return begun, lost
}

func (f *fence) terms() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.begun
}

func (f *fence) leads() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.leading) > 0
}
