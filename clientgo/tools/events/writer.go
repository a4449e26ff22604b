package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/record/util"
	"k8s.io/klog/v2"
)

const (
	maxTries = 12
	// pause is the wait before an unreachable sink is tried again.
	pause = 10 * time.Second
	// maxWriting is the maximal number of events that are being written or wait for the client's
	// rate limit. client-go starts a goroutine for each event, without a limit. With this limit,
	// the goroutines take at most some 100 MB while a server does not respond.
	maxWriting = 10_000
)

// writer writes each event to a sink in its own goroutine, so that a hanging request delays no
// other event.
type writer struct {
	sink  EventSink
	slots chan struct{} // a token for each event that is being written
}

// start starts a goroutine that writes the event and closes the channel written afterwards. If the
// argument before is not nil, the goroutine first waits until that channel is closed. If too many
// events are being written, it drops the event.
func (w *writer) start(ctx context.Context, event *eventsv1.Event, before <-chan struct{}, written chan<- struct{}) {
	select {
	case w.slots <- struct{}{}:
	default:
		klog.FromContext(ctx).Error(nil, "Dropped an event, as too many are being written", "event", klog.KObj(event), "reason", event.Reason)
		close(written)
		return
	}
	go func() {
		defer func() { <-w.slots }()
		defer close(written)
		defer utilruntime.HandleCrashWithContext(ctx)
		if before != nil {
			<-before
		}
		w.try(ctx, event)
	}()
}

// try writes the event, and retries while the sink is unreachable.
func (w *writer) try(ctx context.Context, event *eventsv1.Event) {
	logger := klog.FromContext(ctx).WithValues("event", klog.KObj(event), "reason", event.Reason)
	for try := 1; !w.write(ctx, logger, event); try++ {
		if try == maxTries {
			logger.Error(nil, "Gave up an event", "tries", try)
			return
		}
		timer := time.NewTimer(wait.Jitter(pause, 0.25)) // spread the retries of many clients
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// write sends the event once. It returns true if no retry is needed.
func (w *writer) write(ctx context.Context, logger klog.Logger, event *eventsv1.Event) bool {
	err := w.send(ctx, event)
	if err == nil {
		return true
	}
	switch _, rejected := errors.AsType[*apierrors.StatusError](err); {
	case apierrors.IsAlreadyExists(err), apierrors.HasStatusCause(err, v1.NamespaceTerminatingCause):
		logger.V(4).Info("The server did not take an event", "err", err)
		return true
	case rejected, isUnbuiltRequest(err):
		logger.Error(err, "The server did not take an event")
		return true
	}
	logger.Error(err, "Could not write an event")
	return false
}

func (w *writer) send(ctx context.Context, event *eventsv1.Event) error {
	if event.Series != nil {
		patch, err := json.Marshal(map[string]*eventsv1.EventSeries{"series": event.Series})
		if err != nil {
			return err
		}
		if _, err = w.sink.Patch(ctx, event, patch); !util.IsKeyNotFoundError(err) {
			return err
		}
	}
	event.ResourceVersion = "" // the server's event is gone
	_, err := w.sink.Create(ctx, event)
	return err
}

// isUnbuiltRequest reports whether the request could not be built, so that a retry would fail too.
// It compares the name of the error's type. With the type itself, each program with a recorder
// would link the REST client.
func isUnbuiltRequest(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if fmt.Sprintf("%T", err) == "*rest.RequestConstructionError" {
			return true
		}
	}
	return false
}
