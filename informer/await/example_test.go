package await_test

import (
	"context"
	"fmt"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer/await"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The store is usually an informer's: pods.Store().
func Example() {
	store, err := indexer.New(indexer.Options[*corev1.Pod]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	key := types.NamespacedName{Namespace: "shop", Name: "web"}
	go func() {
		pod := &corev1.Pod{Status: corev1.PodStatus{
			PodIP:      "10.0.0.7",
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		}}
		_, _ = store.Apply([]indexer.Op[*corev1.Pod]{{Key: key, Object: pod, ResourceVersion: "12"}}, "12")
	}()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	hasAddress := await.New("it has an address", func(s await.State[*corev1.Pod]) bool {
		return s.Exists && s.Object.Status.PodIP != ""
	})
	pod, err := await.Until(ctx, store, key, await.And(await.PodReady[*corev1.Pod](), hasAddress))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ready at", pod.Status.PodIP)

	// Output:
	// ready at 10.0.0.7
}
