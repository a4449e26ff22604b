package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/view/lab"
)

// host is a way to serve the page. open returns a nil laboratory if the laboratory runs in the
// tab.
type host struct {
	name string
	open func(t *testing.T) (l *lab.Lab, address string)
}

// hosts are the two ways to serve the page: a server, and a folder of static files that contains
// the program. Everything has to work on both.
var hosts = []host{{"server", serveLab}, {"tab", serveSite}}

// serveLab runs a laboratory and returns the address of its page.
func serveLab(t *testing.T) (*lab.Lab, string) {
	t.Helper()
	l, err := lab.New(lab.Options{View: view.Options{IndexValues: true}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	served := httptest.NewServer(l.View())
	t.Cleanup(served.Close)
	t.Cleanup(l.View().Close)
	return l, l.View().Address(served.URL + "/")
}

// siteDir builds the folder of static files once for all tests.
var siteDir = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("KINFORM_SITE"); dir != "" {
		return dir, nil
	}
	dir, err := os.MkdirTemp("", "kinform-site")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "run", "./view/site", "-o", dir)
	cmd.Dir, cmd.Stderr = "../..", os.Stderr
	return dir, cmd.Run()
})

// serveSite serves the folder of static files below a path. It sends the policy of a strict host. A
// request for a missing file fails the test.
func serveSite(t *testing.T) (*lab.Lab, string) {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("there is no Chromium: apt-get install chromium")
	}
	dir, err := siteDir()
	require.NoError(t, err)
	var mu sync.Mutex
	var missing []string
	const path = "/some/folder/"
	files := http.StripPrefix(path, http.FileServer(http.Dir(dir)))
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'")
		if _, err := os.Stat(dir + "/" + strings.TrimPrefix(r.URL.Path, path)); err != nil {
			mu.Lock()
			missing = append(missing, r.URL.Path)
			mu.Unlock()
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		served.Close()
		mu.Lock()
		defer mu.Unlock()
		require.Empty(t, missing, "the page must request only files of the folder")
	})
	return nil, served.URL + path
}

// onEachHost(t, test) runs a test on the page of each host, one after another.
func onEachHost(t *testing.T, test func(t *testing.T, l *lab.Lab, p *tab)) {
	for _, h := range hosts {
		t.Run(h.name, func(t *testing.T) {
			l, address := h.open(t)
			p := newTabFor(t, 3*time.Minute, 1440, 1200)
			p.do(chromedp.Navigate(address))
			p.until(`Number(document.getElementById("state").dataset.seq) > 0 && !document.querySelector("[data-action=create]").disabled`)
			p.until(valueOf("store.objects") + ` === 20`)
			test(t, l, p)
			require.Empty(t, eval[[]string](p, `performance.getEntriesByType("resource").map((e) => e.name).filter((n) => !n.startsWith(new URL(".", location.href).href))`), "the page must load nothing from other origins")
		})
	}
}

// press presses a button of the laboratory, with pairs of inputs and values. It waits for the
// button's message and returns it.
func (p *tab) press(action string, inputs ...string) string {
	p.t.Helper()
	var set strings.Builder
	for n := 0; n+1 < len(inputs); n += 2 {
		fmt.Fprintf(&set, `form.querySelector("[name=%s]").value = %s;`, inputs[n], quote(inputs[n+1]))
	}
	eval[any](p, `{ const button = document.querySelector("[data-action=`+action+`]"), form = button.closest(".action"); `+set.String()+` document.getElementById("said").textContent = ""; button.click(); }`)
	p.until(`document.getElementById("said").textContent !== "" && !document.querySelector("[data-action=` + action + `]").disabled`)
	return eval[string](p, `document.getElementById("said").textContent`)
}

// Every button of the laboratory has its effect, according to the numbers of the page.
func TestEveryButton(t *testing.T) {
	for _, action := range buttons {
		require.NotEmpty(t, action.until, action.press)
	}
	onEachHost(t, func(t *testing.T, l *lab.Lab, p *tab) {
		left := map[string]bool{}
		for _, id := range eval[[]string](p, `[...document.querySelectorAll("[data-action]")].map((b) => b.dataset.action)`) {
			left[id] = true
		}
		require.Len(t, left, len((&lab.Lab{}).Actions()), "each action must have a button")
		for _, b := range buttons {
			eval[any](p, `globalThis.was = Object.fromEntries([...document.querySelectorAll("#picture [data-number]")].map((e) => [e.dataset.number, Number(e.dataset.value)]))`)
			said := p.press(b.press, b.inputs...)
			require.NotContains(t, said, "✗", "%s", b.press)
			delete(left, b.press)
			p.until(`((n, was, state) => ` + b.until + `)(Object.fromEntries([...document.querySelectorAll("#picture [data-number]")].map((e) => [e.dataset.number, Number(e.dataset.value)])), globalThis.was, document.getElementById("state").textContent)`)
		}
		require.Empty(t, left, "the test must press all buttons")
		p.requireNumbers(l)
	})
}

// requireNumbers waits until the numbers stop changing. Then the page must show the same numbers as
// Status, Stats and the server.
func (p *tab) requireNumbers(l *lab.Lab) {
	p.t.Helper()
	p.press("reset")
	p.until(valueOf("queue.delayed") + ` === 0 && ` + valueOf("queue.dirty") + ` === 0 && ` + valueOf("handlers.waiting") + ` === 0`)
	if l == nil {
		p.until(valueOf("store.objects") + ` === ` + valueOf("server.objects"))
		return
	}
	s := l.Status()
	for id, want := range map[string]float64{
		"server.objects": float64(l.Store().Len()), "reflector.relists": float64(s.Reflector.Relists), "reflector.events": float64(s.Reflector.Events),
		"reflector.watches": float64(s.Reflector.Watches), "reflector.listed": float64(s.Reflector.Listed), "fifo.queued": float64(s.Queue.Queued),
		"fifo.batches": float64(s.Queue.Batches), "store.objects": float64(s.Store.Objects), "store.added": float64(s.Store.Added),
		"store.updated": float64(s.Store.Updated), "store.deleted": float64(s.Store.Deleted), "handlers.delivered": float64(s.Handlers[0].Delivered),
		"handlers.coalesced": float64(s.Handlers[0].Coalesced),
	} {
		p.until(valueOf(id) + fmt.Sprintf(` === %v`, want))
	}
	p.until(`document.querySelector("#box-server .box-state").textContent === ` + quote(l.Server().ResourceVersion()))
}

// buttons are pressed in this order. The field until is a condition. In it, n has the current
// numbers, was has the numbers before the press, and state has the settings that differ from the
// initial ones.
var buttons = []struct {
	press  string
	inputs []string
	until  string
}{
	{"create", []string{"n", "5"}, `n["store.objects"] === was["store.objects"] + 5`},
	{"update", []string{"n", "3"}, `n["store.updated"] === was["store.updated"] + 3`},
	{"delete", []string{"n", "2"}, `n["store.deleted"] === was["store.deleted"] + 2 && n["server.objects"] === was["server.objects"] - 2`},
	{"burst", []string{"n", "20"}, `n["reflector.events"] === was["reflector.events"] + 20`},
	{"hot", []string{"n", "100"}, `n["reflector.events"] > was["reflector.events"] + 30 && state.includes("hot: 100")`},
	{"hot", []string{"n", "0"}, `!state.includes("hot")`},
	{"rate", []string{"n", "50"}, `n["store.revision"] > was["store.revision"] + 10 && state.includes("rate: 50")`},
	{"rate", []string{"n", "0"}, `!state.includes("rate")`},
	{"other", []string{"n", "40"}, `n["server.objects"] === n["store.objects"]`},
	{"drop", nil, `n["reflector.watches"] === was["reflector.watches"] + 1`},
	{"expire", nil, `n["reflector.relists"] === was["reflector.relists"] + 1 && n["reflector.expired"] > was["reflector.expired"]`},
	{"vanish", []string{"n", "3"}, `n["store.objects"] === was["store.objects"] - 3 && n["reflector.relists"] > was["reflector.relists"]`},
	{"throttle", []string{"n", "1"}, `n["reflector.watches"] > was["reflector.watches"]`},
	{"delay", []string{"ms", "50"}, `state.includes("delay: 50ms")`},
	{"delay", []string{"ms", "0"}, `!state.includes("delay")`},
	{"skip", []string{"n", "1"}, `state.includes("lose: 1")`},
	{"create", []string{"n", "1"}, `n["server.objects"] === n["store.objects"] + 1`},
	{"relist", nil, `n["reflector.relists"] > was["reflector.relists"] && n["server.objects"] === n["store.objects"]`},
	{"fetch", []string{"how", "paged"}, `state.includes("snapshot by: paged") && n["store.objects"] === n["server.objects"]`},
	{"encoding", []string{"encoding", "json"}, `state.includes("encoding: json") && n["store.objects"] === n["server.objects"]`},
	{"omit", []string{"parts", "status and managedFields"}, `state.includes("left out: status") && n["store.omitted"] > 0 && n["store.objects"] === n["server.objects"]`},
	{"policy", []string{"overflow", "block"}, `state.includes("mailbox: block") && n["store.objects"] === n["server.objects"]`},
	{"crash", nil, `n["reflector.watches"] <= 2 && n["store.objects"] === n["server.objects"]`},
	{"compare", []string{"n", "100"}, `n["store.objects"] > 0`},
	{"resync", nil, `n["handlers.resyncs"] >= was["handlers.resyncs"] + n["store.objects"]`},
	{"slow", []string{"ms", "500"}, `state.includes("slow: 500ms")`},
	{"burst", []string{"n", "12"}, `n["handlers.waiting"] >= 5 && n["handlers.oldest"] > 0.3`},
	{"slow", []string{"ms", "0"}, `n["handlers.waiting"] === 0`},
	{"workers", []string{"n", "16"}, `n["workers.workers"] === 16 && state.includes("workers: 16")`},
	{"work", []string{"ms", "1500"}, `state.includes("work: 1.5s")`},
	{"update", []string{"n", "6"}, `n["queue.processing"] === 6 && n["workers.longest"] > 0.2`},
	{"work", []string{"ms", "0"}, `n["queue.processing"] === 0`},
	{"fail", []string{"percent", "100"}, `state.includes("fail: 100 %")`},
	{"burst", []string{"n", "1"}, `n["workers.failures"] >= was["workers.failures"] + 3 && n["queue.tokens"] < 99`},
	{"fail", []string{"percent", "0"}, `n["queue.delayed"] === 0`},
	{"pause", []string{"stage", "watch"}, `state.includes("paused: watch")`},
	{"burst", []string{"n", "1"}, `n["reflector.lag"] >= 1`},
	{"step", []string{"stage", "watch"}, `true`},
	{"resume", []string{"stage", "watch"}, `n["reflector.lag"] === 0 && !state.includes("paused")`},
	{"pause", []string{"stage", "fifo"}, `state.includes("paused: fifo")`},
	{"burst", []string{"n", "3"}, `n["fifo.keys"] + n["fifo.inflight"] >= 1 && n["store.lag"] >= 1`},
	{"step", []string{"stage", "fifo"}, `n["store.revision"] > was["store.revision"]`},
	{"resume", []string{"stage", "fifo"}, `n["store.lag"] === 0`},
	{"pause", []string{"stage", "handlers"}, `state.includes("paused: handlers")`},
	{"burst", []string{"n", "4"}, `n["handlers.waiting"] >= 3`},
	{"step", []string{"stage", "handlers"}, `n["handlers.delivered"] === was["handlers.delivered"] + 1`},
	{"resume", []string{"stage", "handlers"}, `n["handlers.waiting"] === 0`},
	{"pause", []string{"stage", "workers"}, `state.includes("paused: workers")`},
	{"update", []string{"n", "8"}, `n["queue.dirty"] + n["queue.processing"] >= 8`},
	{"step", []string{"stage", "workers"}, `n["workers.done"] === was["workers.done"] + 1`},
	{"resume", []string{"stage", "workers"}, `n["queue.dirty"] + n["queue.processing"] === 0`},
	{"reset", nil, `state === "live"`},
}

// Each picture opens from its box and by its letter, and shows the latest events.
func TestEveryPicture(t *testing.T) {
	onEachHost(t, func(t *testing.T, _ *lab.Lab, p *tab) {
		for n, box := range []string{"server", "reflector", "fifo", "store", "handlers", "queue", "workers"} {
			p.key(string(rune('1' + n)))
			require.Equal(t, "box-"+box, eval[string](p, `document.activeElement.id`))
			require.NotEmpty(t, eval[string](p, `document.querySelector("#box-`+box+` h2").textContent`))
			require.Positive(t, eval[int](p, `document.querySelectorAll("#box-`+box+` .row:not([hidden])").length`))
			require.Positive(t, eval[int](p, `document.querySelectorAll("#box-`+box+` [data-small]").length`), "%s must have a button for a picture", box)
		}
		all := eval[[]string](p, `[...document.querySelectorAll("#picture [data-small]")].map((b) => b.dataset.small)`)
		require.Len(t, all, len(pictures))
		for _, picture := range pictures {
			require.Contains(t, all, picture.id)
			p.key(picture.letter)
			require.Equal(t, picture.id, eval[string](p, `document.getElementById("small-panel").dataset.small`))
			eval[any](p, `document.getElementById("tab-rulers").click()`)
			eval[any](p, `document.querySelector('#picture [data-small="`+picture.id+`"]').click()`)
			require.Equal(t, picture.id, eval[string](p, `document.getElementById("small-panel").dataset.small`))
			for _, press := range picture.press {
				p.press(press[0], press[1:]...)
			}
			for _, click := range picture.click {
				p.until(`document.querySelector(` + quote(click) + `)`)
				eval[any](p, `document.querySelector(`+quote(click)+`).click()`)
			}
			for _, until := range picture.until {
				p.until(`((panel, text) => ` + until + `)(document.getElementById("small-panel"), document.getElementById("small-panel").textContent)`)
			}
			require.True(t, eval[bool](p, `document.documentElement.scrollWidth <= innerWidth`), picture.id)
			if t.Name() == "TestEveryPicture/server" {
				p.shoot("small-" + picture.id)
			}
			p.press("reset")
			p.until(valueOf("queue.delayed") + ` === 0`)
		}
	})
}

// pictures has, for each picture, the actions that lead to events, and what the picture then shows.
var pictures = []struct {
	id, letter string
	press      [][]string
	click      []string
	until      []string
}{
	{"rulers", "a", [][]string{{"delay", "ms", "700"}, {"burst", "n", "2"}}, nil, []string{
		`text.includes("The write is version")`, `panel.querySelector("[data-stage=server].passed") && !panel.querySelector("[data-stage=store].passed")`,
		`panel.querySelector("[data-stage=store].passed") && text.includes("store ✓")`,
	}},
	{"relist", "b", [][]string{{"vanish", "n", "2"}}, nil, []string{`text.includes("The last list")`, `text.includes("2 missing: deleted while nobody watched")`,
		`panel.querySelectorAll("[data-side=before] .how-missing").length === 2 && panel.querySelectorAll("[data-side=after] .how-missing").length === 0`}},
	{"shelf", "c", [][]string{{"pause", "stage", "fifo"}, {"burst", "n", "1"}, {"burst", "n", "3"}}, nil, []string{`panel.querySelectorAll(".tray .delta").length >= 2`}},
	{"lookup", "d", nil, []string{`#small-panel .index button`}, []string{`text.includes("Look-up: ") && text.includes("times as long")`, `panel.querySelectorAll(".posting").length > 0`}},
	{"resync", "e", [][]string{{"resync"}}, nil, []string{`/[1-9][0-9]* calls of handlers/.test(text)`}},
	{"rings", "f", [][]string{{"work", "ms", "3000"}, {"burst", "n", "1"}, {"burst", "n", "1"}}, nil, []string{`text.includes("1 processing")`, `panel.querySelectorAll(".chip").length >= 1`}},
	{"dial", "g", [][]string{{"fail", "percent", "100"}, {"create", "n", "60"}, {"update", "n", "60"}}, nil, []string{`text.includes("failures in a row")`,
		`panel.querySelector(".tank.dry") && text.includes("The tank is dry")`, `text.includes("the tank decided")`}},
	{"journey", "h", [][]string{{"burst", "n", "1"}}, nil, []string{`text.includes("with a worker") && text.includes("the watch delivered MODIFIED")`, `panel.querySelectorAll(".waterfall tr").length >= 7`}},
	{"compare", "j", [][]string{{"compare", "n", "200"}}, nil, []string{`panel.querySelectorAll("circle.all").length === 3`}},
	{"steps", "k", nil, []string{`.replies [data-reply="410 Gone"]`}, []string{`panel.querySelectorAll(".steps-log > li").length === 1`}},
	{"object", "m", [][]string{{"omit", "parts", "status and managedFields"}}, nil, []string{
		`panel.querySelector('[data-path="status.phase"].left-out') && text.includes("✗ left out")`, `/Saves [1-9][0-9]? %/.test(text)`, `panel.querySelector('[data-path="spec.nodeName"] code').textContent.length > 2`,
	}},
}

// A user chooses an object, and more fields to leave out.
func TestObjectDiff(t *testing.T) {
	onEachHost(t, func(t *testing.T, _ *lab.Lab, p *tab) {
		p.key("m")
		p.until(`document.querySelectorAll(".fields tbody tr").length > 10`)
		saved := `document.querySelector(".object .total").dataset.saved`
		require.Equal(t, "0 %", eval[string](p, saved))
		eval[any](p, `document.querySelector("[data-without=status]").click()`)
		p.until(saved + ` !== "0 %" && document.querySelector('[data-path="status.phase"].left-out')`)
		status := eval[string](p, saved)
		eval[any](p, `document.querySelector('[data-without="all but metadata"]').click()`)
		require.NotEqual(t, status, eval[string](p, saved))
		require.Equal(t, "left-out", eval[string](p, `document.querySelector('[data-path="spec.containers"]').className`))
		eval[any](p, `document.querySelector('[data-without="all but metadata"]').click(); document.querySelector("[data-without=status]").click()`)
		require.Equal(t, "0 %", eval[string](p, saved))
		eval[any](p, `{ const s = document.querySelector(".object-tools select"); s.selectedIndex = 3; s.dispatchEvent(new Event("change")); }`)
		p.until(`document.querySelector(".object .counts").textContent.startsWith(document.querySelector(".object-tools select").value + ": ")`)
		sum := eval[[]int](p, `["raw", "stored"].map((of) => [...document.querySelectorAll(".fields tbody tr")].reduce((sum, r) => sum + Number(r.dataset[of]), 0))`)
		require.Equal(t, sum[0], sum[1], "both sides must have the same size")
	})
}

// The program in the tab starts soon, and handles a thousand pods.
func TestProgramInTheTabStartsQuickly(t *testing.T) {
	_, address := serveSite(t)
	p := newTab(t, 1440, 1100)
	began := time.Now()
	p.do(chromedp.Navigate(address))
	p.until(`Number(document.getElementById("state").dataset.seq) > 0 && !document.querySelector("[data-action=create]").disabled`)
	t.Logf("the page is interactive after %v", time.Since(began))
	p.until(valueOf("store.objects") + ` === 20`)
	began = time.Now()
	p.press("create", "n", "980")
	p.until(valueOf("store.objects") + ` === 1000 && ` + valueOf("workers.done") + ` >= 1000`)
	t.Logf("980 more pods are synced after %v", time.Since(began))
	began = time.Now()
	p.press("crash")
	p.until(valueOf("store.objects") + ` === 1000 && ` + valueOf("reflector.synced") + ` === 1`)
	t.Logf("another informer has the 1,000 pods after %v", time.Since(began))
}
