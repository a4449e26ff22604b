package rest

import (
	"context"
	"io"
	"mime"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	restclientwatch "k8s.io/client-go/rest/watch"
)

// newWatch returns the watch of a response.
func (r *Request) newWatch(ctx context.Context, resp *http.Response) (watch.Interface, error) {
	// An unparsable media type is not an error here: the negotiator decides about it.
	media, params, parseErr := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if parseErr != nil {
		klog.FromContext(ctx).V(4).Info("A watch has no Content-Type that can be read", "err", parseErr)
	}
	objects, events, framer, err := r.content.Negotiator.StreamDecoder(media, params)
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	handleWarnings(ctx, resp.Header, r.warningHandler)
	return &watchResponse{ctx: ctx, verb: r.verb, response: resp, body: resp.Body, objects: objects, events: events, framer: framer, sharing: r.c.sharing}, nil
}

// watchResponse is an open watch. The program's codecs decode its events for ResultChan, or a
// reflector pulls the events with Pull. The first call of ResultChan starts the goroutine that
// decodes.
type watchResponse struct {
	ctx      context.Context
	verb     string
	response *http.Response
	objects  runtime.Decoder
	events   runtime.Serializer
	framer   runtime.Framer
	sharing  Sharing

	mu      sync.Mutex // guards following
	body    io.ReadCloser
	pushing *watch.StreamWatcher
	stopped bool
}

// Stop implements watch.Interface.
func (w *watchResponse) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	w.stopped = true
	if w.pushing != nil {
		w.pushing.Stop()
		return
	}
	_ = w.body.Close()
}

// ResultChan implements watch.Interface.
func (w *watchResponse) ResultChan() <-chan watch.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pushing == nil && w.stopped {
		ended := make(chan watch.Event)
		close(ended)
		return ended
	}
	if w.pushing == nil {
		decoder := restclientwatch.NewDecoder(streaming.NewDecoder(boundFrames(w.framer, w.body), w.events), w.objects)
		w.pushing = watch.NewStreamWatcher(decoder, apierrors.NewClientErrorReporter(http.StatusInternalServerError, w.verb, "ClientWatchDecoding"))
	}
	return w.pushing.ResultChan()
}

// maxEventBytes limits the size of one event of a watch. It is the default of kinform's
// Options.MaxObjectBytes. Without a limit, an event that never ends would fill the memory.
const maxEventBytes = 16 << 20

// boundFrames returns a reader of the frames of a body. For a frame of more than maxEventBytes, the
// error is streaming.ErrObjectTooLarge.
func boundFrames(framer runtime.Framer, body io.ReadCloser) io.ReadCloser {
	budget := &frameBudget{body: body}
	return &boundedFrames{frames: framer.NewFrameReader(budget), budget: budget}
}

type boundedFrames struct {
	frames io.ReadCloser
	budget *frameBudget
}

// Read implements io.Reader. Each call resets the budget. This is enough, because the decoder of
// the frames limits the number of calls for one frame.
func (b *boundedFrames) Read(p []byte) (int, error) {
	b.budget.left = maxEventBytes
	return b.frames.Read(p)
}

func (b *boundedFrames) Close() error { return b.frames.Close() }

// frameBudget is a body from which only a limited number of bytes may still be read.
type frameBudget struct {
	body io.ReadCloser
	left int64
}

func (b *frameBudget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, streaming.ErrObjectTooLarge
	}
	n, err := b.body.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func (b *frameBudget) Close() error { return b.body.Close() }
