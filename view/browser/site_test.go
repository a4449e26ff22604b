package browser

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// siteDir has the folder of static files, made once for all tests; "" if it could not be made.
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

// The page with the program inside is served as files, in a subfolder; everything that it needs is there, and every button works.
func TestPageWithTheProgramInside(t *testing.T) {
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("there is no Chromium: apt-get install chromium")
	}
	dir, err := siteDir()
	require.NoError(t, err)
	var mu sync.Mutex
	var missing []string
	files := http.StripPrefix("/some/folder/", http.FileServer(http.Dir(dir)))
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A strict host sends a policy for scripts of workers as well.
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'")
		if _, err := os.Stat(dir + "/" + r.URL.Path[min(len("/some/folder/"), len(r.URL.Path)):]); err != nil {
			mu.Lock()
			missing = append(missing, r.URL.Path)
			mu.Unlock()
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(served.Close)

	p := newTab(t, 1440, 1100)
	began := time.Now()
	p.do(chromedp.Navigate(served.URL + "/some/folder/"))
	p.until(`Number(document.getElementById("state").dataset.seq) > 0 && !document.querySelector("[data-action=create]").disabled`)
	t.Logf("the page is interactive after %v", time.Since(began))

	value := func(id string) string {
		return `Number(document.querySelector('#picture [data-number="` + id + `"]').dataset.value)`
	}
	p.until(value("store.objects") + ` === 20`)
	said := eval[string](p, `document.getElementById("said").textContent`)
	began = time.Now()
	eval[any](p, `document.querySelector("[data-action=create]").closest(".action").querySelector("input").value = "980"`)
	eval[any](p, `document.querySelector("[data-action=create]").click()`)
	p.until(value("store.objects") + ` === 1000 && ` + value("workers.done") + ` >= 1000`)
	t.Logf("980 more pods are synced after %v", time.Since(began))
	p.until(`document.getElementById("said").textContent !== ` + quote(said))
	require.NotContains(t, eval[string](p, `document.getElementById("said").textContent`), "✗")

	// All that the page has asked for is from its own folder.
	require.Empty(t, eval[[]string](p, `performance.getEntriesByType("resource").map((e) => e.name).filter((n) => !n.startsWith(location.origin + "/some/folder/"))`))
	mu.Lock()
	defer mu.Unlock()
	require.Empty(t, missing)
	if shots := os.Getenv("KINFORM_SCREENSHOTS"); shots != "" {
		png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(shots+"/site.png", png, 0o600))
	}
}
