package browser

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
)

const (
	unlocked = `document.querySelector("[data-action=create]")?.disabled === false && document.getElementById("enter").hidden`
	locked   = `document.querySelector("[data-action=create]")?.disabled && !document.getElementById("enter").hidden`
	refused  = `document.getElementById("refused").textContent`
)

// enter pastes a token into the page.
func (p *tab) enter(token string) {
	eval[any](p, `(() => { const f = document.getElementById("enter"); f.elements.token.value = `+quote(" "+token+"\n")+`; f.requestSubmit(); })()`)
}

// An admitted browser stays admitted: after a reload, in other tabs, and when it opens the address
// again.
func TestAddressAdmitsABrowser(t *testing.T) {
	r := start(t, 1, nil, func(o *view.Options) { o.Laboratory = &fakeLaboratory{} })
	address := r.view.Address(r.url)
	p := newTab(t, 1200, 900)
	p.do(chromedp.Navigate(address))
	p.until(unlocked)
	require.NotContains(t, eval[string](p, `location.href`), "code")
	p.do(chromedp.Reload())
	p.until(unlocked)
	for _, url := range []string{r.url, address} {
		second := newTab(t, 1200, 900)
		second.do(chromedp.Navigate(url))
		second.until(unlocked)
	}
	// If the tab already shows the page, another code does not reload the page.
	eval[any](p, `location.href = `+quote(r.view.Address(r.url)))
	p.until(`!location.hash.includes("code") && ` + unlocked)

	// A server on another port receives no session and no token.
	var sent atomic.Pointer[http.Request]
	neighbour := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.CompareAndSwap(nil, r)
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><link rel="icon" href="data:,">`))
	}))
	t.Cleanup(neighbour.Close)
	p.do(chromedp.Navigate(neighbour.URL + "/view/"))
	require.Empty(t, sent.Load().Header.Values("Cookie"))
	require.Zero(t, eval[int](p, `localStorage.length + document.cookie.length`))
}

// An address admits only one browser. If a second browser opens the address, both browsers lose
// access, and both pages ask for the token.
func TestSecondBrowserRevokesTheSession(t *testing.T) {
	r := start(t, 1, nil, func(o *view.Options) { o.Laboratory = &fakeLaboratory{}; o.Logger = silent })
	address := r.view.Address(r.url)
	first, second := newTab(t, 1200, 900), newTab(t, 1200, 900)
	first.do(chromedp.Navigate(address))
	first.until(unlocked)
	second.allow("the server responded with a status of 401")
	// localhost is another origin, so it has separate storage.
	second.do(chromedp.Navigate(strings.Replace(address, "127.0.0.1", "localhost", 1)))
	second.until(locked)
	require.Contains(t, eval[string](second, refused), "has been opened before")

	first.allow("the server responded with a status of 401")
	eval[any](first, `document.querySelector("[data-action=create]").click()`)
	first.until(refused + `.includes("opened a second time")`)

	second.enter("not the token at all")
	second.until(refused + `.includes("not the token")`)
	for _, p := range []*tab{first, second} {
		p.enter(r.view.Token())
		p.until(unlocked)
		p.do(chromedp.Reload())
		p.until(unlocked)
	}
}

// A page without a token says where to paste the token and what it is for.
func TestButtonsNeedTheToken(t *testing.T) {
	r := start(t, 1, nil, func(o *view.Options) { o.Laboratory = &fakeLaboratory{} })
	p := newTab(t, 1200, 900)
	p.do(chromedp.Navigate(r.url))
	p.until(locked)
	require.Contains(t, eval[string](p, refused), "need the token")
}

// A restarted program at the same address does not know sessions from before the restart.
func TestRestartedProgram(t *testing.T) {
	programs := [2]*rig{}
	for n := range programs {
		programs[n] = start(t, 1+n, nil, func(o *view.Options) { o.Private = true })
	}
	var now atomic.Pointer[view.View]
	now.Store(programs[0].view)
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.Load().ServeHTTP(w, r) }))
	t.Cleanup(served.Close)
	live := `document.getElementById("enter").hidden && document.getElementById("state").dataset.state === "live" && `
	p := newTab(t, 1200, 900)
	p.do(chromedp.Navigate(programs[0].view.Address(served.URL + "/")))
	p.until(live + valueOf("store.objects") + ` === 1`)

	p.allow("the server responded with a status of 401")
	now.Store(programs[1].view)
	programs[0].view.Close()
	p.until(`!document.getElementById("enter").hidden`)
	require.Contains(t, eval[string](p, refused), "needs the token")
	p.enter(programs[1].view.Token())
	p.until(live + valueOf("store.objects") + ` === 2`)
}
