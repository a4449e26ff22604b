package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/events"
	"github.com/kinform/kinform/rest"
)

// recorded is one Event in the form of each of the two APIs.
type recorded struct {
	core   map[string]any
	events map[string]any
}

// eventsByReason returns the Events that have a reason, by name.
func eventsByReason(t *testing.T, reason string) map[string]recorded {
	t.Helper()
	found := map[string]recorded{}
	for _, api := range []string{"/api/v1", "/apis/events.k8s.io/v1"} {
		data, err := kube.Get(t.Context(), api+"/namespaces/"+cluster.Namespace+"/events")
		require.NoError(t, err)
		var list struct{ Items []map[string]any }
		require.NoError(t, json.Unmarshal(data, &list))
		for _, item := range list.Items {
			if item["reason"] != reason {
				continue
			}
			name := item["metadata"].(map[string]any)["name"].(string)
			event := found[name]
			if api == "/api/v1" {
				event.core = item
			} else {
				event.events = item
			}
			found[name] = event
		}
	}
	return found
}

// singleEvent returns the Event that has a reason, and fails the test if there are several.
func singleEvent(t *testing.T, reason string) recorded {
	t.Helper()
	all := eventsByReason(t, reason)
	require.Len(t, all, 1)
	for _, event := range all {
		require.NotNil(t, event.core)
		require.NotNil(t, event.events)
		return event
	}
	panic("unreachable")
}

// nonEmptyFields returns the names of the non-empty fields of an Event.
func nonEmptyFields(event map[string]any) []string {
	said := maps.Clone(event)
	for name, value := range said {
		if object, ok := value.(map[string]any); value == nil || value == "" || value == 0.0 || ok && len(object) == 0 {
			delete(said, name)
		}
	}
	return slices.Sorted(maps.Keys(said))
}

// as decodes an Event into its Go type.
func as[T any](t *testing.T, event map[string]any) (typed T) {
	t.Helper()
	data, err := json.Marshal(event)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &typed))
	return typed
}

// TestEvents records Events with both APIs, and with both recorders of client-go. It reads all
// Events in both APIs.
func TestEvents(t *testing.T) {
	const controller, instance = "example.com/e2e", "e2e-1"
	client := newClient(t, kube.Config())
	pods := rest.Must(rest.For[*corev1.Pod](client, rest.ResourceOptions{Namespace: cluster.Namespace}))
	pod, err := pods.Get(t.Context(), types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.PodName(1)}, metav1.GetOptions{})
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	var recorders []*events.Recorder
	for _, core := range []bool{false, true} {
		r, err := events.New(client, controller, events.Options{Instance: instance, CoreV1: core})
		require.NoError(t, err)
		recorders = append(recorders, r)
		go func() { ended <- r.Run(ctx) }()
	}
	defer func() {
		cancel()
		for range recorders {
			require.NoError(t, <-ended)
		}
	}()
	begun := time.Now().Add(-time.Second) // Times of core/v1 are whole seconds.
	reasons := []string{"New", "Old"}
	for range 3 {
		for n, r := range recorders {
			r.Warning(pod, reasons[n], "it was %s", "kinform")
		}
	}
	binary := filepath.Join(t.TempDir(), "recorder")
	built, err := exec.Command("go", "build", "-o", binary, "./recorder").CombinedOutput()
	require.NoError(t, err, string(built))
	said, err := exec.CommandContext(t.Context(), binary, "-kubeconfig", kube.KubeconfigFile(), "-namespace", cluster.Namespace, "-pod", pod.Name,
		"-controller", controller).CombinedOutput()
	require.NoError(t, err, string(said))
	eventually(t, time.Minute, func() string {
		// The recorder sends the counts of a series after ten seconds.
		for _, r := range recorders {
			if stats := r.Stats(); stats.Sent != 3 {
				return fmt.Sprintf("%+v", stats)
			}
		}
		return ""
	})

	for n, reason := range reasons {
		event := singleEvent(t, reason)
		old, new := as[corev1.Event](t, event.core), as[eventsv1.Event](t, event.events)
		about := corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion}
		require.Equal(t, about, old.InvolvedObject, reason)
		require.Equal(t, about, new.Regarding, reason)
		require.Equal(t, []string{"Warning", reason, reason, "it was kinform", controller, instance},
			[]string{new.Type, new.Reason, new.Action, new.Note, new.ReportingController, new.ReportingInstance})
		require.Equal(t, []string{"Warning", reason, reason, "it was kinform", controller, instance},
			[]string{old.Type, old.Reason, old.Action, old.Message, old.ReportingController, old.ReportingInstance})
		if n == 0 {
			require.EqualValues(t, 3, new.Series.Count)
			require.EqualValues(t, 3, old.Series.Count)
			require.False(t, new.EventTime.Time.Before(begun))
			require.False(t, new.Series.LastObservedTime.Before(&new.EventTime))
		} else {
			require.EqualValues(t, 3, new.DeprecatedCount)
			require.EqualValues(t, 3, old.Count)
			require.Equal(t, controller, old.Source.Component)
			require.False(t, old.FirstTimestamp.Time.Before(begun.Truncate(time.Second)))
			require.False(t, old.LastTimestamp.Before(&old.FirstTimestamp))
		}
	}

	// kinform's Events have the same fields as client-go's Events.
	for n, reason := range reasons {
		ours, theirs := singleEvent(t, reason), singleEvent(t, "Peer"+reason)
		missing, more := []string(nil), []string(nil)
		if n == 1 {
			more = []string{"action"} // The recorder of client-go for core/v1 records no action.
		}
		for api, pair := range map[string][2][]string{
			"core/v1":          {nonEmptyFields(ours.core), nonEmptyFields(theirs.core)},
			"events.k8s.io/v1": {nonEmptyFields(ours.events), nonEmptyFields(theirs.events)},
		} {
			t.Logf("%s in %s: %v, client-go's: %v", reason, api, pair[0], pair[1])
			require.Equal(t, missing, without(pair[1], pair[0]), "%s in %s: kinform lacks fields that client-go sets", reason, api)
			require.Subset(t, append(more, "reportingInstance"), without(pair[0], pair[1]), "%s in %s: kinform sets fields that client-go lacks", reason, api)
		}
	}
}

// without returns the elements of a that are not in b.
func without(a, b []string) (left []string) {
	for _, s := range a {
		if !slices.Contains(b, s) {
			left = append(left, s)
		}
	}
	return left
}
