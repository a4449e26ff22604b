// Command recorder records three events about a pod with each of client-go's two recorders, and
// ends when the server has counted them.
package main

import (
	"context"
	"flag"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgo "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
)

var (
	file       = flag.String("kubeconfig", "", "path of the kubeconfig")
	namespace  = flag.String("namespace", "default", "namespace of the pod")
	name       = flag.String("pod", "", "name of the pod")
	controller = flag.String("controller", "", "name of the controller that records")
)

func main() {
	flag.Parse()
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", *file)
	if err != nil {
		return err
	}
	client, err := clientgo.NewForConfig(config)
	if err != nil {
		return err
	}
	pod, err := client.CoreV1().Pods(*namespace).Get(ctx, *name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	newer := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	defer newer.Shutdown()
	if err := newer.StartRecordingToSinkWithContext(ctx); err != nil {
		return err
	}
	older := record.NewBroadcaster()
	defer older.Shutdown()
	older.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	new, old := newer.NewRecorder(scheme.Scheme, *controller), older.NewRecorder(scheme.Scheme, corev1.EventSource{Component: *controller})
	for range 3 {
		new.Eventf(pod, nil, corev1.EventTypeWarning, "PeerNew", "PeerNew", "it was client-go")
		old.Eventf(pod, corev1.EventTypeWarning, "PeerOld", "it was client-go")
		time.Sleep(time.Second)
	}
	time.Sleep(2 * time.Second)
	return nil
}
