package browser

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Every control has a name for screen readers: in every picture, in the tour, in the list of keys,
// and in the index.
func TestEveryControlHasAName(t *testing.T) {
	_, address := serveLab(t)
	p := newTab(t, 1440, 1000)
	p.do(chromedp.Navigate(address))
	p.until(`Number(document.getElementById("state").dataset.seq) > 0`)
	controls := map[string]bool{"button": true, "link": true, "combobox": true, "spinbutton": true, "textbox": true, "slider": true, "tab": true, "checkbox": true,
		"region": true, "dialog": true, "tabpanel": true, "image": true, "img": true, "table": false}
	seen := map[string]int{}
	look := func(where string) {
		t.Helper()
		tree, err := chromedp.Call(p.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		require.NoError(t, err)
		for _, node := range tree.Nodes {
			if node.Ignored || node.Role == nil {
				continue
			}
			var role, name string
			require.NoError(t, json.Unmarshal(node.Role.Value, &role))
			if node.Name != nil && node.Name.Value != nil {
				require.NoError(t, json.Unmarshal(node.Name.Value, &name))
			}
			if controls[role] {
				seen[role]++
				require.NotEmpty(t, name, "%s: a %s without a name: %+v", where, role, node.Properties)
			}
		}
	}
	for _, picture := range pictures {
		p.key(picture.letter)
		if picture.id == "object" {
			p.until(`document.querySelectorAll(".fields tbody tr").length > 5`)
		}
		look(picture.id)
	}
	p.key("t")
	look("table")
	p.key("?")
	look("keys")
	p.key("\x1b")
	p.key("l")
	p.until(`document.querySelector(".box.pointed")`)
	look("tour")
	p.key("\x1b")
	p.key("i")
	p.until(`document.querySelectorAll("#all tbody tr").length >= 1`)
	look("index")
	for _, role := range []string{"button", "combobox", "spinbutton", "tab", "tabpanel", "region"} {
		require.Positive(t, seen[role], "the page must have a control of role %s", role)
	}
}

// Tab visits all controls in the order of the page, and the focus is visible.
func TestTabGoesThroughThePage(t *testing.T) {
	_, address := serveLab(t)
	p := newTab(t, 1440, 1000)
	p.do(chromedp.Navigate(address))
	p.until(`Number(document.getElementById("state").dataset.seq) > 0`)
	all := eval[int](p, `[...document.querySelectorAll("a[href], button, select, input, [tabindex='0']")].filter((e) => e.checkVisibility() && !e.disabled).length`)
	seen := map[string]bool{}
	for range all + 5 {
		p.key("\t")
		at := eval[[]string](p, `(() => { const e = document.activeElement; e.dataset.visited ??= String(Math.random()); const s = getComputedStyle(e); return [e.dataset.visited, e.outerHTML.slice(0, 160), s.outlineStyle + " " + s.outlineWidth, e.tagName]; })()`)
		if at[3] == "BODY" {
			break
		}
		seen[at[0]] = true
		require.Equal(t, "solid 3px", at[2], "the focus must be visible: %s", at[1])
	}
	require.GreaterOrEqual(t, len(seen), all-2, "Tab must visit all controls")
}

// Texts have enough contrast and are not tiny (WCAG AA: 4.5 to 1). The test checks light colours on
// a wide screen, and dark colours on a phone.
func TestTextsHaveContrast(t *testing.T) {
	for scheme, width := range map[string]int64{"light": 1440, "dark": 390} {
		t.Run(scheme, func(t *testing.T) {
			_, address := serveLab(t)
			p := newTabFor(t, 2*time.Minute, width, 1000, "prefers-color-scheme:"+scheme)
			p.do(chromedp.Navigate(address))
			p.until(`Number(document.getElementById("state").dataset.seq) > 0`)
			p.press("fail", "percent", "100")
			p.press("vanish", "n", "2")
			p.press("burst", "n", "3")
			p.key("l")
			p.until(`document.querySelector(".box.pointed")`)
			for _, picture := range pictures {
				eval[any](p, `document.getElementById("tab-`+picture.id+`").click()`)
				if picture.id == "object" {
					p.until(`document.querySelectorAll(".fields tbody tr").length > 5`)
					eval[any](p, `document.querySelector("[data-without=status]").click()`)
				}
				require.Empty(t, eval[[]string](p, lowContrast), picture.id)
			}
		})
	}
}

// lowContrast lists texts with too little contrast, or smaller than 11 pixels.
const lowContrast = `(() => {
	const rgb = (c) => { const g = (globalThis.probe ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true })); g.clearRect(0, 0, 1, 1); g.fillStyle = c; g.fillRect(0, 0, 1, 1); return [...g.getImageData(0, 0, 1, 1).data]; };
	const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
	const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; } return rgb("white"); };
	const bad = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; (n = walk.nextNode()); ) {
		const e = n.parentElement, text = n.data.trim();
		if (!text || !e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) || e.closest("[disabled], option, script, .absent, .skip, .taken, [aria-hidden=true]")) continue;
		const s = getComputedStyle(e), a = light(rgb(e instanceof SVGElement ? s.fill : s.color)), b = light(behind(e));
		const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		const size = parseFloat(s.fontSize) * (e instanceof SVGElement && e.getScreenCTM ? e.getScreenCTM().a : 1);
		if (contrast < 4.5) bad.push(text.slice(0, 40) + ": contrast " + contrast.toFixed(2) + " " + e.className);
		if (size < 10.9) bad.push(text.slice(0, 40) + ": " + size.toFixed(1) + " px " + (e.className.baseVal ?? e.className));
	}
	return [...new Set(bad)].slice(0, 30);
})()`

// With reduced motion, dots do not fly.
func TestReducedMotion(t *testing.T) {
	l, address := serveLab(t)
	p := newTab(t, 1440, 1000, "prefers-reduced-motion:reduce")
	p.do(chromedp.Navigate(address))
	p.until(`Number(document.getElementById("state").dataset.seq) > 0`)
	eval[any](p, `void import("./dots.js").then(({ Dots }) => { const paint = Dots.prototype.paint; globalThis.places = []; Dots.prototype.paint = function (g, d) { globalThis.places.push(d.x); return paint.call(this, g, d); };
		const slot = Dots.prototype.slot; globalThis.slots = []; Dots.prototype.slot = function (place, n) { const s = slot.call(this, place, n); globalThis.slots.push(s.x); return s; }; globalThis.watched = true; })`)
	p.until(`globalThis.watched`)
	_, err := l.Do(context.Background(), "burst", map[string]string{"n": "5"})
	require.NoError(t, err)
	p.until(`globalThis.places.length > 30`)
	require.Empty(t, eval[[]float64](p, `globalThis.places.filter((x) => !globalThis.slots.some((s) => Math.abs(s - x) < 0.5))`), "dots must never be between two places")
}
