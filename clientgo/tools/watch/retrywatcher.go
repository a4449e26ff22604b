package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/tools/cache"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// RetryWatcher is a watch that reopens itself from the last version if the connection is lost. It
// ends when it is stopped or when its context ends. It ends with an Error event if an open watch
// reports an expired version, or if the client is not permitted to watch. It requests bookmarks,
// but does not deliver them.
type RetryWatcher struct {
	cancel  context.CancelFunc
	watcher cache.WatcherWithContext
	version string
	events  chan watch.Event
	done    chan struct{}
}

// pause is the minimal time between two watches.
const pause = time.Second

// NewRetryWatcher is NewRetryWatcherWithContext without a context.
func NewRetryWatcher(initialResourceVersion string, watcherClient cache.Watcher) (*RetryWatcher, error) {
	return NewRetryWatcherWithContext(context.Background(), initialResourceVersion, cache.ToWatcherWithContext(watcherClient))
}

// NewRetryWatcherWithContext starts a watch after a version. The versions "" and "0" are errors,
// because a watch from them would start with all objects again after each loss. The caller must
// stop the watch or end its context.
func NewRetryWatcherWithContext(ctx context.Context, initialResourceVersion string, watcherClient cache.WatcherWithContext) (*RetryWatcher, error) {
	if initialResourceVersion == "" || initialResourceVersion == "0" {
		return nil, fmt.Errorf("initial RV %q is not supported due to issues with underlying WATCH", initialResourceVersion)
	}
	ctx, cancel := context.WithCancel(ctx)
	rw := &RetryWatcher{
		cancel: cancel, watcher: watcherClient, version: initialResourceVersion,
		events: make(chan watch.Event), done: make(chan struct{}),
	}
	go func() { rw.run(ctx) }()
	return rw, nil
}

// ResultChan returns the channel of events. The channel is closed when the RetryWatcher has ended.
func (rw *RetryWatcher) ResultChan() <-chan watch.Event { return rw.events }

// Stop ends the watch.
func (rw *RetryWatcher) Stop() { rw.cancel() }

// Done returns a channel that is closed when the RetryWatcher and its goroutine have ended.
func (rw *RetryWatcher) Done() <-chan struct{} { return rw.done }

func (rw *RetryWatcher) run(ctx context.Context) {
	defer close(rw.done)
	defer close(rw.events)
	defer rw.cancel()
	for ctx.Err() == nil {
		begun := time.Now()
		wait, over := rw.watchOnce(ctx)
		if over {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(wait, pause-time.Since(begun))):
		}
	}
}

// watchOnce opens a watch and delivers its events until it ends. The result wait is the delay that
// the server has requested. If over is true, no further watch follows.
func (rw *RetryWatcher) watchOnce(ctx context.Context) (wait time.Duration, over bool) {
	w, err := rw.watcher.WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: rw.version, AllowWatchBookmarks: true})
	if err != nil {
		return rw.nextWait(ctx, err)
	}
	if w == nil {
		klog.FromContext(ctx).Info("The watch is nil, retrying")
		return 0, false
	}
	defer w.Stop()
	for {
		var event watch.Event
		var ok bool
		select {
		case <-ctx.Done():
			return 0, true
		case event, ok = <-w.ResultChan():
		}
		if !ok {
			return 0, false
		}
		switch event.Type {
		case watch.Added, watch.Modified, watch.Deleted, watch.Bookmark:
		case watch.Error:
			err := apierrors.FromObject(event.Object)
			if code(err) != http.StatusGone {
				return retryAfter(err), false
			}
			rw.send(ctx, event)
			return 0, true
		default:
			rw.giveUp(ctx, fmt.Errorf("the watch has an event of the type %q", event.Type))
			return 0, true
		}
		o, ok := event.Object.(interface{ GetResourceVersion() string })
		if !ok || o.GetResourceVersion() == "" {
			rw.giveUp(ctx, errors.New("an event of the watch has no resourceVersion"))
			return 0, true
		}
		if event.Type != watch.Bookmark && !rw.send(ctx, event) {
			return 0, true
		}
		rw.version = o.GetResourceVersion()
	}
}

// giveUp delivers an Error event, because a watch has sent an invalid event.
func (rw *RetryWatcher) giveUp(ctx context.Context, err error) {
	rw.send(ctx, watch.Event{Type: watch.Error, Object: &apierrors.NewInternalError(err).ErrStatus})
}

// nextWait decides what follows a watch that could not be opened. If the client is not permitted to
// watch, an Error event ends the RetryWatcher. After any other error it retries, even if the
// resource does not exist or the version has expired. One reason is that another server of the
// cluster may still have the version.
func (rw *RetryWatcher) nextWait(ctx context.Context, err error) (time.Duration, bool) {
	if ctx.Err() != nil {
		return 0, true
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) && (apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)) {
		s := status.Status()
		rw.send(ctx, watch.Event{Type: watch.Error, Object: &s})
		return 0, true
	}
	if err != io.EOF && !net.IsProbableEOF(err) && !net.IsTimeout(err) {
		klog.FromContext(ctx).Info("The watch could not be opened, retrying", "err", err)
	}
	return retryAfter(err), false
}

// code returns the code of a status error, or 0.
func code(err error) int32 {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return 0
	}
	return status.Status().Code
}

func retryAfter(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return time.Duration(seconds) * time.Second
}

// send delivers an event. It returns false if the watch is stopped first.
func (rw *RetryWatcher) send(ctx context.Context, event watch.Event) bool {
	select {
	case rw.events <- event:
		return true
	case <-ctx.Done():
		return false
	}
}
