package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	restclient "k8s.io/client-go/rest"
	newerevents "k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"

	"github.com/kinform/kinform/events"
	"github.com/kinform/kinform/rest"
)

// pods are the objects of the events. They are made in advance.
type pods []*corev1.Pod

var objects = func() (all pods) {
	for n := range 20_000 {
		all = append(all, &corev1.Pod{
			// client-go's recorders look up a missing TypeMeta in the scheme.
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("pod-%05d", n), UID: "6f8b6d0e-8e5f-4b0c-9d4e-3c1a2b3c4d5e", ResourceVersion: "1"},
		})
	}
	return all
}()

func (p pods) number(n int) *corev1.Pod { return p[n%len(p)] }

// responseCounter counts the responses of the server.
type responseCounter struct{ count atomic.Int64 }

func (a *responseCounter) responses() int { return int(a.count.Load()) }

func (a *responseCounter) wrap(next http.RoundTripper) http.RoundTripper { return counting{next, a} }

type counting struct {
	next http.RoundTripper
	all  *responseCounter
}

// RoundTrip implements http.RoundTripper.
func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	defer c.all.count.Add(1)
	return c.next.RoundTrip(r)
}

// clientGo makes a client without a rate limit.
func clientGo(address string, counter *responseCounter) (*clientset.Clientset, *http.Client, error) {
	config := &restclient.Config{Host: address, QPS: -1, WrapTransport: counter.wrap}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	own, err := restclient.HTTPClientFor(config)
	if err != nil {
		return nil, nil, err
	}
	set, err := clientset.NewForConfigAndClient(config, own)
	return set, own, err
}

// newer is the recorder of tools/events.
type newer struct {
	responseCounter
	broadcaster newerevents.EventBroadcaster
	recorder    newerevents.EventRecorder
	http        *http.Client
	cancel      context.CancelFunc
}

func openNewer(address string, sending bool) (recorder, error) {
	r := &newer{}
	client, own, err := clientGo(address, &r.responseCounter)
	if err != nil {
		return nil, err
	}
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(context.Background())
	r.http = own
	r.broadcaster = newerevents.NewBroadcaster(&newerevents.EventSinkImpl{Interface: client.EventsV1()})
	r.recorder = r.broadcaster.NewRecorder(scheme.Scheme, "example.com/bench")
	if sending {
		return r, r.broadcaster.StartRecordingToSinkWithContext(ctx)
	}
	return r, nil
}

func (r *newer) record(object int, note string) {
	r.recorder.Eventf(objects.number(object), nil, corev1.EventTypeNormal, "Pulled", "Pull", "%s", note)
}

func (r *newer) close() error {
	r.cancel()
	r.broadcaster.Shutdown()
	r.http.CloseIdleConnections()
	return nil
}

// older is the recorder of tools/record.
type older struct {
	responseCounter
	broadcaster record.EventBroadcaster
	recorder    record.EventRecorder
	http        *http.Client
}

func openOlder(address string, sending bool) (recorder, error) {
	r := &older{}
	client, own, err := clientGo(address, &r.responseCounter)
	if err != nil {
		return nil, err
	}
	r.http = own
	r.broadcaster = record.NewBroadcaster()
	r.recorder = r.broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "bench"})
	if sending {
		r.broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	}
	return r, nil
}

func (r *older) record(object int, note string) {
	r.recorder.Eventf(objects.number(object), corev1.EventTypeNormal, "Pulled", "%s", note)
}

func (r *older) close() error {
	r.broadcaster.Shutdown()
	r.http.CloseIdleConnections()
	return nil
}

// kinform is the recorder of package events.
type kinform struct {
	client   *rest.Client
	recorder *events.Recorder
	cancel   context.CancelFunc
	ended    chan error
}

func openKinform(address string, sending bool) (recorder, error) {
	client, err := rest.NewClient(rest.Config{Host: address}, rest.Options{})
	if err != nil {
		return nil, err
	}
	r := &kinform{client: client, cancel: func() {}, ended: make(chan error, 1)}
	if r.recorder, err = events.New(client, "example.com/bench", events.Options{}); err != nil {
		return nil, err
	}
	if !sending {
		r.ended <- nil
		return r, nil
	}
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(context.Background())
	go func() { r.ended <- r.recorder.Run(ctx) }()
	return r, nil
}

func (r *kinform) record(object int, note string) {
	r.recorder.Record(events.Event{Object: objects.number(object), Reason: "Pulled", Action: "Pull", Note: note})
}

func (r *kinform) responses() int {
	s := r.recorder.Stats()
	return int(s.Created + s.Updated + s.Failures)
}

func (r *kinform) close() error {
	r.cancel()
	err := <-r.ended
	r.client.Close()
	return err
}
