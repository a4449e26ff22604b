package browser

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/workqueue"
)

var silent = slog.New(slog.DiscardHandler)

// rig is a whole pipeline with an API server in the same process, and a page that shows the
// pipeline.
type rig struct {
	server   *apitest.Server
	view     *view.View
	informer *informer.Informer[*corev1.Pod]
	queue    *workqueue.Queue[types.NamespacedName]
	url      string
}

// start runs a pipeline with this number of pods. The argument reconcile may be nil.
func start(t *testing.T, pods int, reconcile func(context.Context, types.NamespacedName) error, change ...func(*view.Options)) *rig {
	t.Helper()
	r := &rig{server: apitest.New(apitest.Options{})}
	t.Cleanup(r.server.Close)
	require.NoError(t, r.server.Listen("127.0.0.1:0"))
	require.NoError(t, apitest.Populate(r.server, apitest.Pods(pods, apitest.PodOptions{Namespaces: 3})))
	var err error
	opts := view.Options{Title: "a <i>test</i>", IndexValues: true, Server: func() view.Server {
		return view.Server{ResourceVersion: r.server.ResourceVersion(), Oldest: r.server.OldestResourceVersion(), Objects: -1}
	}}
	for _, c := range change {
		c(&opts)
	}
	r.view, err = view.New(opts)
	require.NoError(t, err)
	client, err := rest.NewClient(rest.Config{Host: r.server.URL()}, rest.Options{Logger: silent})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	source, err := rest.For[*corev1.Pod](client, rest.ResourceOptions{})
	require.NoError(t, err)
	r.informer, err = informer.New(source, view.InformerOptions(r.view, informer.Options[*corev1.Pod]{Name: "pods", Logger: silent,
		Store: indexer.Options[*corev1.Pod]{Indexes: map[string]indexer.IndexFunc[*corev1.Pod]{
			"node": func(p *corev1.Pod) ([]string, error) { return []string{p.Spec.NodeName}, nil },
		}}}))
	require.NoError(t, err)
	r.queue = workqueue.New(view.QueueOptions(r.view, workqueue.Options[types.NamespacedName]{Name: "pods", Logger: silent}))
	_, err = r.informer.AddHandler(enqueue.Object[*corev1.Pod](r.queue), informer.HandlerOptions{Name: "enqueue"})
	require.NoError(t, err)
	view.Informer(r.view, r.informer)
	view.Queue(r.view, r.queue, "pods")
	r.view.Client(client)
	if reconcile == nil {
		reconcile = func(context.Context, types.NamespacedName) error { return nil }
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- r.informer.Run(ctx) }()
	go func() { ended <- r.queue.Run(ctx, 4, reconcile) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, <-ended)
	})
	require.NoError(t, r.informer.WaitForSync(ctx))
	served := httptest.NewServer(r.view)
	t.Cleanup(served.Close)
	t.Cleanup(r.view.Close)
	r.url = served.URL + "/view/"
	return r
}

// browser starts one browser for all tests, with a tab for each test. Tests run one after another,
// because a background tab does not draw.
var browser = sync.OnceValues(func() (context.Context, func()) {
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true))
	ctx, end := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, closed := chromedp.NewContext(ctx)
	return ctx, func() { closed(); end() }
})

// tab is a browser tab that shows the page.
type tab struct {
	t   *testing.T
	ctx context.Context

	heard chan struct{} // closed after endMarker, or when the console ends

	mu       sync.Mutex // guards following
	allowed  []string   // parts of messages that the test causes on purpose
	messages []string   // all other messages in the console: errors and policy violations
}

// endMarker is the final message in the console.
const endMarker = "the test has ended"

// allow names the messages that the test is about to cause. Call allow before the action, because
// the browser delivers messages with a delay.
func (p *tab) allow(parts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowed = append(p.allowed, parts...)
}

// collectConsole reads the console up to the message endMarker. If reading fails before the end
// marker, the failure counts as a message.
func (p *tab) collectConsole(console iter.Seq2[chromedp.ConsoleMessage, error]) {
	defer close(p.heard)
	for m, err := range console {
		if err == nil && m.Text == endMarker {
			return
		}
		p.mu.Lock()
		switch {
		case err != nil:
			p.messages = append(p.messages, err.Error())
		case !slices.ContainsFunc(p.allowed, func(part string) bool { return strings.Contains(m.Text, part) }):
			p.messages = append(p.messages, fmt.Sprintf("%s: %s (%s:%d)", m.Type, m.Text, m.URL, m.Line))
		}
		p.mu.Unlock()
	}
}

// requireQuiet reads the console to its end. It fails if the console has messages that are not
// allowed.
func (p *tab) requireQuiet() {
	p.t.Helper()
	eval[any](p, `console.log(`+quote(endMarker)+`)`)
	<-p.heard
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.messages, "the console of the page must be empty")
}

// open opens the page in a tab. Any message in its console fails the test.
func (r *rig) open(t *testing.T, width, height int64, media ...string) *tab {
	t.Helper()
	p := newTab(t, width, height, media...)
	p.do(chromedp.Navigate(r.view.Address(r.url)))
	p.until(`document.getElementById("state").dataset.state === "live" && Number(document.getElementById("state").dataset.seq) > 0`)
	return p
}

func newTab(t *testing.T, width, height int64, media ...string) *tab {
	t.Helper()
	return newTabFor(t, 4*time.Minute, width, height, media...)
}

// newTabFor opens a tab that is closed after the given time.
func newTabFor(t *testing.T, while time.Duration, width, height int64, media ...string) *tab {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("there is no Chromium: apt-get install chromium")
	}
	all, _ := browser()
	require.NoError(t, chromedp.Do(all)) // The first tab starts the browser.
	ctx, cancel := chromedp.NewContext(all)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, while)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, heard: make(chan struct{})}
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, height)))
	features := []*emulation.MediaFeature{}
	for _, m := range media {
		name, value, _ := strings.Cut(m, ":")
		features = append(features, &emulation.MediaFeature{Name: name, Value: value})
	}
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	require.NoError(t, err)
	console := chromedp.Console(ctx)
	go p.collectConsole(console)
	t.Cleanup(p.requireQuiet)
	return p
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, actions...))
}

// key presses and releases keys. A key and its character go to the browser in one command.
// chromedp.KeyEvent sends two commands. On a busy machine, a page that has handled the key may then
// still get the character, and scrolls at a space.
func (p *tab) key(keys string) {
	p.t.Helper()
	for _, r := range keys {
		events := kb.Encode(r)
		down, up := events[0], events[len(events)-1]
		if len(events) == 3 {
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		for _, event := range []*input.DispatchKeyEventParams{down, up} {
			_, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, *event)
			require.NoError(p.t, err, "key %q", r)
		}
	}
}

// eval evaluates an expression in the page.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	require.NoError(p.t, err, expression)
	return value
}

// until(expression) waits until an expression is true. A busy machine may need tens of seconds to
// draw a picture. An evaluation may fail while the browser reloads the page.
func (p *tab) until(expression string) {
	p.t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		holds, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && holds {
			return
		}
		if time.Since(began) > 90*time.Second || p.ctx.Err() != nil {
			require.NoError(p.t, err, expression)
			require.FailNow(p.t, "this does not come true", "%s\nstate: %s", expression, eval[string](p, `document.body.innerText.slice(0, 3000)`))
		}
	}
}
