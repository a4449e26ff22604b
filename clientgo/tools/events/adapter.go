package events

import (
	"context"

	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
)

// EventBroadcasterAdapter records events of events.k8s.io on servers that have this group, and
// events of the core group on other servers.
//
// Deprecated: every supported server has events.k8s.io. Use EventBroadcaster.
type EventBroadcasterAdapter interface {
	// StartRecordingToSink writes events until stopCh is closed.
	StartRecordingToSink(stopCh <-chan struct{})

	// NewRecorder returns a recorder for the types of kubernetes/scheme.
	NewRecorder(name string) EventRecorderLogger

	// DeprecatedNewLegacyRecorder returns a recorder of core events, whether or not the server has
	// events.k8s.io.
	DeprecatedNewLegacyRecorder(name string) record.EventRecorderLogger

	// Shutdown stops accepting events.
	Shutdown()
}

// NewEventBroadcasterAdapter sends one request to find out whether the server has events.k8s.io. If
// the request fails, it assumes that the server does not have events.k8s.io. The adapter has one or
// two goroutines until Shutdown.
func NewEventBroadcasterAdapter(client kubernetes.Interface) EventBroadcasterAdapter {
	return NewEventBroadcasterAdapterWithContext(context.Background(), client)
}

// NewEventBroadcasterAdapterWithContext is NewEventBroadcasterAdapter with the logger of ctx. Core
// events are recorded until ctx ends.
func NewEventBroadcasterAdapterWithContext(ctx context.Context, client kubernetes.Interface) EventBroadcasterAdapter {
	a := &adapter{
		ctx:    ctx,
		legacy: record.NewBroadcaster(record.WithContext(ctx)),
		core:   client.CoreV1(),
	}
	if _, err := client.Discovery().ServerResourcesForGroupVersion(eventsv1.SchemeGroupVersion.String()); err == nil {
		a.current = NewBroadcaster(&EventSinkImpl{Interface: client.EventsV1()})
	}
	return a
}

type adapter struct {
	ctx     context.Context
	legacy  record.EventBroadcaster
	core    typedcorev1.EventsGetter
	current EventBroadcaster // nil if the server has no events.k8s.io
}

func (a *adapter) StartRecordingToSink(stopCh <-chan struct{}) {
	if a.current != nil {
		ctx := klog.NewContext(wait.ContextForChannel(stopCh), klog.FromContext(a.ctx))
		if err := a.current.StartRecordingToSinkWithContext(ctx); err != nil {
			klog.FromContext(ctx).Error(err, "Could not start to record events")
		}
	}
	a.legacy.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: a.core.Events(v1.NamespaceAll)})
}

func (a *adapter) NewRecorder(name string) EventRecorderLogger {
	if a.current == nil {
		return record.NewEventRecorderAdapter(a.DeprecatedNewLegacyRecorder(name))
	}
	return a.current.NewRecorder(scheme.Scheme, name)
}

func (a *adapter) DeprecatedNewLegacyRecorder(name string) record.EventRecorderLogger {
	return a.legacy.NewRecorder(scheme.Scheme, v1.EventSource{Component: name})
}

func (a *adapter) Shutdown() {
	a.legacy.Shutdown()
	if a.current != nil {
		a.current.Shutdown()
	}
}
