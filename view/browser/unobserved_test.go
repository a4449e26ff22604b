package browser

import (
	"context"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/workqueue"
)

// A queue without the view's observer still shows its numbers, and dots computed from its rates.
func TestQueueWithoutObserver(t *testing.T) {
	v, err := view.New(view.Options{})
	require.NoError(t, err)
	jobs := workqueue.New(workqueue.Options[string]{Name: "jobs", Logger: silent})
	view.Queue(v, jobs)
	served := httptest.NewServer(v)
	t.Cleanup(served.Close)
	t.Cleanup(v.Close)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- jobs.Run(ctx, 1, func(context.Context, string) error { return nil }) }()
	defer func() { cancel(); require.NoError(t, <-ended) }()
	r := &rig{view: v, url: served.URL + "/"}
	p := r.open(t, 1200, 900)
	adding := make(chan bool)
	go func() {
		defer close(adding)
		for n := 0; ctx.Err() == nil; n++ {
			jobs.Add(strconv.Itoa(n))
			time.Sleep(20 * time.Millisecond)
		}
	}()
	defer func() { <-adding }()
	defer cancel()
	p.until(`document.getElementById("cost").textContent.match(/, [1-9][0-9]* now/)`)
	require.True(t, eval[bool](p, `document.getElementById("box-reflector").classList.contains("absent")`))
	p.until(`Number(document.querySelector('#picture [data-number="workers.done"]').dataset.value) > 10`)
}
