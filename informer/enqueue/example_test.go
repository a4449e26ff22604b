package enqueue_test

import (
	"context"
	"fmt"
	"iter"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/workqueue"
)

// A controller of websites enqueues the owner of each changed pod.
func Example() {
	queue := workqueue.New(workqueue.Options[types.NamespacedName]{})
	handle := enqueue.Owner[*corev1.Pod](queue, websiteKind)

	// An informer does the following after pods.AddHandler(handle, ...).
	pod := func(name, owner string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "example.com/v1", Kind: "Website", Name: owner, Controller: new(true)},
		}}}
	}
	key := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "web", Name: name} }
	handle(informer.Event[*corev1.Pod]{Type: informer.Added, Cause: informer.Initial, Key: key("blog-1"), New: pod("blog-1", "blog")})
	handle(informer.Event[*corev1.Pod]{Type: informer.Added, Cause: informer.Initial, Key: key("shop-1"), New: pod("shop-1", "shop")})
	handle(informer.Event[*corev1.Pod]{Type: informer.Deleted, Cause: informer.Watch, Key: key("shop-1"), Old: pod("shop-1", "shop"), New: pod("shop-1", "shop")})

	for queue.Len() > 0 {
		item, err := queue.GetItem(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(item.Key, "from", item.Causes.First, "to", item.Causes.Last, item.Priority)
		queue.Done(item.Key)
	}
	// Output:
	// web/shop from initial to watch 0
	// web/blog from initial to initial -100
}

// When a secret changes, all pods that name it are enqueued. An index of the pods' informer finds
// these pods.
func ExampleMap() {
	// With an informer: pods := inf.Store(), and inf.AddIndex.
	pods, err := indexer.New(indexer.Options[*corev1.Pod]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = pods.AddIndex("secret", func(pod *corev1.Pod) (secrets []string, _ error) {
		for _, volume := range pod.Spec.Volumes {
			if volume.Secret != nil {
				secrets = append(secrets, pod.Namespace+"/"+volume.Secret.SecretName)
			}
		}
		return secrets, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	queue := workqueue.New(workqueue.Options[types.NamespacedName]{})
	handle := enqueue.Map(queue, func(e informer.Event[*corev1.Secret]) iter.Seq[types.NamespacedName] {
		naming, err := pods.ByIndex("secret", e.Key.String())
		if err != nil {
			return nil // There is no such index.
		}
		return maps.Keys(maps.Collect(naming))
	})

	web := types.NamespacedName{Namespace: "shop", Name: "web"}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls"}}}}}}
	pod.Namespace, pod.Name = web.Namespace, web.Name
	if _, err := pods.Apply([]indexer.Op[*corev1.Pod]{{Key: web, Object: pod, ResourceVersion: "1"}}, "1"); err != nil {
		fmt.Println(err)
		return
	}
	handle(informer.Event[*corev1.Secret]{Type: informer.Updated, Cause: informer.Watch, Key: types.NamespacedName{Namespace: "shop", Name: "tls"}})
	key, _ := queue.TryGet()
	fmt.Println(key)
	// Output:
	// shop/web
}
