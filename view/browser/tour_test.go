package browser

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view/internal/stand"
)

// tour starts a laboratory, and opens a lesson in a tab.
func tour(t *testing.T, lesson int, width, height int64, media ...string) *tab {
	t.Helper()
	lab, err := stand.New(20)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- lab.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	served := httptest.NewServer(lab.View)
	t.Cleanup(served.Close)
	t.Cleanup(lab.View.Close)
	p := newTab(t, width, height, media...)
	p.do(chromedp.Navigate(lab.View.Address(served.URL+"/") + fmt.Sprintf("&tour=%d", lesson)))
	return p
}

// Each lesson is taken from its first caption to the right answer, by keyboard and by mouse.
func TestTour(t *testing.T) {
	for n := 1; n <= 10; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			p := tour(t, n, 1440, 1000)
			picture := func(name string) {
				dir := os.Getenv("KINFORM_SCREENSHOTS")
				if dir == "" {
					return
				}
				time.Sleep(700 * time.Millisecond)
				png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("lesson-%d-%s.png", n, name)), png, 0o600))
			}
			const ready = `!document.getElementById("tour-next").disabled || document.querySelector(".answers button")`
			p.until(`document.querySelector("#tour .place").textContent.startsWith("1 /")`)
			for step := 1; ; step++ {
				p.until(ready)
				require.True(t, eval[bool](p, `Boolean(document.querySelector(".box.pointed"))`), "a box is pointed at")
				if eval[bool](p, `Boolean(document.querySelector(".answers button"))`) {
					break
				}
				if eval[bool](p, `document.getElementById("tour-next").textContent !== "Next"`) {
					if step%2 == 0 {
						eval[any](p, `document.getElementById("tour-next").click()`)
					} else {
						p.do(chromedp.KeyEvent("\u0303")) // the right arrow
					}
					p.until(`document.querySelector("#tour .then")`)
					picture(fmt.Sprint(step))
				}
				eval[any](p, `document.getElementById("tour-next").click()`)
				p.until(fmt.Sprintf(`document.querySelector("#tour .place").textContent.startsWith("%d /")`, step+1))
			}
			require.True(t, eval[bool](p, `document.getElementById("tour-next").disabled`), "there is an answer to give")
			count := eval[int](p, `document.querySelectorAll(".answers button").length`)
			right := -1
			for i := range count {
				eval[any](p, fmt.Sprintf(`document.querySelectorAll(".answers button")[%d].click()`, i))
				if !eval[bool](p, `document.getElementById("tour-next").disabled`) {
					right = i
					break
				}
				require.Contains(t, eval[string](p, `document.querySelector("#tour .caption").textContent`), "✗ Not so.")
			}
			require.GreaterOrEqual(t, right, 0)
			require.Contains(t, eval[string](p, `document.querySelector("#tour .caption").textContent`), "✓ Right.")
			picture("question")
			eval[any](p, `document.getElementById("tour-language").click()`)
			p.until(`document.querySelector("#tour .caption").textContent.includes("✓ 对。")`)
			picture("question-zh")
		})
	}
}

// The tour goes on by itself, and stops when it is told to; on a phone nothing is wider than the screen.
func TestTourByItself(t *testing.T) {
	p := tour(t, 1, 390, 844, "prefers-color-scheme:dark", "prefers-reduced-motion:reduce")
	p.until(`document.querySelector("#tour .place").textContent.startsWith("1 /")`)
	eval[any](p, `document.getElementById("tour-language").click()`)
	eval[any](p, `document.getElementById("tour-play").click()`)
	p.until(`document.querySelector("#tour .place").textContent.startsWith("2 /")`)
	eval[any](p, `document.getElementById("tour-play").click()`)
	require.Equal(t, "false", eval[string](p, `document.getElementById("tour-play").getAttribute("aria-pressed")`))
	require.True(t, eval[bool](p, `document.documentElement.scrollWidth <= innerWidth`))
	if dir := os.Getenv("KINFORM_SCREENSHOTS"); dir != "" {
		png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "phone.png"), png, 0o600))
	}
	p.do(chromedp.KeyEvent("\u001b"))
	p.until(`document.getElementById("tour").hidden`)
}

// Without a laboratory the tour says what to run.
func TestTourWithoutLaboratory(t *testing.T) {
	p := start(t, 1, nil).open(t, 1000, 800)
	p.do(chromedp.KeyEvent("l"))
	p.until(`document.querySelector("#tour .caption").textContent.includes("kinform demo")`)
	p.do(chromedp.KeyEvent("l"))
	p.until(`document.getElementById("tour").hidden`)
}
