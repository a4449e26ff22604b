package events_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"

	"github.com/kinform/kinform/apitest"
)

func TestASinkWritesInTheNamespaceOfTheEvent(t *testing.T) {
	ctx := t.Context()
	clientset := kubernetes.NewForConfigOrDie(&rest.Config{Host: apitest.Start(t, apitest.Options{}).URL(), QPS: -1})
	sink := &events.EventSinkImpl{Interface: clientset.EventsV1()}
	nowhere := &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e"}}
	_, err := sink.Create(ctx, nowhere)
	require.EqualError(t, err, "can't create an event with empty namespace")
	_, err = sink.Update(ctx, nowhere)
	require.EqualError(t, err, "can't update an event with empty namespace")
	_, err = sink.Patch(ctx, nowhere, nil)
	require.EqualError(t, err, "can't patch an event with empty namespace")

	event := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: "ns"}, EventTime: metav1.NowMicro(), Note: "one", Type: "Normal", Reason: "R", Action: "A",
		ReportingController: "c", ReportingInstance: "c-1",
	}
	event, err = sink.Create(ctx, event)
	require.NoError(t, err)
	event.Note = "two"
	event, err = sink.Update(ctx, event)
	require.NoError(t, err)
	event, err = sink.Patch(ctx, event, []byte(`{"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}}`))
	require.NoError(t, err)
	require.Equal(t, "two", event.Note)
	require.EqualValues(t, 2, event.Series.Count)
	_, err = sink.Patch(ctx, &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "ns"}}, []byte(`{}`))
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}

// The requests are the same as with client-go. If the server has events.k8s.io, events of that
// group are written. The legacy recorder always writes core events.
func TestTheAdapterUsesTheAPIThatTheServerHas(t *testing.T) {
	for name, older := range map[string]bool{"events.k8s.io": false, "core": true} {
		t.Run(name, func(t *testing.T) {
			server := apitest.Start(t, apitest.Options{})
			if older {
				server.Inject(apitest.Fault{Verb: "discovery", Action: apitest.Code(404, 0)})
			}
			clientset := kubernetes.NewForConfigOrDie(&rest.Config{Host: server.URL(), QPS: -1})
			stop := make(chan struct{})
			defer close(stop)
			a := events.NewEventBroadcasterAdapterWithContext(t.Context(), clientset)
			defer a.Shutdown()
			a.StartRecordingToSink(stop)
			a.NewRecorder("new").Eventf(pod, nil, "Normal", "New", "A", "n %d", 1)
			a.DeprecatedNewLegacyRecorder("old").Eventf(pod, "Normal", "Old", "n %d", 2)
			found := map[string]eventsv1.Event{}
			require.Eventually(t, func() bool {
				list, err := clientset.EventsV1().Events("b").List(context.WithoutCancel(t.Context()), metav1.ListOptions{})
				if err != nil {
					return false
				}
				for _, e := range list.Items {
					found[e.Reason] = e
				}
				return len(found) == 2
			}, 30*time.Second, 10*time.Millisecond)
			require.Equal(t, "n 1", found["New"].Note)
			require.Equal(t, older, found["New"].EventTime.Time.IsZero(), "core events have no EventTime")
			require.True(t, found["Old"].EventTime.Time.IsZero())
			require.Equal(t, "old", found["Old"].DeprecatedSource.Component)
		})
	}
}
