package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/rest"
)

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns"}, Spec: corev1.PodSpec{NodeName: "n"}}
}

// unregisteredObject is an object whose type is not in any scheme.
type unregisteredObject struct {
	metav1.TypeMeta
	A string `json:"a"`
}

func (s *unregisteredObject) DeepCopyObject() runtime.Object { return s }

// brokenReader fails after some bytes.
type brokenReader struct{ io.Reader }

func (b brokenReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = errProgram
	}
	return n, err
}

// closer records that it was closed.
type closer struct {
	io.Reader
	name string
}

func (c closer) Close() error { count("closed"); return nil }

func tryBodies() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	file := filepath.Join(directory, "body")
	if err := os.WriteFile(file, []byte("of a file"), 0o600); err != nil {
		panic(err)
	}
	empty := filepath.Join(directory, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		panic(err)
	}
	bodies := map[string]func() any{
		"file":           func() any { return file },
		"empty file":     func() any { return empty },
		"missing file":   func() any { return filepath.Join(directory, "missing") },
		"directory":      func() any { return directory },
		"empty string":   func() any { return "" },
		"bytes":          func() any { return []byte("some") },
		"no bytes":       func() any { return []byte{} },
		"nil bytes":      func() any { return []byte(nil) },
		"many bytes":     func() any { return bytes.Repeat([]byte("x"), 1<<20) },
		"bytes reader":   func() any { return bytes.NewReader([]byte("some")) },
		"strings reader": func() any { return strings.NewReader("some") },
		"buffer":         func() any { return bytes.NewBufferString("some") },
		"empty reader":   func() any { return strings.NewReader("") },
		"own reader":     func() any { return io.MultiReader(strings.NewReader("so"), strings.NewReader("me")) },
		"broken reader":  func() any { return brokenReader{strings.NewReader("some")} },
		"closer":         func() any { return closer{strings.NewReader("some"), "a"} },
		"nil reader":     func() any { return (*bytes.Reader)(nil) },
		"no body":        func() any { return io.NopCloser(strings.NewReader("")) },
		"pod":            func() any { return pod("p") },
		"pod with kind":  func() any { p := pod("p"); p.Kind, p.APIVersion = "Pod", "v2"; return p },
		"pod value":      func() any { return *pod("p") },
		"empty pod":      func() any { return &corev1.Pod{} },
		"nil pod":        func() any { return (*corev1.Pod)(nil) },
		"list":           func() any { return &corev1.PodList{Items: []corev1.Pod{*pod("a"), *pod("b")}} },
		"options":        func() any { return &metav1.DeleteOptions{DryRun: []string{"All"}} },
		"nil options":    func() any { return (*metav1.DeleteOptions)(nil) },
		"status":         func() any { return &metav1.Status{Message: "m"} },
		"stranger":       func() any { return &unregisteredObject{A: "b"} },
		"nil stranger":   func() any { return (*unregisteredObject)(nil) },
		"unknown":        func() any { return &runtime.Unknown{Raw: []byte(`{"a":"b"}`), ContentType: jsonType} },
		"nil":            func() any { return nil },
		"int":            func() any { return 7 },
		"struct":         func() any { return struct{ A string }{"b"} },
		"map":            func() any { return map[string]string{"a": "b"} },
		"error":          func() any { return errProgram },
		"unstructured": func() any {
			return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "u"}}}
		},
		"odd unstructured": func() any { return &unstructured.Unstructured{Object: map[string]any{"a": "b"}} },
		"nil unstructured": func() any { return (*unstructured.Unstructured)(nil) },
		"unstructured list": func() any {
			return &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
		},
	}
	clients := map[string]*rest.RESTClient{"json": clientOf(s), "protobuf": clientOf(s, protobuf), "yaml": clientOf(s, func(c *rest.Config) { c.ContentType = "application/yaml" }),
		"unknown": clientOf(s, func(c *rest.Config) { c.ContentType = "x/y" }), "apps": clientOf(s, func(c *rest.Config) { c.GroupVersion = &schema.GroupVersion{Group: "apps", Version: "v1"} })}
	for _, body := range sorted(bodies) {
		for _, client := range sorted(clients) {
			block("body "+body+" "+client, func() {
				c := clients[client]
				send(s, func() *rest.Request { return c.Post().Resource("pods").Body(bodies[body]()) })
				sendOnce(s, c.Post().SetHeader("Content-Type", "own").Body(bodies[body]()))
				sendOnce(s, c.Post().Body(bodies[body]()).SetHeader("Content-Type", "own"))
				if client == "json" {
					sendOnce(s, c.Get().Body(bodies[body]()))
					sendOnce(s, c.Verb("DELETE").Body(bodies[body]()))
					for _, next := range []string{"bytes", "strings reader", "pod", "nil pod", "nil", "no bytes"} {
						line(next)
						sendOnce(s, c.Put().Body(bodies[body]()).Body(bodies[next]()))
					}
					r := c.Post().Body(bodies[body]())
					sendOnce(s, r)
					sendOnce(s, r)
				}
				printCounts()
			})
		}
	}
	// Each kind of body is sent again after a failure.
	for _, body := range []string{"file", "bytes", "no bytes", "bytes reader", "strings reader", "buffer", "own reader", "broken reader", "closer", "pod", "nil pod", "options"} {
		for _, verb := range []string{"GET", "POST", "PUT", "DELETE"} {
			block(fmt.Sprintf("body %s %s again", body, verb), func() {
				c := clients["json"]
				s.setResponses(newResponse(503, textType, "busy").withHeader("Retry-After", "0"), newResponse(500, textType, "busy").withHeader("Retry-After", "0"), newResponse(200, textType, "fine"))
				send(s, func() *rest.Request { return c.Verb(verb).Body(bodies[body]()) })
				for _, how := range []string{"stream", "watch"} {
					s.setResponses(newResponse(429, textType, "busy").withHeader("Retry-After", "0"), newResponse(200, jsonType, ""))
					r := c.Verb(verb).Body(bodies[body]())
					if how == "stream" {
						showStream(r)
					} else {
						showWatch(r)
					}
					s.printRequests()
				}
				s.setResponses(response{}, newResponse(200, textType, "fine"))
				line(attempts(s, c.Verb(verb).MaxRetries(1).Body(bodies[body]())))
			})
		}
	}
}

// attempts returns the number of times that a request is sent if each of its connections is lost.
func attempts(s *server, r *rest.Request) string {
	ctx, cancel := withShortTimeout()
	defer cancel()
	raw, err := r.BackOffWithContext(&recordingBackoff{}).DoRaw(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprint(short(raw), " ", kindOf(err), " ", len(s.requests), " times")
}
