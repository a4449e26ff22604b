package e2e_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes"
)

// Both events APIs can list, watch, change and delete the same objects.
func TestParityEventsInBothAPIs(t *testing.T) {
	namespace := "parity-" + rand.String(6)
	eachSide(t, func(t *testing.T, s side) {
		newRequester(t, s, namespace)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		client := kubernetes.NewForConfigOrDie(s.config)
		old, new := client.CoreV1().Events(namespace), client.EventsV1().Events(namespace)
		at := metav1.NewMicroTime(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC))
		made := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		pod := corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: "p", UID: "u", APIVersion: "v1"}
		list, err := old.List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		watchOld, err := old.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		require.NoError(t, err)
		defer watchOld.Stop()
		watchNew, err := new.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, FieldSelector: "regarding.name=p"})
		require.NoError(t, err)
		defer watchNew.Stop()

		_, err = old.Create(ctx, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "a"}, InvolvedObject: pod, Reason: "Old", Message: "m",
			Source: corev1.EventSource{Component: "c", Host: "h"}, FirstTimestamp: made, LastTimestamp: made, Count: 3, Type: "Warning"}, metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = new.Create(ctx, &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Name: "b"}, EventTime: at, ReportingController: "example.com/c", ReportingInstance: "i",
			Action: "Act", Reason: "New", Regarding: pod, Related: &pod, Note: "n", Type: "Normal",
			Series: &eventsv1.EventSeries{Count: 2, LastObservedTime: at}}, metav1.CreateOptions{})
		require.NoError(t, err)

		a, err := new.Get(ctx, "a", metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, eventsv1.Event{ObjectMeta: a.ObjectMeta, Reason: "Old", Note: "m", Regarding: pod, Type: "Warning",
			DeprecatedSource: corev1.EventSource{Component: "c", Host: "h"}, DeprecatedCount: 3,
			DeprecatedFirstTimestamp: a.DeprecatedFirstTimestamp, DeprecatedLastTimestamp: a.DeprecatedLastTimestamp}, *a)
		require.True(t, a.DeprecatedFirstTimestamp.Equal(&made))
		require.True(t, a.DeprecatedLastTimestamp.Equal(&made))
		b, err := old.Get(ctx, "b", metav1.GetOptions{})
		require.NoError(t, err)
		require.True(t, b.EventTime.Equal(&at))
		require.Equal(t, corev1.Event{ObjectMeta: b.ObjectMeta, EventTime: b.EventTime, ReportingController: "example.com/c", ReportingInstance: "i", Action: "Act",
			Reason: "New", InvolvedObject: pod, Related: &pod, Message: "n", Type: "Normal",
			Series: &corev1.EventSeries{Count: 2, LastObservedTime: b.Series.LastObservedTime}}, *b)

		b.Count = 7
		_, err = old.Update(ctx, b, metav1.UpdateOptions{})
		require.NoError(t, err)
		require.NoError(t, new.Delete(ctx, "a", metav1.DeleteOptions{}))
		left, err := new.List(ctx, metav1.ListOptions{FieldSelector: "reason=New"})
		require.NoError(t, err)
		require.Len(t, left.Items, 1)
		require.EqualValues(t, 7, left.Items[0].DeprecatedCount)

		for _, want := range []string{"ADDED a Old", "ADDED b New", "MODIFIED b New", "DELETED a Old"} {
			e, n := <-watchOld.ResultChan(), <-watchNew.ResultChan()
			require.Equal(t, want, string(e.Type)+" "+e.Object.(*corev1.Event).Name+" "+e.Object.(*corev1.Event).Reason)
			require.Equal(t, want, string(n.Type)+" "+n.Object.(*eventsv1.Event).Name+" "+n.Object.(*eventsv1.Event).Reason)
			require.Equal(t, e.Object.(*corev1.Event).ResourceVersion, n.Object.(*eventsv1.Event).ResourceVersion)
		}
	})
}
