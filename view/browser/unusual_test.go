package browser

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/memory"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/testing/fakesource"
	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/workqueue"
)

func (p *tab) playFast(name, text string) {
	p.t.Helper()
	p.openFile(name, text)
	p.until(`document.querySelector("#player .name").textContent.startsWith(` + quote(name) + `)`)
	eval[any](p, `{ const s = document.getElementById("speed"); s.value = "10"; s.dispatchEvent(new Event("change")); }`)
}

// Unknown words are drawn like any others, even if JavaScript objects have members of the same
// name. If something cannot be drawn, the page says so and continues.
func TestRecordingsWithUnusualNames(t *testing.T) {
	all, err := os.ReadFile(fixture)
	require.NoError(t, err)
	text := string(all)
	r := start(t, 3, nil)
	p := r.open(t, 1400, 900)
	said := func(text string) string {
		return `document.getElementById("said").textContent.includes(` + quote(text) + `)`
	}
	eval[any](p, `document.getElementById("tab-relist").click()`)
	for _, word := range []string{"constructor", "__proto__", "toString", "another"} {
		odd := text
		for _, kind := range []string{"ADDED", "MODIFIED", "DELETED", "Updated", "Deleted", "Replaced", "unchanged", "initial", "Sync"} {
			odd = strings.ReplaceAll(odd, `"kind":"`+kind+`"`, `"kind":"`+word+`"`)
		}
		odd = strings.NewReplacer(`"pods"`, quote(word), `"versions":{`, `"versions":{"`+word+`":"1",`, `"keys":{`, `"keys":{"`+word+`1":{"all":1},`).Replace(odd)
		p.playFast(word, odd)
		p.until(`document.getElementById("state").textContent === "recording, at its end"`)
		p.until(valueOf("store.objects") + ` === 4`)
	}
	p.openFile("levels", strings.ReplaceAll(text, `"all":0`, `"all":0,"levels":5`))
	p.until(said("levels, line 2: frame.keys is missing, or has a wrong"))
	p.openFile("coalesced", strings.ReplaceAll(text, `"coalesced":0,"panics":0,"wait"`, `"coalesced":{"valueOf":1},"panics":0,"wait"`))
	p.until(said("coalesced, line 2: frame.handlers is missing, or has a wrong"))

	p.openFile("boxes", strings.Replace(text, `"id":"server"`, `"id":"another"`, 1))
	p.until(said("✗ boxes cannot be drawn at ") + ` && document.getElementById("state").textContent === "recording, cannot be drawn"`)
	eval[any](p, `[...document.querySelectorAll("#player button")].find((b) => b.textContent === "Close").click()`)
	p.until(`document.getElementById("state").dataset.state === "live"`)
	p.until(valueOf("store.objects") + ` === 3`)
}

// Seeking to a time restarts the pictures, and removes all traces of the old ones.
func TestSeekResetsThePictures(t *testing.T) {
	text, err := os.ReadFile(fixture)
	require.NoError(t, err)
	r := start(t, 3, nil)
	p := r.open(t, 1400, 900)
	p.openFile("seen", string(text))
	p.until(`document.getElementById("state").dataset.state === "replay"`)
	nodes := func() int {
		eval[any](p, `for (let n = 0; n < 50; n++) { const s = document.querySelector("#player input"); s.value = n * 10; s.dispatchEvent(new Event("input")); }`)
		_, err := chromedp.Call(p.ctx, heapprofiler.CollectGarbage, cdp.Empty{})
		require.NoError(t, err)
		counted, err := chromedp.Call(p.ctx, memory.GetDOMCounters, cdp.Empty{})
		require.NoError(t, err)
		return int(counted.Nodes)
	}
	first := nodes()
	nodes()
	require.Less(t, nodes(), first+first/2)
}

// The colours of the drawing follow the browser's setting while the page is open.
func TestColoursFollowTheBrowser(t *testing.T) {
	r := start(t, 3, nil)
	p := r.open(t, 1400, 900, "prefers-color-scheme:light")
	const color = `document.querySelector('[data-number="store.objects"] .spark').dataset.color`
	p.until(color)
	light := eval[string](p, color)
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	require.NoError(t, err)
	p.until(color + ` !== ` + quote(light))
	require.Equal(t, eval[string](p, `getComputedStyle(document.querySelector('[data-number="store.objects"] .spark')).color`), eval[string](p, color))
}

// After a lost stream is restored, the page still has the earlier frames, and Save saves all of
// them.
func TestARecordingOutlivesALostStream(t *testing.T) {
	r := start(t, 3, nil)
	served := httptest.NewServer(r.view)
	t.Cleanup(served.Close)
	t.Cleanup(r.view.Close)
	p := newTab(t, 1400, 900)
	p.do(chromedp.Navigate(r.view.Address(served.URL + "/")))
	seq := `Number(document.getElementById("state").dataset.seq)`
	p.until(seq + ` > 0`)
	first := eval[int](p, seq)
	eval[any](p, `globalThis.saved = []; URL.createObjectURL = (b) => { b.text().then((t) => { globalThis.saved = t.trim().split("\n").map(JSON.parse); }); return "#"; }`)
	// The state is so short that polling could miss it.
	eval[any](p, `globalThis.lost = false; new MutationObserver(() => { globalThis.lost ||= document.getElementById("state").dataset.state === "lost"; }).observe(document.getElementById("state"), { attributes: true }); null`)
	served.CloseClientConnections()
	p.until(`globalThis.lost`)
	p.until(`document.getElementById("state").dataset.state === "live" && ` + seq + ` > ` + quote(first+5))
	eval[any](p, `document.getElementById("save").click()`)
	p.until(`globalThis.saved.length > 0`)
	require.LessOrEqual(t, eval[int](p, `globalThis.saved[1].frame.seq`), first)
	require.Equal(t, 1, eval[int](p, `globalThis.saved.filter((l) => l.hello).length`))
	p.mu.Lock()
	p.messages = nil // The browser's report of the lost connection is expected.
	p.mu.Unlock()
}

// Each pipeline offers its own queues in the list, for any number of pipelines.
func TestQueuesOfEachPipeline(t *testing.T) {
	v, err := view.New(view.Options{})
	require.NoError(t, err)
	for _, name := range []string{"a", "b"} {
		inf, err := informer.New(fakesource.New[*corev1.ConfigMap](), informer.Options[*corev1.ConfigMap]{Name: name, Logger: silent})
		require.NoError(t, err)
		view.Informer(v, inf)
		for _, queue := range []string{name + "-one", name + "-two"} {
			view.Queue(v, workqueue.New(workqueue.Options[string]{Name: queue, Logger: silent}), name)
		}
	}
	served := httptest.NewServer(v)
	t.Cleanup(served.Close)
	t.Cleanup(v.Close)
	p := newTab(t, 1400, 900)
	p.do(chromedp.Navigate(served.URL + "/"))
	const queues = `[...document.querySelectorAll("#queue option")].map((o) => o.value).join()`
	p.until(queues + ` === "a-one,a-two"`)
	eval[any](p, `const s = document.getElementById("pipeline"); s.value = "b"; s.dispatchEvent(new Event("change"))`)
	p.until(queues + ` === "b-one,b-two"`)
	require.Equal(t, "b-one", eval[string](p, `document.getElementById("queue").value`))
}

// An informer and its queue with the same name share one picture, and are one entry in the list.
func TestInformerAndQueueOfOneNameAreOneEntry(t *testing.T) {
	r := start(t, 3, nil)
	p := r.open(t, 1400, 900)
	p.until(`document.getElementById("pipeline").value === "pods"`)
	require.Equal(t, "pods", eval[string](p, `[...document.querySelectorAll("#pipeline option")].map((o) => o.value).join()`))
}
