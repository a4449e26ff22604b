package controller_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// diary records steps in order.
type diary struct {
	mu    sync.Mutex // guards following
	lines []string
}

func (d *diary) write(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.lines...)
}

// part returns a part that records its beginning and its end.
func (d *diary) part(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		d.write("+" + name)
		<-ctx.Done()
		time.Sleep(time.Second)
		d.write("-" + name)
		return ctx.Err()
	}
}

// elector leads when the test closes its channel; TestLease uses a real elector.
type elector struct {
	d    *diary
	turn chan struct{} // elector leads when this channel is closed
	lost chan error    // elector leads until this channel has an error
	sick error
}

func (e *elector) Healthy() error { return e.sick }

func (e *elector) RunUntil(ctx, stop context.Context, lead func(context.Context) error) error {
	select {
	case <-e.turn:
	case <-stop.Done():
		return nil
	}
	e.d.write("+lease")
	leading, end := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() { ended <- lead(leading) }()
	defer e.d.write("-lease")
	select {
	case err := <-ended:
		end(nil)
		return err
	case err := <-e.lost:
		end(err)
		return errors.Join(err, <-ended)
	}
}

func TestOrderOfStartAndStop(t *testing.T) {
	d := &diary{}
	e := &elector{d: d}
	play(t, controller.Options{Elector: e}, func(t *testing.T, r *rig) {
		e.turn = make(chan struct{})
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		controller.Manage(r.manager, "slow", maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
			d.write("+reconcile")
			time.Sleep(10 * time.Second)
			require.NoError(t, ctx.Err(), "a reconcile may finish after the context of Run has ended")
			_, cached := maps.Get(key{Namespace: "web", Name: "later"})
			require.True(t, cached, "the cache runs until the workers have ended")
			d.write("-reconcile")
			return controller.Done, nil
		}, controller.Settings[*configMap]{})
		r.manager.Add("recorder", d.part("always"), controller.PartOptions{})
		r.manager.Add("page", d.part("synced"), controller.PartOptions{Stage: controller.Synced})
		r.manager.Add("cron", d.part("leading"), controller.PartOptions{Stage: controller.Leading})
		require.ErrorContains(t, r.manager.Ready(), "not complete")
		r.create(newMap("a"))
		r.run()
		r.waitIdle()
		require.Equal(t, []string{"+always", "+synced"}, d.read(), "while another process leads, only these parts run")
		require.NoError(t, r.manager.Ready(), "a candidate is ready")
		close(e.turn)
		synctest.Wait()
		require.ElementsMatch(t, []string{"+always", "+synced", "+lease", "+leading", "+reconcile"}, d.read())
		ended := make(chan error)
		go func() { ended <- r.stop() }()
		synctest.Wait()
		r.create(newMap("later"))
		require.NoError(t, <-ended)
		lines := strings.Join(d.read(), " ")
		require.Regexp(t, `-leading -reconcile -lease -synced -always$`, lines)
		require.ErrorContains(t, r.manager.Ready(), "shutting down")
	})
}

func TestCandidateStopsWithoutWaitingForTheLease(t *testing.T) {
	e := &elector{d: &diary{}}
	play(t, controller.Options{Elector: e}, func(t *testing.T, r *rig) {
		e.turn = make(chan struct{})
		controller.For[*configMap](r.manager, rest.ResourceOptions{})
		r.run()
		r.waitIdle()
		before := time.Now()
		require.NoError(t, r.stop())
		require.Less(t, time.Since(before), time.Second)
		require.Empty(t, e.d.read())
	})
}

// A candidate that never led has run no queue. Its timers still end with Run (G10).
func TestCandidateLeavesNoTimer(t *testing.T) {
	e := &elector{d: &diary{}}
	play(t, controller.Options{Elector: e}, func(t *testing.T, r *rig) {
		e.turn = make(chan struct{})
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		c := controller.Manage(r.manager, "standby", maps, func(context.Context, *configMap) (controller.Result, error) {
			return controller.Done, nil
		}, controller.Settings[*configMap]{When: func(informer.Event[*configMap]) bool { panic("a bug") }})
		c.Enqueue(key{Namespace: "web", Name: "later"}, workqueue.AddOptions{After: 24 * time.Hour})
		r.run()
		time.Sleep(time.Second)
		synctest.Wait()
		r.create(newMap("a"))
		synctest.Wait()
		require.Equal(t, 1, c.LostEventsDelayed())
		require.Equal(t, 1, c.Queue().Stats().Delayed)
		require.NoError(t, r.stop())
		require.Zero(t, c.LostEventsDelayed())
		require.Zero(t, c.Queue().Stats().Delayed)
	})
}

func TestLostLeaseEndsEverythingAtOnce(t *testing.T) {
	d := &diary{}
	e := &elector{d: d}
	lost := errors.New("somebody else has the lease")
	play(t, controller.Options{Elector: e}, func(t *testing.T, r *rig) {
		e.turn, e.lost = make(chan struct{}), make(chan error, 1)
		close(e.turn)
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		controller.Manage(r.manager, "slow", maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
			<-ctx.Done()
			require.ErrorIs(t, context.Cause(ctx), lost)
			d.write("interrupted")
			return controller.Done, context.Cause(ctx)
		}, controller.Settings[*configMap]{})
		r.create(newMap("a"))
		r.create(newMap("b"))
		ended := make(chan error)
		go func() { ended <- r.manager.Run(t.Context()) }()
		r.waitIdle()
		e.lost <- lost
		require.ErrorIs(t, <-ended, lost)
		require.Equal(t, []string{"+lease", "interrupted", "-lease"}, d.read(), "no reconcile of b begins")
	})
}

func TestFailedPartEndsTheManager(t *testing.T) {
	for name, fail := range map[string]func(context.Context) error{
		"returns": func(context.Context) error { return errors.New("a reason") },
		"panics":  func(context.Context) error { panic("a reason") },
		"goexit":  func(context.Context) error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			for _, stage := range []controller.Stage{controller.Always, controller.Synced, controller.Leading} {
				t.Run(stage.String(), func(t *testing.T) {
					play(t, controller.Options{}, func(t *testing.T, r *rig) {
						d := &diary{}
						controller.For[*configMap](r.manager, rest.ResourceOptions{})
						r.manager.Add("broken", fail, controller.PartOptions{Stage: stage})
						r.manager.Add("beside", d.part("beside"), controller.PartOptions{})
						err := r.manager.Run(t.Context())
						require.ErrorContains(t, err, "part broken: ")
						require.Equal(t, 1, strings.Count(err.Error(), "part broken"), err)
						require.Equal(t, []string{"+beside", "-beside"}, d.read())
					})
				})
			}
		})
	}
}

func TestOptionalPartIsRestarted(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		controller.For[*configMap](r.manager, rest.ResourceOptions{})
		begun := 0
		r.manager.Add("flaky", func(ctx context.Context) error {
			if begun++; begun < 4 {
				return errors.New("not yet")
			}
			<-ctx.Done()
			return nil
		}, controller.PartOptions{Optional: true})
		r.manager.Add("short", func(ctx context.Context) error { return nil }, controller.PartOptions{})
		r.run()
		time.Sleep(time.Second / 2)
		synctest.Wait()
		require.EqualError(t, r.manager.Ready(), "part flaky: not yet")
		r.waitIdle()
		require.Equal(t, 4, begun)
		require.NoError(t, r.manager.Ready(), "the part runs again")
	})
}

// A Client with an error in its options can be used in every way until Run returns the error.
func TestInvalidClientReturnsItsError(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		ctx, m := t.Context(), r.manager
		refused := controller.For[*configMap](m, rest.ResourceOptions{Namespace: "A"})
		selected := controller.Select(m, controller.Selection[*configMap]{ResourceOptions: rest.ResourceOptions{Namespace: "a"}, Namespaces: []string{"b"}})
		for _, c := range []*controller.Client[*configMap]{refused, selected} {
			object := newMap("a")
			for name, call := range map[string]func() error{
				"Create":       func() error { _, err := c.Create(ctx, object); return err },
				"Update":       func() error { _, err := c.Update(ctx, object); return err },
				"UpdateStatus": func() error { _, err := c.UpdateStatus(ctx, object); return err },
				"Patch":        func() error { _, err := c.Patch(ctx, keyOf(object), types.MergePatchType, []byte("{}")); return err },
				"Apply":        func() error { _, err := c.Apply(ctx, object); return err },
				"ApplyStatus":  func() error { _, err := c.ApplyStatus(ctx, object); return err },
				"Merge":        func() error { _, err := c.Merge(ctx, object, newMap("a", "n", "1")); return err },
				"Delete":       func() error { return c.Delete(ctx, object) },
				"Modify": func() error {
					_, err := c.Modify(ctx, keyOf(object), func(*configMap) error { return nil })
					return err
				},
				"ModifyStatus": func() error {
					_, err := c.ModifyStatus(ctx, keyOf(object), func(*configMap) error { return nil })
					return err
				},
				"Finalize": func() error { _, _, err := c.Finalize(ctx, object, "example.com/f", nil); return err },
			} {
				require.ErrorContains(t, call(), "controller: objects of type *v1.ConfigMap: ", name)
			}
			_, exists := c.Get(keyOf(object))
			require.False(t, exists)
			require.Zero(t, c.Cache().Len())
			_, err := c.Server().Get(ctx, keyOf(object), metav1.GetOptions{})
			require.ErrorIs(t, err, rest.ErrClosed)
			require.NotEmpty(t, c.Server().String())
			c.AddIndex("index", func(*configMap) ([]string, error) { return nil, nil })
			controlled := controller.Manage(m, "a", c, func(context.Context, *configMap) (controller.Result, error) { return controller.Done, nil }, controller.Settings[*configMap]{})
			controlled.Enqueue(keyOf(object), workqueue.AddOptions{})
		}
		_ = m.Status()
		require.Error(t, m.Ready())
		err := m.Run(ctx)
		require.ErrorContains(t, err, "ResourceOptions.Namespace")
		require.ErrorContains(t, err, "Namespace and Namespaces are both set")
		require.Empty(t, r.requests)
	})
}

func TestRunReturnsAllWiringErrorsBeforeAnythingStarts(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		m := r.manager
		unknown := controller.For[*metav1.PartialObjectMetadata](m, rest.ResourceOptions{})
		both := controller.Select(m, controller.Selection[*configMap]{ResourceOptions: rest.ResourceOptions{Namespace: "a"}, Namespaces: []string{"b"}})
		maps := controller.For[*configMap](m, rest.ResourceOptions{})
		nothing := func(context.Context, *configMap) (controller.Result, error) { return controller.Done, nil }
		controller.Manage(m, "twice", maps, nothing, controller.Settings[*configMap]{})
		controller.Manage(m, "twice", maps, nothing, controller.Settings[*configMap]{})
		controller.Manage(m, "", maps, nothing, controller.Settings[*configMap]{})
		controller.Manage(m, "idle", maps, nil, controller.Settings[*configMap]{})
		controller.Manage(m, "few", maps, nothing, controller.Settings[*configMap]{Workers: -1})
		controller.Manage[*configMap](m, "without", nil, nothing, controller.Settings[*configMap]{})
		c := controller.Manage(m, "blind", both, nothing, controller.Settings[*configMap]{})
		controller.Owns(c, unknown, nil)
		own := controller.For[*metav1.PartialObjectMetadata](m, rest.ResourceOptions{Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "websites"}})
		kindless := controller.Manage(m, "kindless", own, func(context.Context, *metav1.PartialObjectMetadata) (controller.Result, error) {
			return controller.Done, nil
		}, controller.Settings[*metav1.PartialObjectMetadata]{})
		controller.Owns(kindless, maps, nil)
		controller.References(kindless, maps, "", nil, nil)
		controller.Watch(kindless, maps, nil, nil)
		m.Add("", nil, controller.PartOptions{})
		m.Add("early", func(context.Context) error { return nil }, controller.PartOptions{Stage: 9})
		err := m.Run(t.Context())
		for _, text := range []string{
			"Namespace and Namespaces are both set",
			`controller "twice": another controller has the same name`,
			"needs a name",
			`controller "idle": a reconcile function is required`,
			`controller "few": Settings.Workers is -1`,
			`controller "without": a Client`,
			`controller "kindless": Owns: the kind of example.com is not known: set rest.ResourceOptions.Kind`,
			`controller "kindless": References needs`,
			`controller "kindless": Watch needs`,
			`part "": a name and a function are required`,
			`part "early": Stage is Stage(9)`,
		} {
			require.ErrorContains(t, err, text)
		}
		require.Zero(t, r.requestCount("list configmaps"))
		require.ErrorContains(t, m.Run(t.Context()), "twice")
	})
	_, err := controller.New(nil, controller.Options{})
	require.ErrorContains(t, err, "needs a client")
}

func TestAdditionsAfterRunAreLogged(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		r.run()
		r.waitIdle()
		r.manager.Add("late", func(context.Context) error { return nil }, controller.PartOptions{})
		controller.Manage(r.manager, "late", maps, func(context.Context, *configMap) (controller.Result, error) { return controller.Done, nil }, controller.Settings[*configMap]{})
		require.Equal(t, 2, strings.Count(r.logged(), "add everything before Run"))
	})
}

func TestProbes(t *testing.T) {
	e := &elector{d: &diary{}}
	play(t, controller.Options{MaxStaleness: time.Minute, Elector: e}, func(t *testing.T, r *rig) {
		e.turn = make(chan struct{})
		controller.For[*corev1.Secret](r.manager, rest.ResourceOptions{})
		probe := func(path string) (int, string) {
			w := httptest.NewRecorder()
			r.manager.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			body, _ := io.ReadAll(w.Body)
			return w.Code, string(body)
		}
		code, body := probe("/readyz")
		require.Equal(t, http.StatusServiceUnavailable, code)
		require.Contains(t, body, "not complete")
		require.Contains(t, body, "secrets")
		r.run()
		synctest.Wait()
		code, _ = probe("/readyz")
		require.Equal(t, http.StatusOK, code)
		r.server.Close()
		time.Sleep(5 * time.Minute)
		code, body = probe("/readyz")
		require.Equal(t, http.StatusServiceUnavailable, code)
		require.Contains(t, body, "secrets")
		code, _ = probe("/livez")
		require.Equal(t, http.StatusOK, code, "a restart would not help")
		e.sick = errors.New("the lease is lost, and work goes on")
		code, body = probe("/livez")
		require.Equal(t, http.StatusInternalServerError, code)
		require.Contains(t, body, "work goes on")
	})
}

func TestServesProbesOnAnAddress(t *testing.T) {
	client, err := rest.NewClient(rest.Config{Host: "http://127.0.0.1:1"}, rest.Options{})
	require.NoError(t, err)
	defer client.Close()
	taken := httptest.NewServer(http.NotFoundHandler())
	defer taken.Close()
	m, err := controller.New(client, controller.Options{Serve: strings.TrimPrefix(taken.URL, "http://")})
	require.NoError(t, err)
	require.ErrorContains(t, m.Run(t.Context()), "Options.Serve")
}

func TestServesAddedEndpoints(t *testing.T) {
	client, err := rest.NewClient(rest.Config{Host: "http://127.0.0.1:1"}, rest.Options{})
	require.NoError(t, err)
	defer client.Close()
	address := make(chan string, 1)
	said := slog.New(slog.NewTextHandler(writer(func(line string) {
		if _, after, ok := strings.Cut(line, "address="); ok {
			address <- strings.TrimSpace(after)
		}
	}), nil))
	m, err := controller.New(client, controller.Options{Serve: "127.0.0.1:0", Logger: said})
	require.NoError(t, err)
	m.Handle("GET /metrics", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1") }))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	at := <-address
	for path, want := range map[string]string{"/metrics": "up 1", "/livez": "ok\n", "/other": "404 page not found\n"} {
		response, err := http.Get("http://" + at + path)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, string(body))
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	require.NoError(t, <-ended)
	_, err = net.Dial("tcp", at)
	require.Error(t, err, "the endpoints end with Run")
}

func TestInvalidEndpointsAreErrorsOfRun(t *testing.T) {
	client, err := rest.NewClient(rest.Config{Host: "http://127.0.0.1:1"}, rest.Options{})
	require.NoError(t, err)
	defer client.Close()
	m, err := controller.New(client, controller.Options{})
	require.NoError(t, err)
	m.Handle("GET /readyz", http.NotFoundHandler())
	m.Handle("GET  /{", http.NotFoundHandler())
	m.Handle("GET /nothing", nil)
	err = m.Run(t.Context())
	require.ErrorContains(t, err, `endpoint "GET /readyz"`)
	require.ErrorContains(t, err, `endpoint "GET  /{"`)
	require.ErrorContains(t, err, `endpoint "GET /nothing"`)
}

// writer is an io.Writer that calls a function.
type writer func(string)

func (w writer) Write(p []byte) (int, error) { w(string(p)); return len(p), nil }

func TestManagerSelectsOnlyItsNamespaces(t *testing.T) {
	play(t, controller.Options{Namespaces: []string{"web", "shop"}}, func(t *testing.T, r *rig) {
		var seen reconcileLog
		maps := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		controller.For[*corev1.Node](r.manager, rest.ResourceOptions{}) // is cluster-scoped
		controller.Manage(r.manager, "all", maps, func(ctx context.Context, m *configMap) (controller.Result, error) {
			seen.add(m.Namespace + "/" + m.Name)
			if m.Labels["seen"] == "" {
				changed := m.DeepCopy()
				changed.Labels = map[string]string{"seen": strconv.FormatInt(time.Now().Unix(), 10)}
				_, err := maps.Update(ctx, changed)
				return controller.Done, err
			}
			if written, _ := strconv.ParseInt(m.Labels["seen"], 10, 64); time.Now().Unix()-written > 1 {
				seen.add("late")
			}
			return controller.Done, nil
		}, controller.Settings[*configMap]{})
		r.run()
		synctest.Wait()
		for _, namespace := range []string{"web", "shop", "other"} {
			m := newMap("a")
			m.Namespace = namespace
			r.create(m)
		}
		r.waitIdle()
		require.Equal(t, []string{"shop/a", "shop/a", "web/a", "web/a"}, seen.take(), "a quiet namespace does not delay the other one")
	})
}

func TestCachesOfAnotherCluster(t *testing.T) {
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		other := &rig{t: t, requests: map[string]int{}}
		other.server = newServer(t)
		defer other.server.Close()
		client := other.connect()
		defer client.Close()
		var seen reconcileLog
		here := controller.For[*configMap](r.manager, rest.ResourceOptions{})
		there := controller.Select(r.manager, controller.Selection[*configMap]{Client: client})
		controller.Manage(r.manager, "here", here, func(_ context.Context, m *configMap) (controller.Result, error) {
			_, exists := there.Get(key{Namespace: m.Namespace, Name: m.Name})
			seen.add(m.Name + map[bool]string{true: " there", false: " not there"}[exists])
			return controller.Done, nil
		}, controller.Settings[*configMap]{})
		c := controller.Manage(r.manager, "there", there, func(context.Context, *configMap) (controller.Result, error) { return controller.Done, nil }, controller.Settings[*configMap]{})
		_ = c
		r.create(newMap("a"))
		r.run()
		r.waitIdle()
		require.Equal(t, []string{"a not there"}, seen.take())
		_, err := other.server.Create(newMap("a"))
		require.NoError(t, err)
		r.waitIdle()
		require.Empty(t, seen.take(), "no object of this cluster has changed")
		_, known := there.Get(key{Namespace: "web", Name: "a"})
		require.True(t, known)
	})
}

// Two processes share one lease on a server.
func TestLease(t *testing.T) {
	var first, second reconcileLog
	var elector *lease.Elector
	play(t, controller.Options{}, func(t *testing.T, r *rig) {
		manager := func(identity string, seen *reconcileLog) *controller.Manager {
			var err error
			elector, err = lease.New(r.client, key{Namespace: "web", Name: "lease"}, lease.Options{Identity: identity})
			require.NoError(t, err)
			m, err := controller.New(r.client, controller.Options{Elector: elector, Logger: slog.New(slog.DiscardHandler)})
			require.NoError(t, err)
			maps := controller.For[*configMap](m, rest.ResourceOptions{})
			controller.Manage(m, "maps", maps, func(_ context.Context, m *configMap) (controller.Result, error) {
				seen.add(m.Name)
				return controller.Done, nil
			}, controller.Settings[*configMap]{})
			return m
		}
		start := func(m *controller.Manager) (stop func()) {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- m.Run(ctx) }()
			return func() { cancel(); require.NoError(t, <-ended) }
		}
		r.create(newMap("a"))
		stopFirst := start(manager("first", &first))
		r.waitIdle()
		stopSecond := start(manager("second", &second))
		r.create(newMap("b"))
		r.waitIdle()
		require.Equal(t, []string{"a", "b"}, first.take())
		require.Empty(t, second.take())
		stopFirst() // stopFirst also releases the lease
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"a", "b"}, second.take())
		stopSecond()
	})
}

// The program's log handler may call the manager, for example to log whether it is ready.
func TestLoggerMayCallTheManager(t *testing.T) {
	client, err := rest.NewClient(rest.Config{Host: "http://127.0.0.1:1"}, rest.Options{})
	require.NoError(t, err)
	defer client.Close()
	var m *controller.Manager
	asked := make(chan string, 10)
	m, err = controller.New(client, controller.Options{Logger: slog.New(slog.NewTextHandler(writer(func(line string) {
		_ = m.Status()
		asked <- line
	}), nil))})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	require.Eventually(t, func() bool { return m.Status().Stage == controller.Leading }, time.Minute, time.Millisecond)
	late := make(chan struct{})
	go func() { // All of these calls come too late, and are logged.
		defer close(late)
		m.Add("late", func(context.Context) error { return nil }, controller.PartOptions{})
		m.Handle("GET /late", http.NotFoundHandler())
		controller.Manage(m, "late", controller.For[*configMap](m, rest.ResourceOptions{}), func(context.Context, *configMap) (controller.Result, error) {
			return controller.Done, nil
		}, controller.Settings[*configMap]{})
	}()
	select {
	case <-late:
	case <-time.After(20 * time.Second):
		t.Fatal("the manager holds its lock while it logs")
	}
	require.GreaterOrEqual(t, len(asked), 3)
	stop()
	require.NoError(t, <-ended)
}

// Run waits for the requests in progress; their contexts end with Run. The manager logs their
// panics.
func TestEndpointsEndWithRun(t *testing.T) {
	client, err := rest.NewClient(rest.Config{Host: "http://127.0.0.1:1"}, rest.Options{})
	require.NoError(t, err)
	defer client.Close()
	address, panicked := make(chan string, 1), make(chan string, 1)
	m, err := controller.New(client, controller.Options{Serve: "127.0.0.1:0", Logger: slog.New(slog.NewTextHandler(writer(func(line string) {
		if _, after, ok := strings.Cut(line, "address="); ok {
			address <- strings.TrimSpace(after)
		}
		if strings.Contains(line, "a bug") {
			panicked <- line
		}
	}), nil))})
	require.NoError(t, err)
	busy := make(chan struct{})
	over := false // The race detector checks accesses to it.
	m.Handle("GET /profile", http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		close(busy)
		<-q.Context().Done()
		time.Sleep(50 * time.Millisecond)
		over = true
	}))
	m.Handle("GET /broken", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a bug") }))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	at := <-address
	ask := func(path string) {
		response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(httptest.NewRequest(http.MethodGet, "http://"+at+path, nil).WithContext(t.Context()))
		if err == nil {
			_ = response.Body.Close()
		}
	}
	ask("/broken")
	select {
	case <-panicked:
	case <-time.After(20 * time.Second):
		t.Error("a panic of an endpoint is not in the manager's log")
	}
	asking := make(chan struct{})
	go func() { defer close(asking); ask("/profile") }()
	<-busy
	stop()
	require.NoError(t, <-ended)
	require.True(t, over)
	<-asking
}
