package browser

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/internal/testing/fakesource"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/workqueue"
)

var (
	soak     = flag.Duration("soak", 0, "for how long the page is held against a pipeline under load; 0: a few seconds, of which only memory is judged")
	soakRate = flag.Int("soak.rate", 5000, "events a second")
)

// moment is a measurement during a soak test.
type moment struct{ pictures, events, page, program float64 }

// While thousands of objects change each second, the page stays smooth, and the memory of the page
// and of the program does not grow. The page counts its repaints by requestAnimationFrame.
func TestPageUnderLoad(t *testing.T) {
	r := flood(t, *soakRate)
	p := newTabFor(t, *soak+2*time.Minute, 1440, 1000)
	p.do(chromedp.Navigate(r.url))
	p.until(`Number(document.getElementById("state").dataset.seq) > 0`)
	eval[any](p, `{ globalThis.pictures = 0; const next = () => { globalThis.pictures++; requestAnimationFrame(next); }; next(); }`)
	steps, every := 3, 3*time.Second
	if *soak > 0 {
		steps, every = max(int(*soak/(20*time.Second)), 3), 20*time.Second
	}
	measure := func() moment {
		_, err := chromedp.Call(p.ctx, heapprofiler.CollectGarbage, cdp.Empty{})
		require.NoError(t, err)
		heap, err := chromedp.Call(p.ctx, cdpruntime.GetHeapUsage, cdp.Empty{})
		require.NoError(t, err)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return moment{page: heap.UsedSize, program: float64(m.HeapAlloc)}
	}
	smalls := []string{"rings", "journey", "shelf", "rulers", "dial", "lookup"}
	var all []moment
	for n := range steps {
		p.key(pictureLetter(smalls[n%len(smalls)]))
		began, before, events := time.Now(), eval[float64](p, `globalThis.pictures`), r.informer.Status().Reflector.Events
		time.Sleep(every)
		passed := time.Since(began).Seconds()
		pictures, told := eval[float64](p, `globalThis.pictures`)-before, r.informer.Status().Reflector.Events-events
		m := measure()
		m.pictures, m.events = pictures/passed, float64(told)/passed
		all = append(all, m)
		t.Logf("%4.0f s: %.0f pictures/s, %.0f events/s, page %.1f MB, program %.1f MB, of dots %s", float64(n+1)*every.Seconds(), m.pictures, m.events, m.page/1e6, m.program/1e6,
			eval[string](p, `document.getElementById("cost").textContent.split("Dots:")[1] ?? ""`))
	}
	first, last, fewest := all[0], all[len(all)-1], math.Inf(1)
	for _, m := range all {
		fewest = min(fewest, m.pictures)
	}
	require.Less(t, last.page, 1.3*first.page+2e6, "the page must not grow")
	require.Less(t, last.program, 1.5*first.program+20e6, "the program must not grow")
	require.Positive(t, first.events)
	if *soak > 0 {
		require.GreaterOrEqual(t, fewest, 30.0, "the page must draw 30 times a second")
	}
}

func pictureLetter(id string) string {
	for _, p := range pictures {
		if p.id == id {
			return p.letter
		}
	}
	panic(id)
}

// flooded is a pipeline without a network, whose objects change all the time.
type flooded struct {
	informer *informer.Informer[*corev1.ConfigMap]
	url      string
}

// flood runs a whole pipeline, from a watch to the workers, with this number of events a second.
// Most events are updates; some objects are deleted and created again.
func flood(t *testing.T, perSecond int) *flooded {
	t.Helper()
	v, err := view.New(view.Options{Title: "flood", IndexValues: true, Server: func() view.Server { return view.Server{Objects: -1} }})
	require.NoError(t, err)
	source := fakesource.New[*corev1.ConfigMap]()
	queue := workqueue.New(view.QueueOptions(v, workqueue.Options[types.NamespacedName]{Name: "maps", Logger: silent}))
	inf, err := informer.New(source, view.InformerOptions(v, informer.Options[*corev1.ConfigMap]{Name: "maps", Logger: silent}))
	require.NoError(t, err)
	_, err = inf.AddHandler(enqueue.Object[*corev1.ConfigMap](queue), informer.HandlerOptions{Name: "enqueue"})
	require.NoError(t, err)
	view.Informer(v, inf)
	view.Queue(v, queue)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 3)
	go func() { ended <- inf.Run(ctx) }()
	go func() {
		ended <- queue.Run(ctx, 4, func(_ context.Context, key types.NamespacedName) error {
			if strings.HasSuffix(key.Name, "77") && rand.IntN(4) == 0 {
				return errors.New("bad luck")
			}
			return nil
		})
	}()
	require.NoError(t, inf.WaitForSync(ctx))
	go func() { ended <- emit(ctx, source, perSecond) }()
	served := httptest.NewServer(v)
	t.Cleanup(func() {
		v.Close()
		served.Close()
		cancel()
		for range 3 {
			require.NoError(t, <-ended)
		}
	})
	return &flooded{inf, served.URL + "/"}
}

// emit sends events at a rate until ctx ends.
func emit(ctx context.Context, source fakesource.Source[*corev1.ConfigMap], perSecond int) error {
	const objects = 1000
	there := make([]bool, objects)
	began, sent := time.Now(), 0
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for ; sent < int(time.Since(began).Seconds()*float64(perSecond)); sent++ {
			n, what := rand.IntN(objects), listwatch.Modified
			if !there[n] {
				what = listwatch.Added
			} else if rand.IntN(10) == 0 {
				what = listwatch.Deleted
			}
			there[n] = what != listwatch.Deleted
			key := types.NamespacedName{Namespace: fmt.Sprintf("ns-%d", n%5), Name: fmt.Sprintf("map-%d", n)}
			version := strconv.Itoa(1_000_000 + sent)
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, ResourceVersion: version}, Data: map[string]string{"key": version}}
			select {
			case source.Events <- listwatch.Event[*corev1.ConfigMap]{Type: what, Item: listwatch.Item[*corev1.ConfigMap]{Key: key, Object: o, ResourceVersion: version}}:
			case <-ctx.Done():
				return nil
			}
		}
	}
}
