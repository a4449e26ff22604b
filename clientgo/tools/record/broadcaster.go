package record

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

const (
	maxQueued    = 1000
	defaultSleep = 10 * time.Second
)

type config struct {
	CorrelatorOptions
	context.Context
	sleep time.Duration
}

// BroadcasterOption is an option of NewBroadcaster.
type BroadcasterOption func(*config)

// WithContext shuts the broadcaster down when ctx ends, and uses the logger of ctx. A nil ctx never
// ends.
func WithContext(ctx context.Context) BroadcasterOption {
	return func(c *config) { c.Context = ctx }
}

// WithCorrelatorOptions sets the options of the correlators. Each sink has a correlator.
func WithCorrelatorOptions(options CorrelatorOptions) BroadcasterOption {
	return func(c *config) { c.CorrelatorOptions = options }
}

// WithSleepDuration sets the wait before an unreachable sink is tried again. Defaults to 10 s.
func WithSleepDuration(sleepDuration time.Duration) BroadcasterOption {
	return func(c *config) { c.sleep = sleepDuration }
}

// NewBroadcaster returns a broadcaster. It has a goroutine until Shutdown.
func NewBroadcaster(opts ...BroadcasterOption) EventBroadcaster {
	c := config{Context: context.Background(), sleep: defaultSleep}
	for _, opt := range opts {
		opt(&c)
	}
	if c.Context == nil { // as in client-go, ctx may be nil
		c.Context = context.Background()
	}
	b := &broadcaster{
		Broadcaster: watch.NewLongQueueBroadcaster(maxQueued, watch.DropIfChannelFull),
		sleep:       c.sleep,
		options:     c.CorrelatorOptions,
	}
	b.ctx, b.cancel = context.WithCancel(c.Context)
	context.AfterFunc(b.ctx, func() { b.Broadcaster.Shutdown() })
	return b
}

// NewBroadcasterForTests is NewBroadcaster with WithSleepDuration.
func NewBroadcasterForTests(sleepDuration time.Duration) EventBroadcaster {
	return NewBroadcaster(WithSleepDuration(sleepDuration))
}

// NewBroadcasterWithCorrelatorOptions is NewBroadcaster with WithCorrelatorOptions.
func NewBroadcasterWithCorrelatorOptions(options CorrelatorOptions) EventBroadcaster {
	return NewBroadcaster(WithCorrelatorOptions(options))
}

type broadcaster struct {
	*watch.Broadcaster
	ctx     context.Context // ends at Shutdown
	cancel  context.CancelFunc
	sleep   time.Duration
	options CorrelatorOptions
}

func (b *broadcaster) Shutdown() {
	b.cancel()
	b.Broadcaster.Shutdown()
}

func (b *broadcaster) StartEventWatcher(eventHandler func(*v1.Event)) watch.Interface {
	watcher, err := b.Watch()
	if err != nil {
		klog.FromContext(b.ctx).Error(err, "Could not watch events")
		return watch.NewEmptyWatch()
	}
	go func() {
		defer utilruntime.HandleCrashWithContext(b.ctx)
		for item := range watcher.ResultChan() {
			if event, ok := item.Object.(*v1.Event); ok {
				eventHandler(event)
			}
		}
	}()
	return watcher
}

func (b *broadcaster) StartLogging(logf func(format string, args ...interface{})) watch.Interface {
	return b.StartEventWatcher(func(e *v1.Event) {
		logf("Event(%#v): type: '%v' reason: '%v' %v", e.InvolvedObject, e.Type, e.Reason, e.Message)
	})
}

func (b *broadcaster) StartStructuredLogging(verbosity klog.Level) watch.Interface {
	logger := klog.FromContext(b.ctx).V(int(verbosity))
	return b.StartEventWatcher(func(e *v1.Event) {
		about := e.InvolvedObject
		logger.Info("Event occurred", "object", klog.KRef(about.Namespace, about.Name), "fieldPath", about.FieldPath,
			"kind", about.Kind, "apiVersion", about.APIVersion, "type", e.Type, "reason", e.Reason, "message", e.Message)
	})
}

func (b *broadcaster) StartRecordingToSink(sink EventSink) watch.Interface {
	w := writer{sink: sink, correlator: NewEventCorrelatorWithOptions(b.options), sleep: b.sleep}
	return b.StartEventWatcher(func(e *v1.Event) { w.record(b.ctx, e) })
}
