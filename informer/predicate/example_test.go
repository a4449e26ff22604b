package predicate_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/predicate"
)

// The handler receives changes of the specification, and resyncs.
func Example() {
	handle := func(e informer.Event[*corev1.ReplicationController]) {
		fmt.Println(e.Cause, e.Type, e.New.Generation)
	}
	handle = predicate.When(predicate.Any(
		predicate.GenerationChanged[*corev1.ReplicationController],
		predicate.CausedBy[*corev1.ReplicationController](informer.Resync),
	), handle)

	// An informer does the following after inf.AddHandler(handle, ...).
	at := func(generation int64) *corev1.ReplicationController {
		return &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Generation: generation}}
	}
	handle(informer.Event[*corev1.ReplicationController]{Type: informer.Added, Cause: informer.Initial, New: at(1)})
	handle(informer.Event[*corev1.ReplicationController]{Type: informer.Updated, Cause: informer.Watch, Old: at(1), New: at(1)})
	handle(informer.Event[*corev1.ReplicationController]{Type: informer.Updated, Cause: informer.Watch, Old: at(1), New: at(2)})
	handle(informer.Event[*corev1.ReplicationController]{Type: informer.Updated, Cause: informer.Resync, Old: at(2), New: at(2)})
	// Output:
	// initial Added 1
	// watch Updated 2
	// resync Updated 2
}
