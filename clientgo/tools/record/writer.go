package record

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/record/util"
	"k8s.io/klog/v2"
)

// maxTries is the maximal number of attempts to write an event.
const maxTries = 12

// writer writes events to a sink.
type writer struct {
	sink       EventSink
	correlator *EventCorrelator
	sleep      time.Duration
}

// record writes the argument shared, an event that other watchers use too. It stops retrying when
// ctx ends.
func (w *writer) record(ctx context.Context, shared *v1.Event) {
	result, err := w.correlator.EventCorrelate(shared.DeepCopy())
	if err != nil {
		klog.FromContext(ctx).Error(err, "Could not compare an event with others", "event", shared.Name)
		return
	}
	if result.Skip {
		return
	}
	for try := 1; ; try++ {
		if w.write(ctx, result) {
			return
		}
		if try == maxTries {
			klog.FromContext(ctx).Error(nil, "Gave up an event", "event", klog.KObj(result.Event), "reason", result.Event.Reason, "tries", try)
			return
		}
		delay := w.sleep
		if try == 1 { // spread the retries of many clients
			delay = time.Duration(rand.Float64() * float64(delay))
		}
		if !wait(ctx, delay) {
			klog.FromContext(ctx).Error(ctx.Err(), "Gave up an event, as the broadcaster has been shut down", "event", klog.KObj(result.Event), "reason", result.Event.Reason)
			return
		}
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// write sends the event once. It returns true if no retry is needed.
func (w *writer) write(ctx context.Context, result *EventCorrelateResult) bool {
	event := result.Event
	written, err := w.send(event, result.Patch)
	if err == nil {
		w.correlator.UpdateState(written)
		return true
	}
	logger := klog.FromContext(ctx).WithValues("event", klog.KObj(event), "reason", event.Reason)
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

func (w *writer) send(event *v1.Event, patch []byte) (*v1.Event, error) {
	if event.Count > 1 {
		written, err := w.sink.Patch(event, patch)
		if !util.IsKeyNotFoundError(err) {
			return written, err
		}
	}
	event.ResourceVersion = "" // the server's event is gone
	return w.sink.Create(event)
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
