package informer_test

import (
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/informer"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// SI-28
func TestFilterTurnsUpdatesIntoAddsAndDeletes(t *testing.T) {
	t.Parallel()
	in, alsoIn, out, alsoOut := &obj{"a", "in"}, &obj{"a", "in"}, &obj{"a", "out"}, &obj{"a", "out"}
	for _, c := range []struct {
		name string
		from informer.Event[*obj]
		want informer.Event[*obj] // the zero event means no event
	}{
		{"an add", informer.Event[*obj]{Type: informer.Added, New: in}, informer.Event[*obj]{Type: informer.Added, New: in}},
		{"an add outside", informer.Event[*obj]{Type: informer.Added, New: out}, informer.Event[*obj]{}},
		{"an update", informer.Event[*obj]{Type: informer.Updated, Old: in, New: alsoIn}, informer.Event[*obj]{Type: informer.Updated, Old: in, New: alsoIn}},
		{"an update outside", informer.Event[*obj]{Type: informer.Updated, Old: out, New: alsoOut}, informer.Event[*obj]{}},
		{"coming in", informer.Event[*obj]{Type: informer.Updated, Old: out, New: in}, informer.Event[*obj]{Type: informer.Added, New: in}},
		{"going out", informer.Event[*obj]{Type: informer.Updated, Old: in, New: out}, informer.Event[*obj]{Type: informer.Deleted, Old: in, New: out}},
		{"a delete", informer.Event[*obj]{Type: informer.Deleted, Old: in, New: alsoIn}, informer.Event[*obj]{Type: informer.Deleted, Old: in, New: alsoIn}},
		{"a delete outside", informer.Event[*obj]{Type: informer.Deleted, Old: out, New: alsoOut}, informer.Event[*obj]{}},
		// client-go filters by the last state only. So it may keep a deleted object in the handler,
		// or report the deletion of an object that the handler does not know.
		{"a delete whose last state is outside", informer.Event[*obj]{Type: informer.Deleted, Old: in, New: out}, informer.Event[*obj]{Type: informer.Deleted, Old: in, New: out}},
		{"a delete whose last state is inside", informer.Event[*obj]{Type: informer.Deleted, Old: out, New: in}, informer.Event[*obj]{}},
		{"a resync", informer.Event[*obj]{Type: informer.Updated, Cause: informer.Resync, Old: in, New: in}, informer.Event[*obj]{Type: informer.Updated, Cause: informer.Resync, Old: in, New: in}},
	} {
		var got informer.Event[*obj]
		informer.Filter(func(o *obj) bool { return o.v == "in" }, func(e informer.Event[*obj]) { got = e })(c.from)
		require.Equal(t, c.want, got, c.name)
	}
}

// G1, G2 for the objects that pass the filter. Under any faults, the filtered handler knows exactly
// the objects that pass, even if its events are merged because it is slow.
func TestFilteredHandlersKnowExactlyTheMatchingObjects(t *testing.T) {
	bubble(t, func(r *rig) {
		even := func(pod *corev1.Pod) bool {
			changed := pod.Labels["changed"]
			return changed == "" || changed[len(changed)-1]%2 == 0
		}
		known := map[types.NamespacedName]string{}
		var wrong []string
		r.add(informer.Filter(even, func(e informer.Event[*corev1.Pod]) {
			time.Sleep(30 * time.Millisecond)
			if _, knows := known[e.Key]; knows == (e.Type == informer.Added) {
				wrong = append(wrong, fmt.Sprint(e.Type, e.Key, knows))
			}
			if e.Type == informer.Deleted {
				delete(known, e.Key)
			} else {
				known[e.Key] = e.ResourceVersion
			}
		}), informer.HandlerOptions{Mailbox: 4})
		r.churn(20, 30, false)
		r.runSynced()
		r.churn(20, 400, true)
		r.settle()
		time.Sleep(time.Minute)
		synctest.Wait()
		want := r.versions()
		maps.DeleteFunc(want, func(key types.NamespacedName, _ string) bool {
			pod, _ := r.informer.Store().Get(key)
			return !even(pod)
		})
		require.Equal(r.t, want, known)
		require.Empty(r.t, wrong)
		require.NotEmpty(r.t, known)
	})
}
