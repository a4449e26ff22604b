package main

import (
	"fmt"
	"io"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"k8s.io/client-go/rest"
)

var silent = log.New(io.Discard, "", 0)

// show prints everything that a result returns.
func show(r rest.Result) {
	var code int
	var kind string
	var created bool
	r.StatusCode(&code).ContentType(&kind).WasCreated(&created)
	raw, err := r.Raw()
	line("result", code, fmt.Sprintf("%q", kind), created, text(r.Warnings()))
	line("raw", short(raw), kindOf(err))
	line("error", kindOf(r.Error()))
	obj, err := r.Get()
	line("get", object(obj), kindOf(err))
	for _, into := range []runtime.Object{&corev1.Pod{}, &corev1.PodList{}, &metav1.Status{}} {
		err := r.Into(into)
		line("into", object(into), kindOf(err))
	}
}

// object returns the type and the content of an object.
func object(obj runtime.Object) string {
	if obj == nil {
		return "nil"
	}
	return fmt.Sprintf("%T %s", obj, text(obj))
}

// send sends a request with the methods that read the whole response, and prints the results.
func send(s *server, make func() *rest.Request) {
	ctx, cancel := withShortTimeout()
	defer cancel()
	r := make()
	line("url", r.URL(), kindOf(r.Error()))
	raw, err := r.DoRaw(ctx)
	line("doraw", short(raw), kindOf(err))
	s.printRequests()
	printCounts()
	show(make().Do(ctx))
	s.printRequests()
	printCounts()
}

// sendOnce sends a request, and prints the requests that arrive.
func sendOnce(s *server, r *rest.Request) {
	ctx, cancel := withShortTimeout()
	defer cancel()
	line("url", r.URL(), kindOf(r.Error()))
	raw, err := r.DoRaw(ctx)
	line("doraw", short(raw), kindOf(err))
	s.printRequests()
}
