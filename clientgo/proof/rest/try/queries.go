package main

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

var background = context.Background()

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func ptr[T any](v T) *T { return &v }

// badCodec is a parameter codec that always fails.
type badCodec struct{}

func (badCodec) DecodeParameters(url.Values, schema.GroupVersion, runtime.Object) error {
	return errProgram
}

func (badCodec) EncodeParameters(runtime.Object, schema.GroupVersion) (url.Values, error) {
	return url.Values{"left": {"over"}}, errProgram
}

func tryQueries() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	c := clientOf(s)
	options := map[string]runtime.Object{
		"none": &metav1.ListOptions{}, "full": &metav1.ListOptions{
			LabelSelector: "a in (b,c),d!=e", FieldSelector: "metadata.name=x,spec.nodeName!=", Watch: true, AllowWatchBookmarks: true, ResourceVersion: "7",
			ResourceVersionMatch: metav1.ResourceVersionMatchExact, TimeoutSeconds: ptr(int64(5)), Limit: 10, Continue: "c/+=", SendInitialEvents: ptr(true),
		},
		"zero": &metav1.ListOptions{TimeoutSeconds: ptr(int64(0)), SendInitialEvents: ptr(false)}, "get": &metav1.GetOptions{ResourceVersion: "0"},
		"create": &metav1.CreateOptions{DryRun: []string{"All", "x"}, FieldManager: "me", FieldValidation: "Strict"}, "patch": &metav1.PatchOptions{Force: ptr(true)},
		"delete": &metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(0)), Preconditions: metav1.NewUIDPreconditions("u")},
		"log":    &corev1.PodLogOptions{Container: "c", Follow: true, SinceTime: ptr(metav1.NewTime(time.Unix(1, 0).UTC())), TailLines: ptr(int64(3))},
		"exec":   &corev1.PodExecOptions{Command: []string{"sh", "-c", "a b"}, Stdin: true, TTY: true}, "pod": &corev1.Pod{}, "nil": nil, "typed nil": (*metav1.ListOptions)(nil),
	}
	versions := []schema.GroupVersion{{Version: "v1"}, {}, {Group: "apps", Version: "v1"}, {Group: "unknown", Version: "v9"}, {Group: "meta.k8s.io", Version: "v1"}}
	for _, name := range sorted(options) {
		block("params "+name, func() { sendOnce(s, c.Get().Param("limit", "1").VersionedParams(options[name], scheme.ParameterCodec)) })
		for _, version := range versions {
			block(fmt.Sprintf("params %s in %q", name, version), func() {
				sendOnce(s, c.Get().SpecificallyVersionedParams(options[name], scheme.ParameterCodec, version))
				sendOnce(s, c.Get().SpecificallyVersionedParams(options[name], metav1.ParameterCodec, version).Param("limit", "7"))
			})
		}
	}
	cases := map[string]func() *rest.Request{
		"bad codec": func() *rest.Request { return c.Get().VersionedParams(options["full"], badCodec{}).Param("a", "b") },
		"twice":     func() *rest.Request { return c.Get().Param("b", "2").Param("a", "x").Param("b", "1").Param("b", "2") },
		"odd names": func() *rest.Request { return c.Get().Param("", "").Param("a b", "ä&=+%").Param("x", "\x00\n") },
		"after an error": func() *rest.Request {
			return c.Get().Name("").Param("b", "2").VersionedParams(options["full"], badCodec{})
		},
		"timeout":           func() *rest.Request { return c.Get().Timeout(1500 * time.Millisecond) },
		"timeout twice":     func() *rest.Request { return c.Get().Timeout(time.Second).Timeout(90 * time.Second) },
		"timeout zero":      func() *rest.Request { return c.Get().Timeout(time.Second).Timeout(0) },
		"timeout negative":  func() *rest.Request { return c.Get().Timeout(-time.Second) },
		"timeout and param": func() *rest.Request { return c.Get().Param("timeout", "x").Timeout(time.Minute).Param("timeout", "y") },
		"timeout uri":       func() *rest.Request { return c.Get().Timeout(time.Minute).RequestURI("/x?timeout=7s&a=b&a=c") },
		"uri twice":         func() *rest.Request { return c.Get().RequestURI("/x?a=b").RequestURI("/y?c=d") },
		"uri then none":     func() *rest.Request { return c.Get().RequestURI("/x?a=b").RequestURI("/y") },
		"uri semicolon":     func() *rest.Request { return c.Get().RequestURI("/x?a=b;c=d") },
		"uri bad escape":    func() *rest.Request { return c.Get().RequestURI("/x?a=%zz&b=c") },
		"uri fragment":      func() *rest.Request { return c.Get().RequestURI("/x?a=b#c") },
		"uri host":          func() *rest.Request { return c.Get().RequestURI("https://user@other/x?a=b") },
		"uri escaped":       func() *rest.Request { return c.Get().RequestURI("/a%2Fb/%20c?d=%2F") },
		"uri and parts":     func() *rest.Request { return c.Get().Resource("pods").Name("p").RequestURI("/x/?a=b").Suffix("s") },
		"uri opaque":        func() *rest.Request { return c.Get().RequestURI("mailto:x") },
		"uri query only":    func() *rest.Request { return c.Get().RequestURI("?a=b") },
		"param then uri": func() *rest.Request {
			return c.Get().Param("p", "q").RequestURI("/x?a=b").VersionedParams(options["get"], scheme.ParameterCodec)
		},
	}
	for _, name := range sorted(cases) {
		block("query "+name, func() {
			send(s, cases[name])
			r := cases[name]()
			r.URL().RawQuery = "changed"
			line(r.URL())
		})
	}
}
