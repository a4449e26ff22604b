package browser

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/testing/fakesource"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/workqueue"
)

// forbiddenSource is a source whose lists fail with an error.
type forbiddenSource struct {
	fakesource.Source[*corev1.ConfigMap]
}

func (forbiddenSource) List(context.Context, listwatch.ListOptions) (listwatch.ListStream[*corev1.ConfigMap], error) {
	return nil, errors.New(`configmaps is forbidden: User "<b>eve</b>" cannot list`)
}

// The index of a program with many informers has the informers with problems on top, and names each
// problem. The test has one problem of each kind.
func TestIndexHasProblemsOnTop(t *testing.T) {
	v, err := view.New(view.Options{Title: "many"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 30)
	running := 0
	release := make(chan struct{})
	run := func(f func(context.Context) error) {
		running++
		go func() { ended <- f(ctx) }()
	}
	t.Cleanup(func() {
		close(release)
		cancel()
		for range running {
			require.NoError(t, <-ended)
		}
	})
	maps := func(name string, source listwatch.Source[*corev1.ConfigMap], opts informer.Options[*corev1.ConfigMap], handler func(informer.Event[*corev1.ConfigMap])) {
		opts.Name, opts.Logger, opts.Reflector.Logger = name, silent, silent
		inf, err := informer.New(source, view.InformerOptions(v, opts))
		require.NoError(t, err)
		if handler != nil {
			_, err = inf.AddHandler(handler, informer.HandlerOptions{Name: "slow"})
			require.NoError(t, err)
		}
		view.Informer(v, inf)
		run(inf.Run)
	}
	send := func(source fakesource.Source[*corev1.ConfigMap], version int) {
		o := &corev1.ConfigMap{}
		o.Namespace, o.Name = "n", fmt.Sprint("map-", version)
		source.Events <- listwatch.Event[*corev1.ConfigMap]{Type: listwatch.Added, Item: listwatch.Item[*corev1.ConfigMap]{Key: types.NamespacedName{Namespace: "n", Name: o.Name}, Object: o, ResourceVersion: fmt.Sprint(version)}}
	}
	for n := range 12 {
		maps(fmt.Sprintf("fine-%d", n), fakesource.New[*corev1.ConfigMap](), informer.Options[*corev1.ConfigMap]{}, nil)
	}
	maps("unsynced", forbiddenSource{fakesource.New[*corev1.ConfigMap]()}, informer.Options[*corev1.ConfigMap]{}, nil)
	behind := fakesource.New[*corev1.ConfigMap]()
	maps("behind", behind, informer.Options[*corev1.ConfigMap]{Queue: deltafifo.Options{Observer: &deltafifo.Observer{OnBatch: func(b deltafifo.BatchInfo) {
		if b.Keys > 0 {
			<-release
		}
	}}}}, nil)
	slow := fakesource.New[*corev1.ConfigMap]()
	maps("slow", slow, informer.Options[*corev1.ConfigMap]{}, func(informer.Event[*corev1.ConfigMap]) { <-release })
	queue := func(name string, workers int, reconcile func(context.Context, string) error) {
		q := workqueue.New(view.QueueOptions(v, workqueue.Options[string]{Name: name, Timed: true, Logger: silent, RateLimiter: workqueue.Exponential[string](time.Millisecond, time.Second)}))
		view.Queue(v, q, "fine-0")
		if workers > 0 {
			run(func(ctx context.Context) error { return q.Run(ctx, workers, reconcile) })
		}
		q.Add("key-of-" + name)
	}
	queue("forgotten", 0, nil)
	queue("failing", 1, func(context.Context, string) error { return errors.New("bad luck") })
	queue("good", 1, func(context.Context, string) error { return nil })
	send(behind, 2)
	send(slow, 2)
	time.Sleep(20 * time.Millisecond)
	send(behind, 3)
	send(slow, 3)
	served := httptest.NewServer(v)
	t.Cleanup(served.Close)
	t.Cleanup(v.Close)

	p := newTab(t, 1280, 900)
	p.do(chromedp.Navigate(served.URL + "/"))
	p.until(`location.hash === "#all" && document.querySelectorAll("#all tbody tr").length === 18`)
	row := func(name string) string {
		return `[...document.querySelectorAll("#all tbody tr")].find((r) => r.querySelector("th").textContent === ` + quote(name) + `)`
	}
	for name, why := range map[string]string{
		"unsynced": `/not synced: .*; [0-9]+ failures in a row, the last one: .*configmaps is forbidden: User "<b>eve<\/b>" cannot list/`,
		"behind":   `/changes have waited for the informer for ([5-9]|[1-9][0-9])[.0-9]*s/`, "slow": `/handler slow is slow: 1 events wait, the first for ([5-9]|[1-9][0-9])[.0-9]*s/`,
		"forgotten": `/queue forgotten: a key has waited for a worker for [1-9][0-9][.0-9]*s/`, "failing": `/keys that fail again and again: 1, such as key-of-failing: [0-9]+ failures in a row/`,
	} {
		p.until(why + `.test(` + row(name) + `.querySelector(".why").textContent)`)
		require.Equal(t, "✗ wrong", eval[string](p, row(name)+`.cells[0].textContent`), name)
	}
	require.Equal(t, []string{"unsynced", "behind", "slow", "forgotten", "failing"}, eval[[]string](p, `[...document.querySelectorAll("#all tbody tr.bad th")].map((e) => e.textContent)`))
	require.Equal(t, "bad,bad,bad,bad,bad", eval[string](p, `[...document.querySelectorAll("#all tbody tr")].slice(0, 5).map((r) => r.className).join()`), "pipelines with problems must be on top")
	require.Empty(t, eval[string](p, row("good")+`.querySelector(".why").textContent`))
	require.Zero(t, eval[int](p, `document.querySelectorAll("#all b").length`), "errors must not become markup")
	p.shootPage("index-light")
	eval[any](p, row("slow")+`.querySelector("button").click()`)
	p.until(`document.getElementById("wrong").textContent.includes("handler slow is slow")`)
}
