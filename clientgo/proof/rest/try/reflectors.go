package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	selectors "k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// fillStore fills a store from one list and one watch, and prints its content.
func fillStore(c *rest.RESTClient, s *server, list response, events response) {
	var watches atomic.Int32
	s.setResponses(response{fn: func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		a := list
		switch {
		case query.Get("sendInitialEvents") != "":
			a = newResponse(422, jsonType, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
		case query.Get("continue") != "":
			a = newResponse(200, jsonType, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"next"}}]}`)
		case query.Get("watch") != "" && watches.Add(1) == 1:
			a = events
		case query.Get("watch") != "":
			a = newResponse(410, jsonType, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)
		}
		w.Header().Set("Content-Type", a.kind)
		w.WriteHeader(a.code)
		_, _ = w.Write([]byte(a.body))
	}})
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	reflector := cache.NewReflectorWithOptions(cache.NewListWatchFromClient(c, "pods", "", selectors.Everything()), &corev1.Pod{}, store, cache.ReflectorOptions{Name: "r"})
	ctx, cancel := context.WithTimeout(background, 20*time.Second)
	defer cancel()
	err := reflector.ListAndWatchWithContext(ctx)
	if watches.Load() == 0 { // the error of a list; errors of a watch are not printed
		line("listed", err == nil)
	}
	line(fmt.Sprintf("%q", reflector.LastSyncResourceVersion()), stored(store))
}

func stored(store cache.Store) string {
	var all []string
	for _, key := range store.ListKeys() {
		obj, _, _ := store.GetByKey(key)
		all = append(all, key+" "+object(obj.(runtime.Object)))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// sequences are the events of watches after a list with version 5. A text has the type of an event,
// the name of its object, and the object's version.
var sequences = [][]string{
	{"+a6"}, {"+a6", "~a7"}, {"+a6", "-a7"}, {"+a6", "~a7", ".x8", "-a9"}, {"+a6", "-a6"}, {"+a6", "+a7"}, {"~a6"}, {"-a6"}, {"-a6", "+a7"}, {"+a", "~a", "-a"}, {"+a", "~a"}, {"+a", "~b", "-a"}, {".x8"}, {".x5", "+a6"}, {"+a6", ".x6", "~a7"}, {"+a6", "~a6"}, {"+ax"}, {"+ax", "~ay", "-az"},
	{"+a6", "+b7", "+c8", "-b9", "~c10"}, {"+a18446744073709551616", "~a18446744073709551617"}, {"-o6"}, {"~o6"}, {"+a6", "-a7", "+a8", "-a9", "+a10"}, {"+a5"}, {"+a9", "~b100", "~a101"},
	// The following sequences are out of order, or have a bookmark without a version. No server
	// sends them.
	{"+a7", "~a6"}, {"+a4"}, {".x", "+a6", "-a7"}, {"+a-1"},
}

// tryReflectors fills stores from unusual lists and watches.
func tryReflectors() {
	s := serve(newResponse(200, textType, ""))
	defer s.Close()
	c := clientOf(s)
	none := newResponse(200, jsonType, "")
	good := newResponse(200, jsonType, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"old","resourceVersion":"3"}}]}`)
	for i, item := range items {
		named := item
		if rest, ok := strings.CutPrefix(item, "{"); ok {
			named = strings.Replace(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"named","resourceVersion":"6"},`+rest, ",}", "}", 1)
		}
		block(fmt.Sprintf("reflector lists item %d %s", i, item), func() {
			fillStore(c, s, newResponse(200, jsonType, fmt.Sprintf(heads[0], `[{"metadata":{"name":"good"}},`+named+`,{"metadata":{"name":"last"}}]`)), none)
		})
		if !strings.HasPrefix(item, "{") || strings.Contains(item, `"kind"`) || strings.HasSuffix(item, " {}") {
			continue // an event of this item cannot have a kind
		}
		block(fmt.Sprintf("reflector watches item %d %s", i, item), func() {
			event := func(of, object string) string { return `{"type":"` + of + `","object":` + object + "}\n" }
			last := event("ADDED", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"last","resourceVersion":"9"}}`)
			fillStore(c, s, good, newResponse(200, jsonType, event("ADDED", named)+last))
			fillStore(c, s, good, newResponse(200, jsonType, last+event("ADDED", strings.Replace(named, `"6"`, `"10"`, 1))))
		})
	}
	for _, sequence := range sequences {
		block("reflector watches "+strings.Join(sequence, " "), func() {
			for _, kind := range []string{jsonType, protobufType} {
				var events strings.Builder
				for _, step := range sequence {
					p := pod(step[1:2])
					p.Namespace, p.ResourceVersion = "", step[2:]
					events.WriteString(eventOf(kind, map[byte]string{'+': "ADDED", '~': "MODIFIED", '-': "DELETED", '.': "BOOKMARK"}[step[0]], p))
				}
				fillStore(c, s, good, newResponse(200, kind, events.String()))
			}
		})
	}
	for i, head := range heads {
		block(fmt.Sprintf("reflector lists %d", i), func() {
			for _, list := range []string{`[]`, `null`, `[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]`, `{}`, `"x"`, `[`, `[{"metadata":{"name":"a"}}`} {
				fillStore(c, s, newResponse(200, jsonType, fmt.Sprintf(head, list)), none)
			}
		})
	}
	cases := streamCases()
	for _, name := range sorted(cases) {
		block("reflector watches "+name, func() {
			fillStore(c, s, good, newResponse(200, cases[name].kind, cases[name].body))
		})
	}
	all := responseBodies()
	for _, name := range sorted(all) {
		block("reflector lists "+name, func() {
			for _, code := range []int{200, 201, 403, 500} {
				a := all[name]
				a.code = code
				fillStore(c, s, a, none)
			}
		})
	}
}
