package events

import (
	"context"
	"sync"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

const maxQueued = 1000

// NewBroadcaster returns a broadcaster. It has a goroutine until Shutdown.
func NewBroadcaster(sink EventSink) EventBroadcaster {
	return &broadcaster{
		Broadcaster: watch.NewBroadcaster(maxQueued, watch.DropIfChannelFull),
		sink:        sink,
		seriesByKey: make(map[key]*series),
	}
}

type broadcaster struct {
	*watch.Broadcaster
	sink EventSink

	mu          sync.Mutex // guards following
	seriesByKey map[key]*series
}

func (b *broadcaster) StartRecordingToSink(stopCh <-chan struct{}) {
	ctx := wait.ContextForChannel(stopCh)
	if err := b.StartRecordingToSinkWithContext(ctx); err != nil {
		klog.FromContext(ctx).Error(err, "Could not start to record events")
	}
}

func (b *broadcaster) StartRecordingToSinkWithContext(ctx context.Context) error {
	w := writer{sink: b.sink, slots: make(chan struct{}, maxWriting)}
	stop, err := b.StartEventWatcher(func(obj runtime.Object) {
		if event, ok := obj.(*eventsv1.Event); ok {
			b.addToSeries(ctx, &w, event.DeepCopy())
		}
	})
	if err != nil {
		return err
	}
	go func() {
		defer stop()
		b.refreshPeriodically(ctx, &w)
	}()
	return nil
}

// refreshPeriodically periodically writes the counts of the series to the server, until ctx ends.
func (b *broadcaster) refreshPeriodically(ctx context.Context, w *writer) {
	refresh, finish := time.NewTicker(refreshTime), time.NewTicker(finishTime)
	defer refresh.Stop()
	defer finish.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-refresh.C:
			b.refresh(ctx, w)
		case <-finish.C:
			b.finish(ctx, w)
		}
	}
}

func (b *broadcaster) StartEventWatcher(eventHandler func(event runtime.Object)) (func(), error) {
	watcher, err := b.Watch()
	if err != nil {
		return nil, err
	}
	go func() {
		defer utilruntime.HandleCrash()
		for item := range watcher.ResultChan() {
			eventHandler(item.Object)
		}
	}()
	return watcher.Stop, nil
}

func (b *broadcaster) StartStructuredLogging(verbosity klog.Level) func() {
	stop, err := b.StartLogging(klog.Background().V(int(verbosity)))
	if err != nil {
		klog.Background().Error(err, "Could not start to log events")
		return func() {}
	}
	return stop
}

func (b *broadcaster) StartLogging(logger klog.Logger) (func(), error) {
	return b.StartEventWatcher(func(obj runtime.Object) {
		event, ok := obj.(*eventsv1.Event)
		if !ok {
			logger.Error(nil, "Not an event", "type", obj)
			return
		}
		about := event.Regarding
		logger.Info("Event occurred", "object", klog.KRef(about.Namespace, about.Name), "kind", about.Kind, "apiVersion", about.APIVersion,
			"type", event.Type, "reason", event.Reason, "action", event.Action, "note", event.Note)
	})
}
