package kinform_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/rest"
)

// A cache of all pods, and four workers that look at each pod that changed. Package apitest stands
// in for a cluster; examples/minimal connects to a real one.
func Example() {
	server := apitest.New(apitest.Options{})
	defer server.Close()
	if err := server.Listen("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	web := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	if _, err := server.Create(web); err != nil {
		fmt.Println(err)
		return
	}

	client, err := rest.NewClient(rest.Config{Host: server.URL()}, rest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	manager, err := controller.New(client, controller.Options{Name: "pods"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	pods := controller.For[*corev1.Pod](manager, rest.ResourceOptions{})
	controller.Manage(manager, "pods", pods, func(_ context.Context, pod *corev1.Pod) (controller.Result, error) {
		fmt.Println("reconcile", pod.Namespace, pod.Name, pod.Status.Phase)
		stop() // A real controller runs until its program ends.
		return controller.Done, nil
	}, controller.Settings[*corev1.Pod]{Workers: 4})
	fmt.Println("ended:", manager.Run(ctx))
	// Output:
	// reconcile shop web Running
	// ended: <nil>
}
