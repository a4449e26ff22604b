package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Each lesson works from its first caption to the right answer: by keyboard and by mouse, in both
// languages, and on each host. With -short, each lesson runs on only one of the hosts.
func TestLessons(t *testing.T) {
	for n, h := range hosts {
		t.Run(h.name, func(t *testing.T) {
			_, address := h.open(t)
			separator := "#"
			if strings.Contains(address, "#") {
				separator = "&"
			}
			p := newTabFor(t, 5*time.Minute, 1440, 1000)
			p.do(chromedp.Navigate(address + separator + "tour=1"))
			for lesson := 1; lesson <= 10; lesson++ {
				if testing.Short() && lesson%2 != n {
					continue
				}
				began := time.Now()
				p.until(`document.getElementById("tour-lesson")?.options.length === 10`)
				eval[any](p, fmt.Sprintf(`{ const c = document.getElementById("tour-lesson"); c.value = "%d"; c.dispatchEvent(new Event("change")); }`, lesson))
				p.lesson(lesson, h.name == "server")
				t.Logf("lesson %d: %v", lesson, time.Since(began).Round(100*time.Millisecond))
			}
		})
	}
}

// lesson does one lesson, step by step.
func (p *tab) lesson(n int, shoot bool) {
	t := p.t
	picture := func(name string) {
		dir := os.Getenv("KINFORM_SCREENSHOTS")
		if dir == "" || !shoot {
			return
		}
		time.Sleep(700 * time.Millisecond)
		png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("lesson-%d-%s.png", n, name)), png, 0o600))
	}
	const caption = `document.querySelector("#tour .caption").textContent`
	var whole struct{ Steps []struct{ Box, Open string } }
	text, err := os.ReadFile(fmt.Sprintf("../page/lesson-%d.json", n))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &whole))
	steps := whole.Steps
	if eval[string](p, `document.getElementById("tour").lang`) != "en" {
		eval[any](p, `document.getElementById("tour-language").click()`)
	}
	const ready = `!document.getElementById("tour-next").disabled || document.querySelector(".answers button")`
	p.until(fmt.Sprintf(`document.querySelector("#tour .place").textContent.startsWith("1 /") && document.getElementById("tour-lesson").value === "%d" && document.querySelector(".box.pointed")`, n))
	for step := 1; ; step++ {
		p.until(ready)
		require.True(t, eval[bool](p, `Boolean(document.querySelector(".box.pointed"))`), "the step must point at a box")
		if eval[bool](p, `Boolean(document.querySelector(".answers button"))`) {
			break
		}
		if eval[bool](p, `document.getElementById("tour-next").textContent !== "Next"`) {
			if step%2 == 0 {
				eval[any](p, `document.getElementById("tour-next").click()`)
			} else {
				p.key("\u0303") // the right arrow
			}
			p.until(`document.querySelector("#tour .then")`)
			p.until(inSight(steps[step-1].Box, steps[step-1].Open))
			if see := seen[[2]int{n, step}]; see != "" {
				p.until(see)
			}
			picture(fmt.Sprint(step))
		}
		eval[any](p, `document.getElementById("tour-next").click()`)
		p.until(fmt.Sprintf(`document.querySelector("#tour .place").textContent.startsWith("%d /")`, step+1))
	}
	require.True(t, eval[bool](p, `document.getElementById("tour-next").disabled`), "the question must need an answer")
	links := eval[[]string](p, `[...document.querySelectorAll(".tour-links a")].map((a) => a.href)`)
	require.GreaterOrEqual(t, len(links), 2, "the lesson must link to the docs and to code")
	right := -1
	for i := range eval[int](p, `document.querySelectorAll(".answers button").length`) {
		eval[any](p, fmt.Sprintf(`document.querySelectorAll(".answers button")[%d].click()`, i))
		if !eval[bool](p, `document.getElementById("tour-next").disabled`) {
			right = i
			break
		}
		require.Contains(t, eval[string](p, caption), "✗ Wrong.")
	}
	require.GreaterOrEqual(t, right, 0)
	require.Contains(t, eval[string](p, caption), "✓ Right.")
	picture("question")
	eval[any](p, `document.getElementById("tour-language").click()`)
	p.until(caption + `.includes("✓ 对。")`)
	require.NotEqual(t, links, eval[[]string](p, `[...document.querySelectorAll(".tour-links a")].map((a) => a.href)`), "the Chinese lesson must link to the Chinese docs")
	for _, link := range append(links, eval[[]string](p, `[...document.querySelectorAll(".tour-links a")].map((a) => a.href)`)...) {
		p.requireLink(link)
	}
	picture("question-zh")
}

// inSight checks that the tour does not cover the picture of a step. If the step opens no picture,
// it checks the box of the step.
func inSight(box, open string) string {
	if open != "" {
		box = "small"
	} else {
		box = "box-" + box
	}
	return `document.getElementById("` + box + `").getBoundingClientRect().bottom <= document.getElementById("tour").getBoundingClientRect().top`
}

// seen has conditions by lesson and step. Each condition checks that the picture shows what the
// caption describes.
var seen = map[[2]int]string{
	{3, 2}: `document.querySelector("#small .cell.how-unchanged") && !document.querySelector("#small .cell:not(.how-unchanged)")`,
	{3, 3}: `document.querySelector("#small .cell.how-missing")`,
	{4, 2}: `document.querySelector("#small .tombstone")`,
	{4, 3}: `document.querySelectorAll("#small .tray:not(.taken)").length === 2 && document.querySelectorAll("#small .tray:not(.taken) .delta").length === 2`,
	{4, 4}: `[...document.querySelectorAll("#small .tray:not(.taken)")].some((t) => t.querySelectorAll(".delta").length === 4)`,
}

// requireLink fails unless a link leads to an existing file of this repository, and to an
// existing heading.
func (p *tab) requireLink(link string) {
	p.t.Helper()
	path, found := strings.CutPrefix(link, "https://github.com/kinform/kinform/blob/main/")
	require.True(p.t, found, link)
	path, fragment, _ := strings.Cut(path, "#")
	text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(path)))
	require.NoError(p.t, err)
	if fragment == "" {
		return
	}
	var headings []string
	for line := range strings.Lines(string(text)) {
		if heading, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok {
			headings = append(headings, heading)
		}
	}
	eval[any](p, `void import("./tour.js").then((m) => { globalThis.anchor = m.anchor; })`)
	p.until(`globalThis.anchor`)
	all := eval[[]string](p, quote(headings)+`.map((h) => new URL("#" + anchor(h), "https://x/").hash.slice(1))`)
	require.Contains(p.t, all, fragment, link)
}
