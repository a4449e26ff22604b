package browser

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/internal/testing/fakesource"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/workqueue"
)

var hostileTexts = []string{
	`<img src=x onerror="document.title='taken'">`, `"><script>document.title='taken'</script>`, `';document.title='taken'//`, "\u202Eflipped\u2066", "\x00\x1b[31mred\x07\r\n", strings.Repeat("long-", 4000),
	`javascript:document.title='taken'`, `${document.title='taken'}`, "\xff\xfe\xc3", "<!--", `</option></select><b id=broken>`, "🙈\u200B\u0301\u0301\u0301",
}

// Names, labels, versions, handlers and errors from outside are plain text in every picture: no
// markup, no control characters, no change of the writing direction, no wider layout.
func TestHostileObjects(t *testing.T) {
	v, err := view.New(view.Options{Title: hostileTexts[0], IndexValues: true, Values: true})
	require.NoError(t, err)
	source := fakesource.New[*corev1.ConfigMap]()
	queue := workqueue.New(view.QueueOptions(v, workqueue.Options[types.NamespacedName]{Name: hostileTexts[1], Logger: silent}))
	inf, err := informer.New(source, view.InformerOptions(v, informer.Options[*corev1.ConfigMap]{Name: hostileTexts[10], Logger: silent,
		Store: indexer.Options[*corev1.ConfigMap]{Indexes: map[string]indexer.IndexFunc[*corev1.ConfigMap]{
			hostileTexts[0]: func(o *corev1.ConfigMap) ([]string, error) { return []string{o.Labels["of"]}, nil },
		}}}))
	require.NoError(t, err)
	_, err = inf.AddHandler(enqueue.Object[*corev1.ConfigMap](queue), informer.HandlerOptions{Name: hostileTexts[1]})
	require.NoError(t, err)
	view.Informer(v, inf)
	view.Queue(v, queue)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- inf.Run(ctx) }()
	go func() {
		ended <- queue.Run(ctx, 2, func(_ context.Context, key types.NamespacedName) error { return errors.New(key.Name) })
	}()
	served := httptest.NewServer(v)
	t.Cleanup(func() {
		v.Close()
		served.Close()
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, <-ended)
	})
	require.NoError(t, inf.WaitForSync(ctx))

	p := newTabFor(t, 2*time.Minute, 390, 844)
	p.do(chromedp.Navigate(served.URL + "/"))
	p.until(`Number(document.getElementById("state").dataset.seq) > 0`)
	send := func() {
		for _, text := range hostileTexts {
			o := &corev1.ConfigMap{Data: map[string]string{text: text}}
			o.Namespace, o.Name, o.Labels = text, text, map[string]string{"of": text}
			source.Events <- listwatch.Event[*corev1.ConfigMap]{Type: listwatch.Added, Item: listwatch.Item[*corev1.ConfigMap]{Key: types.NamespacedName{Namespace: text, Name: text}, Object: o, ResourceVersion: text}}
		}
	}
	for _, picture := range pictures {
		eval[any](p, `document.getElementById("tab-`+picture.id+`").click()`)
		send()
		switch picture.id {
		case "lookup":
			p.until(`document.querySelectorAll(".index button").length > 8`)
			eval[any](p, `document.querySelectorAll(".index button")[1].click()`)
			p.until(`document.querySelector(".posting")`)
		case "dial":
			p.until(`document.getElementById("small-panel").textContent.includes("failures in a row")`)
		case "object":
			p.until(`document.querySelectorAll(".fields tbody tr").length > 2`)
		}
		seq := eval[int](p, `Number(document.getElementById("state").dataset.seq)`)
		p.until(`Number(document.getElementById("state").dataset.seq) > ` + itoa(seq+5))
		require.Zero(t, eval[int](p, `document.querySelectorAll("img, iframe, b#broken, script:not([src='main.js'])").length`), picture.id)
		require.NotEqual(t, "taken", eval[string](p, `document.title`), picture.id)
		require.True(t, eval[bool](p, `document.documentElement.scrollWidth <= innerWidth`), "%s: long texts must not widen the page", picture.id)
		require.Equal(t, "", eval[string](p, `(document.body.textContent.match(/[\u0000-\u0009\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069\u200b]/) ?? [""])[0]`), picture.id)
		require.Less(t, eval[int](p, `Math.max(...[...document.querySelectorAll("#small-panel *")].filter((e) => !e.children.length).map((e) => e.textContent.length))`), 2200, "long texts must be cut")
	}
	p.shootPage("hostile-phone")
}

func itoa(n int) string { return strings.TrimSpace(quote(n)) }

// A page of another origin reads nothing, changes nothing, and cannot embed anything of this page.
func TestPagesOfOtherOrigins(t *testing.T) {
	l, address := serveLab(t)
	base, _, _ := strings.Cut(address, "#code=")
	token := l.View().Token()
	require.Eventually(t, func() bool { return l.Status().Store.Objects == 20 }, time.Minute, 5*time.Millisecond)
	before := l.Server().ResourceVersion()
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>evil</title><script>
			const base = ` + quote(base) + `, said = {};
			const note = (what) => [(r) => { said[what] = "got " + r.status + " " + r.type; }, (e) => { said[what] = "refused"; }];
			const post = { method: "POST", body: '{"action":"delete","values":{"n":"5"}}' };
			const all = [
				fetch(base + "parts").then(...note("parts")), fetch(base + "object").then(...note("object")),
				fetch(base + "do", { ...post, headers: { "Content-Type": "application/json", Authorization: "Bearer ` + token + `" } }).then(...note("do")),
				fetch(base + "do", { ...post, mode: "no-cors", headers: { "Content-Type": "text/plain" } }).then(...note("do blindly")),
				new Promise((done) => { const s = new EventSource(base + "stream"); s.onerror = () => { said.stream = "refused"; s.close(); done(); }; s.onmessage = () => { said.stream = "got"; done(); }; }),
				new Promise((done) => { const s = document.createElement("script"); s.src = base + "main.js"; s.onload = () => { said.script = "got"; done(); }; s.onerror = () => { said.script = "refused"; done(); }; document.head.append(s); }),
			];
			Promise.all(all).then(() => { globalThis.said = said; });
		</script>`))
	}))
	t.Cleanup(evil.Close)
	p := newTab(t, 800, 600)
	p.allow("net::ERR_FAILED", "net::ERR_BLOCKED_BY_RESPONSE.NotSameOrigin", "has been blocked by CORS policy")
	p.do(chromedp.Navigate(evil.URL))
	p.until(`globalThis.said`)
	require.Equal(t, map[string]string{"parts": "refused", "object": "refused", "do": "refused", "do blindly": "refused", "stream": "refused", "script": "refused"}, eval[map[string]string](p, `globalThis.said`),
		"the browser must refuse all requests, because the responses are only for pages of the same origin")
	require.Equal(t, before, l.Server().ResourceVersion(), "the other page must not write")
}
