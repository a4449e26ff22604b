package browser

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view/lab"
)

// laboratory runs a laboratory and opens its page in a tab.
func laboratory(t *testing.T, width, height int64, media ...string) (*lab.Lab, *tab) {
	t.Helper()
	l, err := lab.New(lab.Options{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	served := httptest.NewServer(l.View())
	t.Cleanup(served.Close)
	t.Cleanup(l.View().Close)
	return l, (&rig{view: l.View(), url: served.URL + "/"}).open(t, width, height, media...)
}

// shoot saves a screenshot of the small pictures in the directory KINFORM_SCREENSHOTS, for a
// developer to look at.
func (p *tab) shoot(name string) {
	p.t.Helper()
	dir := os.Getenv("KINFORM_SCREENSHOTS")
	if dir == "" {
		return
	}
	eval[any](p, `document.getElementById("small").scrollIntoView()`)
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600))
}

// The chart has a line with marks for each list method, and a table of the measurements.
func TestListComparisonIsDrawn(t *testing.T) {
	l, p := laboratory(t, 1440, 1200)
	p.key("j")
	require.Equal(t, "compare", eval[string](p, `document.getElementById("small-panel").dataset.small`))
	require.Contains(t, eval[string](p, `document.getElementById("small-panel").textContent`), "Press Compare lists")
	eval[any](p, `document.querySelector("#box-reflector [data-action=compare]").click()`)
	p.until(`document.getElementById("said").textContent.includes("watchlist of 2000 pods")`)
	p.until(`document.querySelectorAll("#small-panel circle.all").length === 3`)
	require.Equal(t, 3, eval[int](p, `document.querySelectorAll("#small-panel polyline.way").length`))
	require.Equal(t, 3, eval[int](p, `document.querySelectorAll("#small-panel circle.first").length`))
	table := eval[[][]string](p, `[...document.querySelectorAll("#small-panel tbody tr")].map((r) => [r.dataset.way, ...[...r.cells].map((c) => c.textContent)])`)
	require.Len(t, table, 3)
	for n, way := range l.Comparison().Methods {
		require.Equal(t, way.Name, table[n][0])
		require.NotContains(t, strings.Join(table[n], " "), "–")
		require.NotContains(t, strings.Join(table[n], " "), "…")
	}
	require.True(t, eval[bool](p, `(() => { const all = [...document.querySelectorAll("#small-panel svg text.way")].map((e) => e.getBoundingClientRect());
		return all.every((a, i) => all.every((b, j) => i >= j || a.bottom <= b.top + 2 || b.bottom <= a.top + 2)); })()`), "no name is on another")
	p.shoot("compare-light")
	eval[any](p, `document.querySelector("[data-action=reset]").click()`)
	p.until(`document.querySelectorAll("#small-panel polyline.way").length === 0 || document.querySelector("#small-panel svg").hasAttribute("hidden")`)
}

// On a phone in dark mode, the chart and its table fit on the screen.
func TestListComparisonOnAPhone(t *testing.T) {
	_, p := laboratory(t, 390, 844, "prefers-color-scheme:dark", "prefers-reduced-motion:reduce")
	eval[any](p, `document.getElementById("tab-compare").click(); document.querySelector("[data-action=compare]").closest(".action").querySelector("input").value = "300"; document.querySelector("[data-action=compare]").click()`)
	p.until(`document.querySelectorAll("#small-panel circle.all").length === 3`)
	require.True(t, eval[bool](p, `document.documentElement.scrollWidth <= innerWidth`))
	require.True(t, eval[bool](p, `(() => { const all = [...document.querySelectorAll("#small-panel svg text.caption")].map((e) => e.getBoundingClientRect());
		return all.every((a) => a.height >= 10 && a.left >= 0); })()`), "texts can be read")
	p.shoot("compare-dark-phone")
}

// The page draws malformed measurements as far as possible.
func TestMalformedComparisons(t *testing.T) {
	_, p := laboratory(t, 1000, 800)
	eval[any](p, `import("./compare.js").then(({ Compare }) => {
		const odd = [null, 7, {}, { ways: null }, { ways: "<b>" }, { ways: [null, 3, { name: "<img src=x onerror=alert(1)>", memory: null }] }, { objects: "<b>", ways: [{ name: "x", first: -1, all: 1e308, peak: "1", memory: [[0, 1], null, ["<b>", 1e308]] }] }];
		const c = new Compare({});
		document.body.append(c.node);
		for (const comparison of odd) { c.frame({ comparison }); c.draw(); }
		c.frame({});
		c.draw();
		document.body.dataset.drawn = odd.length;
	})`)
	p.until(`document.body.dataset.drawn === "7"`)
	require.Zero(t, eval[int](p, `document.querySelectorAll("img, tbody b:not([aria-hidden])").length`))
}

// shootPage is like shoot, for the visible part of the page.
func (p *tab) shootPage(name string) {
	p.t.Helper()
	dir := os.Getenv("KINFORM_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600))
}
