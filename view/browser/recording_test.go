package browser

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
)

const fixture = "../testdata/relist.jsonl"

// openFile drops a file on the page.
func (p *tab) openFile(name, text string) {
	p.t.Helper()
	eval[any](p, `(() => {
		const files = new DataTransfer();
		files.items.add(new File([`+quote(text)+`], `+quote(name)+`));
		document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: files }));
	})()`)
}

func valueOf(id string) string {
	return `Number(document.querySelector('#picture [data-number="` + id + `"]').dataset.value)`
}

// The page saves the frames that it has seen. The page and the Go code can read the saved
// recording, and the page plays it.
func TestSavedRecordingCanBePlayed(t *testing.T) {
	r := start(t, 3, nil)
	p := r.open(t, 1400, 900)
	p.until(valueOf("store.objects") + ` === 3`)
	dir := t.TempDir()
	_, err := chromedp.Call(p.ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
		Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir,
	})
	require.NoError(t, err)
	eval[any](p, `document.getElementById("save").click()`)
	var saved []byte
	require.Eventually(t, func() bool {
		all, err := filepath.Glob(dir + "/*.jsonl")
		require.NoError(t, err)
		if len(all) == 1 {
			saved, err = os.ReadFile(all[0])
			require.NoError(t, err)
		}
		return len(saved) > 0
	}, time.Minute, 20*time.Millisecond)
	hello, frames, err := view.ReadRecording(bytes.NewReader(saved))
	require.NoError(t, err)
	require.Equal(t, "a <i>test</i>", hello.Title)
	n := 0
	for _, err := range frames {
		require.NoError(t, err)
		n++
	}
	require.Positive(t, n)
	p.openFile("seen.jsonl", string(saved))
	p.until(`document.getElementById("state").dataset.state === "replay"`)
	p.until(valueOf("store.objects") + ` === 3`)
	eval[any](p, `[...document.querySelectorAll("#player button")].find((b) => b.textContent === "Close").click()`)
	p.until(`document.getElementById("state").dataset.state === "live" && document.getElementById("player").hidden`)
}

// A page with only a recording plays it at any speed, pauses, steps, and seeks to any time.
func TestARecordingIsPlayed(t *testing.T) {
	text, err := os.ReadFile(fixture)
	require.NoError(t, err)
	v, err := view.New(view.Options{Recording: text, Title: "relist.jsonl"})
	require.NoError(t, err)
	served := httptest.NewServer(v)
	t.Cleanup(served.Close)
	p := newTab(t, 1400, 900)
	p.do(chromedp.Navigate(v.Address(served.URL + "/")))
	state := func(text string) string { return `document.getElementById("state").textContent === ` + quote(text) }
	p.until(state("recording, 1×"))
	p.until(valueOf("store.objects") + ` === 6`)
	require.Equal(t, []string{}, eval[[]string](p, `[...document.querySelectorAll("[data-action]")].map((b) => b.dataset.action)`), "a recording must have no buttons")
	eval[any](p, `const s = document.getElementById("speed"); s.value = "10"; s.dispatchEvent(new Event("change"))`)
	p.until(state("recording, at its end"))
	p.until(valueOf("store.objects") + ` === 4`)
	require.Equal(t, "0:05.0 of 0:05.0", eval[string](p, `document.querySelector("#player .time").textContent.replace(/0:0[56]\.\d/g, "0:05.0")`))

	seek := func(to string) {
		eval[any](p, `(() => { const s = document.querySelector("#player input"); s.value = `+to+`; s.dispatchEvent(new Event("input")); })()`)
	}
	seek("0")
	p.until(valueOf("store.objects") + ` === 6 && ` + state("recording, paused"))
	seq := eval[string](p, `document.getElementById("state").dataset.seq`)
	click := func(label string) {
		eval[any](p, `[...document.querySelectorAll("#player button")].find((b) => b.textContent === `+quote(label)+`).click()`)
	}
	click("+1")
	p.until(`document.getElementById("state").dataset.seq !== ` + quote(seq))
	click("−1")
	p.until(`document.getElementById("state").dataset.seq === ` + quote(seq))
	require.Zero(t, eval[float64](p, `scrollY`))
	p.key(" ")
	require.Zero(t, eval[float64](p, `scrollY`))
	p.until(state("recording, at its end"))
	eval[any](p, `document.querySelector('#tab-lookup').click()`)
	p.until(`document.querySelector("#small-panel").textContent.includes("A recording has no store, so nothing can be looked up.")`)
}

// A file that is not a recording, or is malicious, has no effect on the page.
func TestInvalidRecordings(t *testing.T) {
	text, err := os.ReadFile(fixture)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	r := start(t, 3, nil)
	p := r.open(t, 1400, 900)
	for name, c := range map[string]struct{ text, says string }{
		"empty":     {"", "is empty"},
		"page.html": {"<img src=x onerror=alert(1)>", "page.html, line 1: not JSON of a recording"},
		"no-hello":  {lines[1], "line 1: the first line has no field hello"},
		"newer":     {strings.Replace(lines[0], `"version":1`, `"version":2`, 1), "the format is 2, but this page knows format 1"},
		"no-frames": {lines[0], "has no frame"},
		"twice":     {lines[0] + lines[1] + lines[0], "line 3: a second recording begins here"},
		"broken":    {lines[0] + lines[1] + "{\n" + lines[2], "line 3: not JSON of a recording"},
		"null":      {lines[0] + "null\n", "line 2: no frame"},
		"boxes":     {lines[0] + strings.Replace(lines[1], `"boxes":[`, `"boxes":[null,`, 1), "line 2: frame.boxes is missing, or has a wrong"},
		"bomb":      {lines[0] + strings.Replace(lines[1], `"boxes":[`, `"boxes":[`+strings.Repeat("0,", 100_001), 1), "line 2: more than 8388608 characters, or more than 100000 values"},
		"every":     {strings.Replace(lines[0], `"every":250`, `"every":1`, 1) + lines[1], "line 1: hello.every is missing, or has a wrong"},
		"time":      {lines[0] + lines[3] + lines[1], "line 3: the time is earlier than the time of an earlier line"},
	} {
		p.openFile(name, c.text)
		p.until(`document.getElementById("said").textContent.includes(` + quote(c.says) + `)`)
		require.Equal(t, "live", eval[string](p, `document.getElementById("state").dataset.state`), name)
	}
	// Every text of the recording gets markup and control characters.
	evil := strings.NewReplacer(`"pods"`, `"<img src=x onerror=document.title='broken'>\u0000\u202e"`, `"ns-0/`, `"<b>/`).Replace(string(text))
	p.openFile("<script>evil</script>", evil)
	p.until(`document.getElementById("state").dataset.state === "replay"`)
	p.until(`document.querySelector("#player .name").textContent.startsWith("<script>evil</script>")`)
	eval[any](p, `const s = document.getElementById("speed"); s.value = "10"; s.dispatchEvent(new Event("change"))`)
	p.until(`document.getElementById("state").textContent.includes("at its end")`)
	require.NotEqual(t, "broken", eval[string](p, `document.title`))
	require.Zero(t, eval[int](p, `document.querySelectorAll("img, b > *, main script").length`))
	// A recording that was cut off plays up to the cut.
	p.openFile("cut", string(text[:len(text)-20]))
	p.until(`document.querySelector("#player .name").textContent.includes("the writer was interrupted")`)
}
