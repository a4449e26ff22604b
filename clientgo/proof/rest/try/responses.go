package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// encoded returns an object in a media type.
func encoded(kind string, obj runtime.Object) string {
	for _, info := range scheme.Codecs.SupportedMediaTypes() {
		if info.MediaType == kind {
			data, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, schema.GroupVersion{Version: "v1"}), obj)
			if err != nil {
				panic(err)
			}
			return string(data)
		}
	}
	panic(kind)
}

var failure = &metav1.Status{
	Status: metav1.StatusFailure, Message: "of the server", Reason: metav1.StatusReasonConflict, Code: 409,
	Details: &metav1.StatusDetails{Name: "n", Group: "g", Kind: "k", RetryAfterSeconds: 3, Causes: []metav1.StatusCause{{Type: "T", Message: "m", Field: "f"}}},
}

// responseBodies returns response bodies with their media types.
func responseBodies() map[string]response {
	js, pb := encoded(jsonType, pod("p")), encoded(protobufType, pod("p"))
	statusJSON, statusPB := encoded(jsonType, failure), encoded(protobufType, failure)
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "5", Continue: "c"}, Items: []corev1.Pod{*pod("a"), *pod("b")}}
	return map[string]response{
		"pod":                      newResponse(0, jsonType, js),
		"pod protobuf":             newResponse(0, protobufType, pb),
		"pod without type":         newResponse(0, "-", js),
		"pod protobuf as json":     newResponse(0, jsonType, pb),
		"pod as protobuf":          newResponse(0, protobufType, js),
		"pod as text":              newResponse(0, textType, js),
		"pod with charset":         newResponse(0, "application/json; charset=utf-8", js),
		"pod upper case":           newResponse(0, "Application/JSON", js),
		"pod as yaml":              newResponse(0, "application/yaml", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: y\n"),
		"pod as cbor":              newResponse(0, "application/cbor", js),
		"pod as a stream":          newResponse(0, "application/json;stream=watch", js),
		"pod as a table":           newResponse(0, "application/json;as=Table;v=v1;g=meta.k8s.io", js),
		"pod of a bad type":        newResponse(0, "a/b/c", js),
		"pod of an odd type":       newResponse(0, "application/json; a", js),
		"pod of a doubled type":    newResponse(0, "application/json, application/json", js),
		"pod of an unknown type":   newResponse(0, "x/y", js),
		"pod twice":                newResponse(0, jsonType, js+js),
		"pod with garbage behind":  newResponse(0, jsonType, js+"garbage"),
		"pod cut":                  newResponse(0, jsonType, js[:len(js)-10]),
		"pod protobuf cut":         newResponse(0, protobufType, pb[:len(pb)-10]),
		"pod protobuf magic only":  newResponse(0, protobufType, "k8s\x00"),
		"pod invalid utf-8":        newResponse(0, jsonType, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"`+"\xff\xfe"+`"}}`),
		"pod unknown field":        newResponse(0, jsonType, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","odd":1},"more":{}}`),
		"pod twice a field":        newResponse(0, jsonType, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"},"metadata":{"namespace":"y"}}`),
		"pod field of wrong type":  newResponse(0, jsonType, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":7}}`),
		"pod case of fields":       newResponse(0, jsonType, `{"Kind":"Pod","APIVersion":"v1","Metadata":{"Name":"x"}}`),
		"pod without kind":         newResponse(0, jsonType, `{"apiVersion":"v1","metadata":{"name":"x"}}`),
		"pod without version":      newResponse(0, jsonType, `{"kind":"Pod","metadata":{"name":"x"}}`),
		"pod of another version":   newResponse(0, jsonType, `{"kind":"Pod","apiVersion":"v7","metadata":{"name":"x"}}`),
		"pod of a bad version":     newResponse(0, jsonType, `{"kind":"Pod","apiVersion":"a/b/c","metadata":{"name":"x"}}`),
		"pod with a mark":          newResponse(0, jsonType, "\xef\xbb\xbf"+js),
		"another kind":             newResponse(0, jsonType, encoded(jsonType, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}})),
		"another kind protobuf":    newResponse(0, protobufType, encoded(protobufType, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}})),
		"unknown kind":             newResponse(0, jsonType, `{"kind":"Odd","apiVersion":"v1"}`),
		"list":                     newResponse(0, jsonType, encoded(jsonType, list)),
		"list protobuf":            newResponse(0, protobufType, encoded(protobufType, list)),
		"empty list":               newResponse(0, jsonType, encoded(jsonType, &corev1.PodList{})),
		"empty list protobuf":      newResponse(0, protobufType, encoded(protobufType, &corev1.PodList{})),
		"list of null":             newResponse(0, jsonType, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}`),
		"list without items":       newResponse(0, jsonType, `{"kind":"PodList","apiVersion":"v1"}`),
		"list of bad items":        newResponse(0, jsonType, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"x"}},7]}`),
		"list cut":                 newResponse(0, jsonType, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"x"}},`),
		"list items first":         newResponse(0, jsonType, `{"items":[{"metadata":{"name":"x"}}],"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","remainingItemCount":3}}`),
		"list of null items":       newResponse(0, jsonType, `{"kind":"PodList","apiVersion":"v1","items":[null,{}]}`),
		"generic list":             newResponse(0, jsonType, `{"kind":"List","apiVersion":"v1","items":[{"kind":"Pod","apiVersion":"v1"}]}`),
		"empty":                    newResponse(0, jsonType, ""),
		"empty protobuf":           newResponse(0, protobufType, ""),
		"empty without type":       newResponse(0, "-", ""),
		"empty text":               newResponse(0, textType, ""),
		"text":                     newResponse(0, textType, "  some text\n"),
		"text without type":        newResponse(0, "-", "some text"),
		"long text":                newResponse(0, textType, strings.Repeat("long ", 1000)),
		"invalid text":             newResponse(0, "text/plain; charset=x", "a\xff\x00b"),
		"long text cut in a rune":  newResponse(0, textType, "x"+strings.Repeat("ä", 2000)),
		"html":                     newResponse(0, "text/html", "<p>gateway</p>"),
		"null":                     newResponse(0, jsonType, "null"),
		"array":                    newResponse(0, jsonType, "[1]"),
		"number":                   newResponse(0, jsonType, "7"),
		"brace":                    newResponse(0, jsonType, "{"),
		"empty object":             newResponse(0, jsonType, "{}"),
		"text as json":             newResponse(0, jsonType, "some text"),
		"deep":                     newResponse(0, jsonType, strings.Repeat(`{"a":`, 20000)+"1"+strings.Repeat("}", 20000)),
		"huge":                     newResponse(0, jsonType, `{"kind":"ConfigMap","apiVersion":"v1","data":{"a":"`+strings.Repeat("x", 4<<20)+`"}}`),
		"status":                   newResponse(0, jsonType, statusJSON),
		"status protobuf":          newResponse(0, protobufType, statusPB),
		"status as text":           newResponse(0, textType, statusJSON),
		"status without type":      newResponse(0, "-", statusJSON),
		"status as yaml":           newResponse(0, "application/yaml", "kind: Status\napiVersion: v1\nstatus: Failure\nreason: NotFound\ncode: 404\n"),
		"status of a bad type":     newResponse(0, "a/b/c", statusJSON),
		"status of unknown type":   newResponse(0, "x/y", statusJSON),
		"status cut":               newResponse(0, jsonType, statusJSON[:len(statusJSON)-5]),
		"status without version":   newResponse(0, jsonType, `{"kind":"Status","status":"Failure","message":"m","reason":"Expired","code":410}`),
		"status without kind":      newResponse(0, jsonType, `{"apiVersion":"v1","status":"Failure","message":"m","reason":"Expired","code":410}`),
		"status without anything":  newResponse(0, jsonType, `{"status":"Failure","message":"m","reason":"Expired","code":410}`),
		"status meta version":      newResponse(0, jsonType, `{"kind":"Status","apiVersion":"meta.k8s.io/v1","status":"Failure","message":"m","reason":"Expired","code":410}`),
		"status of another group":  newResponse(0, jsonType, `{"kind":"Status","apiVersion":"x/v1","status":"Failure","message":"m","reason":"Expired","code":410}`),
		"status of wrong kind":     newResponse(0, jsonType, `{"kind":"Pod","apiVersion":"v1","status":{"phase":"Failed"}}`),
		"status of success":        newResponse(0, jsonType, `{"kind":"Status","apiVersion":"v1","status":"Success","details":{"name":"x","kind":"pods"}}`),
		"status success protobuf":  newResponse(0, protobufType, encoded(protobufType, &metav1.Status{Status: metav1.StatusSuccess})),
		"status of nothing":        newResponse(0, jsonType, `{"kind":"Status","apiVersion":"v1"}`),
		"status of odd":            newResponse(0, jsonType, `{"kind":"Status","apiVersion":"v1","status":"Odd","reason":"NotFound"}`),
		"status without reason":    newResponse(0, jsonType, `{"kind":"Status","apiVersion":"v1","status":"Failure"}`),
		"status only code":         newResponse(0, jsonType, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":403}`),
		"status only reason":       newResponse(0, jsonType, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid"}`),
		"status unexpected causes": newResponse(0, jsonType, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","details":{"causes":[{"reason":"UnexpectedServerResponse","message":"x"}]},"code":500}`),
	}
}

var codes = []int{200, 201, 202, 203, 204, 205, 206, 207, 226, 300, 301, 302, 304, 307, 308, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 412, 413, 415, 418, 422, 429, 500, 501, 502, 503, 504, 505, 599, 600, 999}

func tryResponses() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	all := responseBodies()
	plain, inProtobuf := clientOf(s), clientOf(s, protobuf)
	for _, name := range sorted(all) {
		for _, code := range []int{200, 201, 404, 500} {
			block(fmt.Sprintf("answer %s %d", name, code), func() {
				a := all[name]
				a.code = code
				s.setResponses(a)
				send(s, func() *rest.Request { return plain.Get().Namespace("ns").Resource("pods").Name("p") })
				show(inProtobuf.Post().Resource("pods").Body(pod("p")).Do(background))
				show(plain.Get().RequestURI("/odd").Do(background))
				showStream(plain.Get().Resource("pods"))
			})
		}
	}
	named := []string{"empty", "text", "status", "status protobuf", "text as json", "empty without type", "status without anything", "html"}
	for _, code := range codes {
		for _, verb := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"} {
			block(fmt.Sprintf("code %d %s", code, verb), func() {
				for _, name := range named {
					a := all[name]
					if a.code = code; code == 204 || code == 304 {
						a.body = ""
					}
					s.setResponses(a)
					line(name)
					for _, r := range []*rest.Request{plain.Verb(verb).Namespace("ns").Resource("pods").Name("p"), plain.Verb(verb).Resource("pods"), plain.Verb(verb).AbsPath("/odd"), inProtobuf.Verb(verb).Resource("pods").SubResource("x")} {
						raw, err := r.DoRaw(background)
						line("doraw", short(raw), kindOf(err))
						line("do", kindOf(r.Do(background).Error()))
						obj, err := r.Do(background).Get()
						line("get", object(obj), kindOf(err))
					}
					r := plain.Verb(verb).Resource("pods")
					printCounts()
					showStream(r)
					showWatch(r)
					printCounts()
				}
			})
		}
	}
	tryRedirects(plain, s)
	tryCompression(plain, inProtobuf, s)
	tryTargets(plain, inProtobuf, s)
}

func tryRedirects(c *rest.RESTClient, s *server) {
	for _, code := range []int{300, 301, 302, 303, 304, 305, 307, 308} {
		for _, verb := range []string{"GET", "POST", "DELETE"} {
			for _, to := range []string{"/other?x=y", "relative", "http://127.0.0.1:1/", "", ":bad", "unix:///x"} {
				block(fmt.Sprintf("redirect %d %s %q", code, verb, to), func() {
					for _, body := range []any{[]byte("body"), strings.NewReader("reader"), nil} {
						first := newResponse(code, textType, "there")
						if to != "" {
							first = first.withHeader("Location", to)
						}
						s.setResponses(first, newResponse(200, textType, "fine"))
						r := c.Verb(verb).Resource("pods").MaxRetries(1).BackOffWithContext(&recordingBackoff{})
						if body != nil {
							r.Body(body)
						}
						sendOnce(s, r)
						printCounts()
						if _, again := body.(*strings.Reader); !again {
							s.setResponses(first, newResponse(200, jsonType, ""))
							showStream(r)
							s.printRequests()
							s.setResponses(first, newResponse(200, jsonType, ""))
							showWatch(r)
							s.printRequests()
						}
					}
				})
			}
		}
	}
	block("redirect for ever", func() {
		s.setResponses(newResponse(302, textType, "").withHeader("Location", "/again"))
		sendOnce(s, c.Get())
	})
}

func zipped(body string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(body))
	_ = w.Close()
	return b.String()
}

func tryCompression(plain, inProtobuf *rest.RESTClient, s *server) {
	js := encoded(jsonType, pod("p"))
	whole := zipped(js)
	off := clientOf(s, func(c *rest.Config) { c.DisableCompression = true })
	cases := map[string]response{
		"whole": newResponse(200, jsonType, whole).withHeader("Content-Encoding", "gzip"), "failing": newResponse(404, jsonType, zipped(encoded(jsonType, failure))).withHeader("Content-Encoding", "gzip"),
		"cut": newResponse(200, jsonType, whole[:len(whole)-9]).withHeader("Content-Encoding", "gzip"), "cut early": newResponse(200, jsonType, whole[:5]).withHeader("Content-Encoding", "gzip"), "plain": newResponse(200, jsonType, js).withHeader("Content-Encoding", "gzip"),
		"empty": newResponse(200, jsonType, "").withHeader("Content-Encoding", "gzip"), "twice": newResponse(200, jsonType, whole+whole).withHeader("Content-Encoding", "gzip"), "garbage behind": newResponse(200, jsonType, whole+"xyz").withHeader("Content-Encoding", "gzip"),
		"damaged": newResponse(200, jsonType, whole[:len(whole)-6]+"\x00\x00"+whole[len(whole)-4:]).withHeader("Content-Encoding", "gzip"), "deflate": newResponse(200, jsonType, whole).withHeader("Content-Encoding", "deflate"),
		"undeclared": newResponse(200, jsonType, whole), "upper case": newResponse(200, jsonType, whole).withHeader("Content-Encoding", "GZIP"), "text": newResponse(500, textType, zipped("text")).withHeader("Content-Encoding", "gzip"),
	}
	for _, name := range sorted(cases) {
		block("gzip "+name, func() {
			s.setResponses(cases[name])
			for _, c := range []*rest.RESTClient{plain, inProtobuf, off} {
				send(s, func() *rest.Request { return c.Get().Resource("pods").Name("p") })
				send(s, func() *rest.Request { return c.Get().Resource("pods").SetHeader("Accept-Encoding", "gzip") })
				showStream(c.Get())
			}
		})
	}
}

// tryTargets decodes responses into objects that do not fit them.
func tryTargets(plain, inProtobuf *rest.RESTClient, s *server) {
	all := responseBodies()
	full := func() *corev1.PodList {
		return &corev1.PodList{ListMeta: metav1.ListMeta{Continue: "old"}, Items: []corev1.Pod{*pod("old")}}
	}
	targets := map[string]func() runtime.Object{
		"nil": func() runtime.Object { return nil }, "nil pod": func() runtime.Object { return (*corev1.Pod)(nil) }, "used pod": func() runtime.Object { return pod("old") }, "used list": func() runtime.Object { return full() },
		"service": func() runtime.Object { return &corev1.Service{} }, "unstructured": func() runtime.Object { return &unstructured.Unstructured{} }, "unstructured list": func() runtime.Object { return &unstructured.UnstructuredList{} },
		"unknown": func() runtime.Object { return &runtime.Unknown{} }, "stranger": func() runtime.Object { return &unregisteredObject{} }, "metadata": func() runtime.Object { return &metav1.PartialObjectMetadata{} },
		"metadata list": func() runtime.Object { return &metav1.PartialObjectMetadataList{} }, "table": func() runtime.Object { return &metav1.Table{} },
		"status": func() runtime.Object { return &metav1.Status{} }, "services": func() runtime.Object { return &corev1.ServiceList{} }, "list": func() runtime.Object { return &corev1.List{} },
	}
	names := []string{"pod", "pod protobuf", "list", "list protobuf", "empty list", "list of null", "list of bad items", "list items first", "generic list", "status", "status of success", "status protobuf", "unknown kind", "pod without kind", "empty object", "empty", "list cut"}
	for _, target := range sorted(targets) {
		for _, name := range names {
			block("target "+target+" of "+name, func() {
				a := all[name]
				for _, code := range []int{200, 409} {
					a.code = code
					s.setResponses(a)
					for _, c := range []*rest.RESTClient{plain, inProtobuf} {
						obj := targets[target]()
						err := c.Get().Resource("pods").Do(background).Into(obj)
						line(object(obj), kindOf(err))
					}
				}
			})
		}
	}
	block("a result twice", func() {
		for _, name := range []string{"list", "list protobuf", "pod"} {
			a := all[name]
			a.code = 200
			s.setResponses(a)
			r := plain.Get().Resource("pods").Do(background)
			first, second := &corev1.PodList{}, &corev1.PodList{}
			line(kindOf(r.Into(first)), kindOf(r.Into(second)))
			if len(first.Items) > 0 && len(second.Items) > 0 {
				first.Items[0].Name = "changed"
			}
			line(text(first), text(second))
			raw, err := r.Raw()
			line(short(raw), kindOf(err))
			obj, err := r.Get()
			line(object(obj), kindOf(err))
			show(r)
		}
	})
	block("an empty result", func() { show(rest.Result{}) })
}
