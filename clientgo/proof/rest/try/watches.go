package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

func showWatch(r *rest.Request) {
	ctx, cancel := withShortTimeout()
	defer cancel()
	printWatch(ctx, r)
}

// printWatch prints the events of a watch until it ends.
func printWatch(ctx context.Context, r *rest.Request) {
	w, err := r.Watch(ctx)
	if line("watch", w != nil, kindOf(err)); w == nil {
		return
	}
	defer w.Stop()
	for n := 0; n < 30; n++ {
		select {
		case event, ok := <-w.ResultChan():
			if !ok {
				line("end")
				return
			}
			line("event", event.Type, object(event.Object))
		case <-time.After(5 * time.Second):
			line("nothing more")
			return
		}
	}
}

// eventOf returns an event as servers write it.
func eventOf(kind, of string, obj runtime.Object) string {
	return rawEvent(kind, of, []byte(encoded(kind, obj)))
}

func rawEvent(kind, of string, raw []byte) string {
	for _, info := range scheme.Codecs.SupportedMediaTypes() {
		if info.MediaType == kind {
			var b bytes.Buffer
			if err := info.StreamSerializer.Encode(&metav1.WatchEvent{Type: of, Object: runtime.RawExtension{Raw: raw}}, info.StreamSerializer.NewFrameWriter(&b)); err != nil {
				panic(err)
			}
			return b.String()
		}
	}
	panic(kind)
}

// stream is the body of a watch.
type stream struct{ kind, body string }

// streamCases returns valid and invalid bodies of watches.
func streamCases() map[string]stream {
	added := eventOf(jsonType, "ADDED", pod("a"))
	pb := eventOf(protobufType, "ADDED", pod("a"))
	marked := pod("")
	marked.ResourceVersion = "8"
	return map[string]stream{
		"none":                  {jsonType, ""},
		"one":                   {jsonType, added},
		"all types":             {jsonType, added + eventOf(jsonType, "MODIFIED", pod("a")) + eventOf(jsonType, "BOOKMARK", marked) + eventOf(jsonType, "DELETED", pod("a"))},
		"an error":              {jsonType, added + eventOf(jsonType, "ERROR", failure) + added},
		"an error of no status": {jsonType, eventOf(jsonType, "ERROR", pod("a")) + added},
		"an odd type":           {jsonType, added + eventOf(jsonType, "ODD", pod("a")) + added},
		"a lower case type":     {jsonType, added + eventOf(jsonType, "added", pod("a")) + added},
		"no type":               {jsonType, `{"object":{"kind":"Pod","apiVersion":"v1"}}` + added},
		"no object":             {jsonType, added + `{"type":"ADDED"}` + added},
		"null object":           {jsonType, added + `{"type":"ADDED","object":null}` + added},
		"object without kind":   {jsonType, added + `{"type":"ADDED","object":{"metadata":{"name":"x"}}}` + added},
		"an unknown kind":       {jsonType, added + `{"type":"ADDED","object":{"kind":"Odd","apiVersion":"v1"}}` + added},
		"a bad object":          {jsonType, added + `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":7}}` + added},
		"a status":              {jsonType, eventOf(jsonType, "ADDED", failure)},
		"a number as object":    {jsonType, added + `{"type":"ADDED","object":7}` + added},
		"more fields":           {jsonType, `{"type":"ADDED","more":{},"object":{"kind":"Pod","apiVersion":"v1","odd":1,"metadata":{"name":"x"}},"kind":"WatchEvent"}` + added},
		"other case of fields":  {jsonType, `{"Type":"ADDED","Object":{"kind":"Pod","apiVersion":"v1"}}` + added},
		"fields turned":         {jsonType, `{"object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"}},"type":"MODIFIED"}` + added},
		"an array":              {jsonType, added + "[1]" + added},
		"a string":              {jsonType, added + `"x"` + added},
		"null":                  {jsonType, added + "null" + added},
		"garbage first":         {jsonType, "garbage" + added},
		"garbage in the middle": {jsonType, added + "garbage" + added},
		"garbage at the end":    {jsonType, added + "garbage"},
		"cut":                   {jsonType, added + added[:len(added)-8]},
		"cut at once":           {jsonType, added[:3]},
		"white space":           {jsonType, "\n\n " + added + "\r\n\t" + added + "\n"},
		"a line":                {jsonType, added[:len(added)-1] + added},
		"invalid utf-8":         {jsonType, `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"` + "\xff" + `"}}}`},
		"another kind":          {jsonType, added + `{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"other"}}}` + added},
		"another kind first":    {jsonType, `{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"other"}}}` + added},
		"bookmark with version": {jsonType, added + `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7"}}}` + added},
		"a status as answer":    {jsonType, encoded(jsonType, failure)},
		"a pod as answer":       {jsonType, encoded(jsonType, pod("p"))},
		"a list as answer":      {jsonType, `{"kind":"PodList","apiVersion":"v1","items":[]}`},
		"a mark":                {jsonType, "\xef\xbb\xbf" + added},
		"large":                 {jsonType, rawEvent(jsonType, "ADDED", []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"large","annotations":{"a":"`+string(bytes.Repeat([]byte("x"), 2<<20))+`"}}}`)) + added},
		"huge":                  {jsonType, rawEvent(jsonType, "ADDED", []byte(`{"kind":"ConfigMap","apiVersion":"v1","data":{"a":"`+string(bytes.Repeat([]byte("x"), 17<<20))+`"}}`)) + added},
		"protobuf":              {protobufType + ";stream=watch", pb + eventOf(protobufType, "MODIFIED", pod("a")) + eventOf(protobufType, "BOOKMARK", marked) + eventOf(protobufType, "DELETED", pod("a"))},
		"protobuf of plain":     {protobufType, pb},
		"protobuf as json":      {jsonType, pb},
		"json as protobuf":      {protobufType + ";stream=watch", added},
		"protobuf error":        {protobufType + ";stream=watch", pb + eventOf(protobufType, "ERROR", failure) + pb},
		"protobuf odd type":     {protobufType + ";stream=watch", pb + eventOf(protobufType, "ODD", pod("a")) + pb},
		"protobuf no object":    {protobufType + ";stream=watch", pb + rawEvent(protobufType, "ADDED", nil) + pb},
		"protobuf bad object":   {protobufType + ";stream=watch", pb + rawEvent(protobufType, "ADDED", []byte("bad")) + pb},
		"protobuf cut":          {protobufType + ";stream=watch", pb + pb[:len(pb)-5]},
		"protobuf cut in size":  {protobufType + ";stream=watch", pb + "\x00\x00"},
		"protobuf of no size":   {protobufType + ";stream=watch", pb + "\x00\x00\x00\x00" + pb},
		"protobuf of great size": {
			protobufType + ";stream=watch", pb + "\xff\xff\xff\xff" + pb,
		},
		"protobuf garbage":   {protobufType + ";stream=watch", pb + "\x00\x00\x00\x04abcd" + pb},
		"json in protobuf":   {protobufType + ";stream=watch", rawEvent(protobufType, "ADDED", []byte(encoded(jsonType, pod("a"))))},
		"json as a stream":   {jsonType + ";stream=watch", added},
		"json charset":       {jsonType + "; charset=utf-8", added},
		"json another param": {jsonType + ";stream=odd", added},
		"without type":       {"-", added},
		"text":               {textType, added},
		"unknown type":       {"x/y", added},
		"bad type":           {"a/b/c", added},
		"odd type":           {jsonType + "; a", added},
		"yaml":               {"application/yaml", "type: ADDED\nobject:\n  kind: Pod\n  apiVersion: v1\n"},
		"yaml twice":         {"application/yaml", "type: ADDED\nobject:\n  kind: Pod\n  apiVersion: v1\n---\ntype: DELETED\nobject:\n  kind: Pod\n  apiVersion: v1\n"},
		"cbor":               {"application/cbor-seq", added},
	}
}

func tryWatches() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	cases := streamCases()
	plain, inProtobuf := clientOf(s), clientOf(s, protobuf)
	apps := clientOf(s, func(c *rest.Config) { c.GroupVersion = &schema.GroupVersion{Group: "apps", Version: "v1"} })
	for _, name := range sorted(cases) {
		block("watch "+name, func() {
			of := cases[name]
			s.setResponses(newResponse(200, of.kind, of.body).withHeader("Warning", `299 - "careful"`))
			for _, c := range []*rest.RESTClient{plain, inProtobuf, apps} {
				showWatch(c.Get().Resource("pods").VersionedParams(&metav1.ListOptions{Watch: true}, scheme.ParameterCodec).WarningHandler(warningRecorder{"watch"}))
				s.printRequests()
				printCounts()
			}
		})
	}
	all := responseBodies()
	for _, name := range []string{"status", "status protobuf", "text", "empty", "status as text", "status of a bad type", "status of unknown type", "status of success", "pod", "text as json"} {
		for _, code := range []int{201, 204, 302, 400, 410, 429, 500, 504} {
			block(fmt.Sprintf("watch opens with %s %d", name, code), func() {
				a := all[name]
				if a.code = code; code == 204 {
					a.body = ""
				}
				s.setResponses(a)
				showWatch(plain.Get().Resource("pods").WarningHandler(warningRecorder{"watch"}))
				showWatch(inProtobuf.Get().Resource("pods").Name("p").WarningHandler(warningRecorder{"watch"}))
				s.printRequests()
				printCounts()
			})
		}
	}
	// Events are delivered as they arrive, and a watch can be stopped.
	for _, kind := range []string{jsonType, protobufType} {
		block("watch is stopped "+kind, func() {
			gone := make(chan struct{})
			s.setResponses(response{fn: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", kind)
				for range 3 {
					_, _ = io.WriteString(w, eventOf(kind, "ADDED", pod("a")))
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
				close(gone)
			}})
			w, err := inProtobuf.Get().Watch(background)
			line(kindOf(err))
			line((<-w.ResultChan()).Type, (<-w.ResultChan()).Type)
			w.Stop()
			w.Stop()
			<-gone
			for event := range w.ResultChan() {
				line("event", event.Type == watch.Added)
				break
			}
			line("stopped")
		})
		block("watch is stopped at once "+kind, func() {
			gone := make(chan struct{})
			s.setResponses(response{fn: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", kind)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				close(gone)
			}})
			w, err := inProtobuf.Get().Watch(background)
			line(kindOf(err))
			w.Stop()
			<-gone
			_, ok := <-w.ResultChan()
			line(ok)
		})
		block("watch ends with its context "+kind, func() {
			s.setResponses(response{fn: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", kind)
				_, _ = io.WriteString(w, eventOf(kind, "ADDED", pod("a")))
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}})
			ctx, cancel := context.WithCancel(background)
			w, err := inProtobuf.Get().Watch(ctx)
			line(kindOf(err))
			line((<-w.ResultChan()).Type)
			cancel()
			for event := range w.ResultChan() {
				line("event", event.Type, object(event.Object))
			}
			line("ended")
		})
	}
}
