package browser

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/workqueue"
)

const allNumbers = `Object.fromEntries([...document.querySelectorAll("%s [data-number]")].map((e) => [e.dataset.number, e.dataset.value]))`

func TestPageMatchesTheStats(t *testing.T) {
	r := start(t, 40, nil)
	require.Eventually(t, func() bool { return r.queue.Stats().Dones == 40 }, time.Minute, 5*time.Millisecond)
	p := r.open(t, 1440, 900)
	p.key("t")
	p.until(`document.querySelector('#table [data-number="workers.done"]').dataset.value === "40"`)
	p.until(`document.querySelector('#picture [data-number="workers.done"]').dataset.value === "40"`)
	s, q := r.informer.Status(), r.queue.Stats()
	want := map[string]float64{
		"reflector.synced": 1, "reflector.listed": float64(s.Reflector.Listed), "reflector.watches": float64(s.Reflector.Watches), "reflector.lag": 0,
		"fifo.keys": 0, "fifo.queued": float64(s.Queue.Queued), "fifo.batches": float64(s.Queue.Batches),
		"store.objects": 40, "store.added": float64(s.Store.Added), "store.namespaces": 3, "store.indexes": 1,
		"handlers.delivered": float64(s.Handlers[0].Delivered), "handlers.waiting": 0,
		"queue.adds": float64(q.Adds), "queue.merged": float64(q.Merged), "queue.ready": 0,
		"workers.done": float64(q.Dones), "workers.workers": 4, "workers.failures": 0,
	}
	for _, where := range []string{"#picture", "#table"} {
		shown := eval[map[string]string](p, strings.ReplaceAll(allNumbers, "%s", where))
		for id, n := range want {
			require.Equal(t, n, number(t, shown[id]), "%s %s", where, id)
		}
	}
	require.Equal(t, "watching", eval[string](p, `document.querySelector("#box-reflector .box-state").textContent`))
	require.Equal(t, "a <i>test</i>", eval[string](p, `document.getElementById("title").textContent`))
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	var n float64
	require.NoError(t, parse(s, &n), "%q", s)
	return n
}

func TestKeyboardReachesEverything(t *testing.T) {
	r := start(t, 3, nil)
	p := r.open(t, 1200, 800)
	for n, box := range []string{"server", "reflector", "fifo", "store", "handlers", "queue", "workers"} {
		p.key(string(rune('1' + n)))
		require.Equal(t, "box-"+box, eval[string](p, `document.activeElement.id`))
	}
	for n, small := range []string{"rulers", "relist", "shelf", "lookup", "resync", "rings", "dial", "journey", "compare", "steps", "object"} {
		p.key(string("abcdefghjkm"[n]))
		require.Equal(t, small, eval[string](p, `document.getElementById("small-panel").dataset.small`))
	}
	p.key(" ")
	p.until(`document.getElementById("state").textContent === "held"`)
	p.key(" ")
	p.until(`document.getElementById("state").textContent === "live"`)
	p.key("?")
	require.True(t, eval[bool](p, `document.getElementById("keys").open`))
	p.key("\x1b")
	p.until(`!document.getElementById("keys").open`)
	p.key("i")
	p.until(`document.querySelectorAll("#all tbody tr").length === 2`)
	require.Contains(t, eval[string](p, `document.getElementById("all").textContent`), "fine")
	eval[any](p, `document.querySelector("#all .link").click()`)
	p.until(`!document.getElementById("picture").hidden && document.getElementById("all").hidden`)
}

// Each small picture opens from its box, and shows current events.
func TestSmallPictures(t *testing.T) {
	failing := types.NamespacedName{Namespace: "ns-0", Name: "fails"}
	r := start(t, 30, func(ctx context.Context, key types.NamespacedName) error {
		if key == failing {
			return errors.New("bad luck")
		}
		return nil
	})
	p := r.open(t, 1440, 1200)
	open := func(id string) {
		t.Helper()
		eval[any](p, `document.querySelector('#picture [data-small="`+id+`"]').click()`)
		require.Equal(t, id, eval[string](p, `document.getElementById("small-panel").dataset.small`))
	}
	has := func(text string) {
		t.Helper()
		p.until(`document.getElementById("small-panel").textContent.includes(` + quote(text) + `)`)
	}
	create := func(name string) {
		t.Helper()
		pod := &corev1.Pod{}
		pod.Namespace, pod.Name, pod.Spec.NodeName = "ns-0", name, "node-7"
		_, err := r.server.Create(pod)
		require.NoError(t, err)
	}
	open("shelf")
	create("fails")
	has("fails")
	open("dial")
	has("failures in a row")
	open("journey")
	create("goes")
	has("ns-0/goes: ADDED")
	has("with a worker")
	has("the watch delivered ADDED")
	open("rings")
	has("1 waiting")
	open("lookup")
	has("node")
	eval[any](p, `[...document.querySelectorAll(".index button")].find((b) => b.textContent.startsWith("node-7")).click()`)
	has("Look-up: ")
	has("ns-0/goes")
	open("rulers")
	p.until(`document.getElementById("small-panel").textContent.includes("store " + document.querySelector("#box-server .box-state").textContent)`)
	open("relist")
	// The reflector retries after the first 410.
	r.server.Inject(apitest.Fault{Verb: "watch", Times: 2, Action: apitest.Expired()})
	r.server.DropWatches("pods")
	has("The last list: 32 objects")
	has("unchanged, not decoded")
	open("resync")
	has("1 relist, ")
}

// Names, keys and errors from outside are plain text, whatever they contain.
func TestHostileTextsArePlainText(t *testing.T) {
	r := start(t, 1, nil)
	hostile := []string{
		`<img src=x onerror="document.title='taken'">`, `"><script>document.title='taken'</script>`, `';alert(1)//`, "\u202Eflipped\x00\x1b[31m", strings.Repeat("long", 5000), `${1+1}`,
	}
	jobs := workqueue.New(view.QueueOptions(r.view, workqueue.Options[string]{Name: hostile[0], Logger: silent}))
	view.Queue(r.view, jobs, "pods")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- jobs.Run(ctx, 1, func(_ context.Context, key string) error { return errors.New(key) })
	}()
	defer func() { cancel(); require.NoError(t, <-ended) }()
	p := r.open(t, 1000, 800)
	p.until(`!document.getElementById("queue-choice").hidden`)
	eval[any](p, `const s = document.getElementById("queue"); s.selectedIndex = 1; s.dispatchEvent(new Event("change"))`)
	for _, small := range []string{"dial", "journey", "rings", "shelf"} {
		eval[any](p, `document.getElementById("tab-`+small+`").click()`)
		for _, text := range hostile {
			jobs.Add(text)
		}
		if small == "dial" {
			p.until(`document.getElementById("small-panel").textContent.includes("failures in a row")`)
		}
		time.Sleep(300 * time.Millisecond)
	}
	require.NotContains(t, eval[string](p, `document.title`), "taken")
	require.Zero(t, eval[int](p, `document.querySelectorAll("img, iframe, script:not([src='main.js'])").length`))
	require.True(t, eval[bool](p, `document.documentElement.scrollWidth <= innerWidth`), "long texts must not widen the page")
	require.Equal(t, hostile[0], eval[string](p, `document.querySelector("#box-queue .box-name").textContent`))
}

// At three sizes, in light and dark: nothing is wider than the screen, and the console stays empty.
// With KINFORM_SCREENSHOTS, the test saves screenshots in that directory, for a person to look at.
func TestSizes(t *testing.T) {
	r := start(t, 200, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := r.server.Churn(ctx, apitest.ChurnOptions{PerSecond: 15, Pods: apitest.PodOptions{Namespaces: 3}})
		done <- err
	}()
	defer func() { cancel(); require.NoError(t, <-done) }()
	for name, size := range map[string][2]int64{"desktop": {1440, 1160}, "tablet": {820, 1180}, "phone": {390, 844}} {
		for _, scheme := range []string{"light", "dark"} {
			p := r.open(t, size[0], size[1], "prefers-color-scheme:"+scheme, "prefers-reduced-motion:"+map[string]string{"light": "no-preference", "dark": "reduce"}[scheme])
			p.until(`document.getElementById("cost").textContent.includes("costs")`)
			require.True(t, eval[bool](p, `document.documentElement.scrollWidth <= innerWidth`), "%s %s", name, scheme)
			require.Empty(t, eval[[]string](p, `[...document.querySelectorAll(".row dd")].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.parentElement.dataset.number)`), "%s: all numbers must fit", name)
			p.until(`(() => { const c = document.querySelector(".dots"); const copy = (globalThis.copy ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true })); copy.canvas.width = c.width; copy.canvas.height = c.height; copy.drawImage(c, 0, 0); const d = copy.getImageData(0, 0, c.width, c.height).data; for (let i = 3; i < d.length; i += 4) if (d[i]) return true; return false; })()`)
			if dir := os.Getenv("KINFORM_SCREENSHOTS"); dir != "" {
				time.Sleep(3 * time.Second)
				png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(dir, name+"-"+scheme+".png"), png, 0o600))
			}
		}
	}
}

// The page shows that the program is gone. It recovers when the program is back.
func TestProgramThatEnds(t *testing.T) {
	r := start(t, 1, nil)
	p := r.open(t, 1000, 800)
	r.view.Close()
	p.until(`document.getElementById("state").dataset.state === "lost"`)
}
