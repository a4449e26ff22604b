//lint:file-ignore SA1019 what is deprecated is compared as well

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
)

// scriptedSource has the results of watch requests, in order. The last result is repeated.
type scriptedSource struct {
	o     *outcome
	opens []watchResult
	list  runtime.Object

	mu    sync.Mutex // guards following
	calls int
}

// watchResult is the result of one watch request.
type watchResult struct {
	err       error
	none      bool // the result is a nil watch without an error
	events    []watch.Event
	staysOpen bool
}

func (s *scriptedSource) Watch(options metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := min(s.calls, len(s.opens)-1)
	s.calls++
	if s.calls > len(s.opens) {
		return watch.NewFake(), nil // an open watch without events
	}
	options.TimeoutSeconds = nil
	s.o.line("watch", text(options))
	this := s.opens[at]
	if this.err != nil || this.none {
		return nil, this.err
	}
	ch := make(chan watch.Event, len(this.events))
	for _, e := range this.events {
		ch <- e
	}
	if !this.staysOpen {
		close(ch)
	}
	return watch.NewProxyWatcher(ch), nil
}

func (s *scriptedSource) List(options metav1.ListOptions) (runtime.Object, error) {
	s.o.line("list", text(options))
	return s.list.DeepCopyObject(), nil
}

func changed(kind watch.EventType, name, version string) watch.Event {
	return watch.Event{Type: kind, Object: &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", ResourceVersion: version}}}
}

func statusEvent(code int32, reason metav1.StatusReason, seconds int32) watch.Event {
	s := &metav1.Status{Status: "Failure", Code: code, Reason: reason, Message: "m"}
	if seconds > 0 {
		s.Details = &metav1.StatusDetails{RetryAfterSeconds: seconds}
	}
	return watch.Event{Type: watch.Error, Object: s}
}

func describeEvent(e watch.Event) string {
	if e.Object == nil {
		return fmt.Sprint(e.Type, " nil")
	}
	kind := fmt.Sprintf("%T", e.Object)
	if s, ok := e.Object.(*metav1.Status); ok && s.Code == 500 {
		return fmt.Sprint(e.Type, kind, s.Code, s.Reason) // the text is for people
	}
	return strings.Join([]string{string(e.Type), kind, text(e.Object)}, " ")
}

// objectWithoutVersion is an object without a version.
type objectWithoutVersion struct{ metav1.TypeMeta }

func (o *objectWithoutVersion) DeepCopyObject() runtime.Object { return o }

func tryWatches() {
	one := changed(watch.Added, "a", "6")
	cases := map[string][]watchResult{
		"events":                       {{events: []watch.Event{one, changed(watch.Modified, "a", "7"), changed(watch.Deleted, "a", "8")}, staysOpen: true}},
		"lost after one":               {{events: []watch.Event{one}}, {events: []watch.Event{changed(watch.Modified, "a", "9")}, staysOpen: true}},
		"bookmarks":                    {{events: []watch.Event{one, changed(watch.Bookmark, "", "20")}}, {events: []watch.Event{changed(watch.Bookmark, "", "30")}}, {staysOpen: true}},
		"an expired event":             {{events: []watch.Event{one, statusEvent(410, metav1.StatusReasonExpired, 0), one}}},
		"a gone event":                 {{events: []watch.Event{statusEvent(410, metav1.StatusReasonGone, 0)}}},
		"a 500 event":                  {{events: []watch.Event{one, statusEvent(500, metav1.StatusReasonInternalError, 0), one}}, {events: []watch.Event{changed(watch.Modified, "a", "9")}, staysOpen: true}},
		"a 504 event":                  {{events: []watch.Event{statusEvent(504, metav1.StatusReasonTimeout, 1)}}, {events: []watch.Event{changed(watch.Modified, "a", "9")}, staysOpen: true}},
		"a 429 event":                  {{events: []watch.Event{statusEvent(429, metav1.StatusReasonTooManyRequests, 1)}}, {events: []watch.Event{one}, staysOpen: true}},
		"a 403 event":                  {{events: []watch.Event{statusEvent(403, metav1.StatusReasonForbidden, 0)}}, {events: []watch.Event{one}, staysOpen: true}},
		"a 401 event":                  {{events: []watch.Event{statusEvent(401, metav1.StatusReasonUnauthorized, 0)}}, {events: []watch.Event{one}, staysOpen: true}},
		"a status without a code":      {{events: []watch.Event{statusEvent(0, metav1.StatusReasonExpired, 0)}}, {events: []watch.Event{one}, staysOpen: true}},
		"an error that is no status":   {{events: []watch.Event{{Type: watch.Error, Object: pod}}}, {events: []watch.Event{one}, staysOpen: true}},
		"an unstructured status":       {{events: []watch.Event{{Type: watch.Error, Object: &unstructured.Unstructured{Object: map[string]any{"kind": "Status", "apiVersion": "v1", "code": int64(410), "status": "Failure", "reason": "Expired"}}}}}, {staysOpen: true}},
		"another unstructured":         {{events: []watch.Event{{Type: watch.Error, Object: &unstructured.Unstructured{Object: map[string]any{"kind": "Pod", "apiVersion": "v1"}}}}}, {events: []watch.Event{one}, staysOpen: true}},
		"an object without a version":  {{events: []watch.Event{one, changed(watch.Modified, "a", ""), one}}, {staysOpen: true}},
		"a bookmark without a version": {{events: []watch.Event{changed(watch.Bookmark, "a", "")}}, {staysOpen: true}},
		"an object without metadata":   {{events: []watch.Event{{Type: watch.Added, Object: &objectWithoutVersion{}}}}, {staysOpen: true}},
		"an odd type":                  {{events: []watch.Event{{Type: "ODD", Object: pod}, one}}, {staysOpen: true}},
		"no type":                      {{events: []watch.Event{{}}}, {staysOpen: true}},
		"an added status":              {{events: []watch.Event{{Type: watch.Added, Object: &metav1.Status{}}}}, {staysOpen: true}},
		"version 0":                    {{events: []watch.Event{changed(watch.Added, "a", "0")}}, {staysOpen: true}},
		"a nil watch":                  {{none: true}, {events: []watch.Event{one}, staysOpen: true}},
		"EOF":                          {{err: io.EOF}, {events: []watch.Event{one}, staysOpen: true}},
		"unexpected EOF":               {{err: io.ErrUnexpectedEOF}, {events: []watch.Event{one}, staysOpen: true}},
		"refused":                      {{err: &url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}}, {events: []watch.Event{one}, staysOpen: true}},
		"forbidden":                    {{err: errorOfStatus(403, metav1.StatusReasonForbidden)}, {events: []watch.Event{one}, staysOpen: true}},
		"forbidden later":              {{events: []watch.Event{one}}, {err: errorOfStatus(403, metav1.StatusReasonForbidden)}, {events: []watch.Event{one}, staysOpen: true}},
		"unauthorized":                 {{err: errorOfStatus(401, metav1.StatusReasonUnauthorized)}, {events: []watch.Event{one}, staysOpen: true}},
		"wrapped forbidden":            {{err: fmt.Errorf("w: %w", errorOfStatus(403, metav1.StatusReasonForbidden))}, {events: []watch.Event{one}, staysOpen: true}},
		"expired":                      {{err: apierrors.NewResourceExpired("x")}, {events: []watch.Event{one}, staysOpen: true}},
		"gone":                         {{err: apierrors.NewGone("x")}, {events: []watch.Event{one}, staysOpen: true}},
		"500":                          {{err: errorOfStatus(500, metav1.StatusReasonInternalError)}, {events: []watch.Event{one}, staysOpen: true}},
		"429":                          {{err: apierrors.NewTooManyRequests("x", 1)}, {events: []watch.Event{one}, staysOpen: true}},
		"404":                          {{err: errorOfStatus(404, metav1.StatusReasonNotFound)}, {events: []watch.Event{one}, staysOpen: true}},
		"canceled":                     {{err: context.Canceled}, {events: []watch.Event{one}, staysOpen: true}},
		"plain":                        {{err: errors.New("x")}, {events: []watch.Event{one}, staysOpen: true}},
	}
	for name, opens := range cases {
		try("retry watcher: "+name, func(o *outcome) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			w, err := toolswatch.NewRetryWatcherWithContext(ctx, "5", cache.ToWatcherWithContext(&scriptedSource{o: o, opens: opens}))
			o.line(kindOf(err))
			for open := true; open; {
				select {
				case e, ok := <-w.ResultChan():
					if open = ok; ok {
						o.line(describeEvent(e))
					} else {
						o.line("closed")
					}
				case <-time.After(3500 * time.Millisecond):
					o.line("nothing more")
					open = false
				}
			}
			select {
			case <-w.Done():
				o.line("done")
			case <-time.After(100 * time.Millisecond):
				o.line("not done")
			}
			w.Stop()
			w.Stop()
			_, ok := <-w.ResultChan()
			o.line(ok, ends(w.Done()))
		})
		try("until: "+name, func(o *outcome) {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			e, err := toolswatch.Until(ctx, "5", &scriptedSource{o: o, opens: opens}, func(e watch.Event) (bool, error) {
				o.line("asked about", describeEvent(e))
				return e.Type == watch.Modified, nil
			})
			if e == nil {
				o.line("no event", kindOf(err))
				return
			}
			o.line(describeEvent(*e), kindOf(err))
		})
		try("until without retry: "+name, func(o *outcome) {
			w, err := (&scriptedSource{o: o, opens: opens}).Watch(metav1.ListOptions{})
			o.line(kindOf(err))
			if w == nil {
				return
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			failing := errors.New("condition fails")
			e, err := toolswatch.UntilWithoutRetry(ctx, w, func(e watch.Event) (bool, error) {
				o.line("first", describeEvent(e))
				return true, nil
			}, func(e watch.Event) (bool, error) {
				o.line("second", describeEvent(e))
				if e.Type == watch.Deleted {
					return false, failing
				}
				return e.Type == watch.Bookmark, nil
			})
			if e == nil {
				o.line("no event", kindOf(err))
				return
			}
			o.line(describeEvent(*e), kindOf(err))
		})
	}
	tryWatchHelpers()
}

func tryWatchHelpers() {
	try("retry watcher: versions to begin with", func(o *outcome) {
		for _, version := range []string{"", "0", "00", "x", "1"} {
			w, err := toolswatch.NewRetryWatcher(version, &scriptedSource{o: &outcome{}, opens: []watchResult{{staysOpen: true}}})
			o.line(version, w == nil, kindOf(err))
			if w != nil {
				w.Stop()
				o.line(ends(w.Done()))
			}
			e, err := toolswatch.Until(context.Background(), version, &scriptedSource{o: &outcome{}, opens: []watchResult{{events: []watch.Event{changed(watch.Added, "a", "6")}, staysOpen: true}}}, func(watch.Event) (bool, error) { return true, nil })
			o.line(e == nil, kindOf(err))
		}
	})
	try("retry watcher: stopped while nobody reads", func(o *outcome) {
		w, _ := toolswatch.NewRetryWatcher("5", &scriptedSource{o: &outcome{}, opens: []watchResult{{events: []watch.Event{changed(watch.Added, "a", "6"), changed(watch.Added, "b", "7")}, staysOpen: true}}})
		time.Sleep(20 * time.Millisecond)
		w.Stop()
		o.line(ends(w.Done()))
		_, ok := <-w.ResultChan()
		o.line(ok)
	})
	try("retry watcher: end of its context", func(o *outcome) {
		ctx, cancel := context.WithCancel(context.Background())
		w, _ := toolswatch.NewRetryWatcherWithContext(ctx, "5", cache.ToWatcherWithContext(&scriptedSource{o: &outcome{}, opens: []watchResult{{staysOpen: true}}}))
		cancel()
		o.line(ends(w.Done()))
	})
	try("until without retry: no conditions", func(o *outcome) {
		w := watch.NewFake()
		e, err := toolswatch.UntilWithoutRetry(context.Background(), w)
		o.line(e == nil, kindOf(err), w.IsStopped())
	})
	try("until without retry: errors", func(o *outcome) {
		w := watch.NewFakeWithChanSize(3, false)
		w.Add(pod)
		e, err := toolswatch.UntilWithoutRetry(context.Background(), w, func(watch.Event) (bool, error) { return true, errors.New("x") })
		o.line(e.Type, kindOf(err), w.IsStopped())
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		e, err = toolswatch.UntilWithoutRetry(ctx, watch.NewFake(), func(watch.Event) (bool, error) { return true, nil })
		o.line(e == nil, kindOf(err))
		o.line(toolswatch.ErrWatchClosed)
	})
	try("context with a timeout", func(o *outcome) {
		for _, d := range []time.Duration{-1, 0, time.Hour} {
			ctx, cancel := toolswatch.ContextWithOptionalTimeout(context.Background(), d)
			_, has := ctx.Deadline()
			o.line(d, has, ctx.Err())
			cancel()
			o.line(ctx.Err())
		}
	})
	list := &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "10"}, Items: []v1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", ResourceVersion: "9"}}, {ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "ns", ResourceVersion: "8"}}}}
	for _, conditions := range []string{"precondition holds", "precondition fails", "precondition waits", "none", "deadline", "condition fails", "no condition"} {
		try("until with sync: "+conditions, func(o *outcome) {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			if conditions == "deadline" {
				ctx, cancel = context.WithTimeout(context.Background(), time.Second)
				defer cancel()
			}
			lw := &scriptedSource{o: &outcome{}, list: list, opens: []watchResult{{events: []watch.Event{changed(watch.Modified, "a", "11"), changed(watch.Deleted, "b", "12"), changed(watch.Added, "c", "13")}, staysOpen: true}}}
			var precondition toolswatch.PreconditionFunc
			if strings.HasPrefix(conditions, "precondition") {
				precondition = func(store cache.Store) (bool, error) {
					o.line("precondition", len(store.List()) >= 1)
					return conditions == "precondition holds", map[bool]error{true: errors.New("x")}[conditions == "precondition fails"]
				}
			}
			perObject := map[string][]string{}
			condition := func(e watch.Event) (bool, error) {
				name := nameOf(e.Object)
				perObject[name] = append(perObject[name], describeEvent(e))
				if conditions == "condition fails" {
					return false, errors.New("x")
				}
				return conditions != "deadline" && name == "c", nil
			}
			all := []toolswatch.ConditionFunc{condition}
			if conditions == "no condition" {
				all = nil
			}
			e, err := toolswatch.UntilWithSync(ctx, noStreamingLists{lw}, &v1.Pod{}, precondition, all...)
			if conditions != "condition fails" {
				for _, name := range []string{"a", "b", "c"} {
					o.line(name, perObject[name])
				}
			}
			if e == nil || conditions == "condition fails" {
				o.line(e == nil, kindOf(err))
				return
			}
			o.line(e.Type == watch.Added || conditions == "deadline", kindOf(err))
		})
	}
	try("until with sync: a list that never comes", func(o *outcome) {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		lw := &cache.ListWatch{
			ListFunc:  func(metav1.ListOptions) (runtime.Object, error) { return nil, errors.New("x") },
			WatchFunc: func(metav1.ListOptions) (watch.Interface, error) { return nil, errors.New("x") },
		}
		e, err := toolswatch.UntilWithSync(ctx, noStreamingLists{lw}, &v1.Pod{}, func(cache.Store) (bool, error) { return true, nil })
		o.line(e == nil, kindOf(err))
		ctx, cancel = context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		e, err = toolswatch.UntilWithSync(ctx, noStreamingLists{lw}, &v1.Pod{}, nil, func(watch.Event) (bool, error) { return true, nil })
		o.line(e == nil, kindOf(err))
	})
	try("informer watcher", func(o *outcome) {
		lw := &scriptedSource{o: &outcome{}, list: list, opens: []watchResult{{events: []watch.Event{changed(watch.Modified, "a", "11"), changed(watch.Deleted, "b", "12"), changed(watch.Added, "c", "13")}, staysOpen: true}}}
		indexer, informer, w, done := toolswatch.NewIndexerInformerWatcher(noStreamingLists{lw}, &v1.Pod{})
		perObject := map[string][]string{}
		for len(perObject["c"]) == 0 {
			e := <-w.ResultChan()
			perObject[nameOf(e.Object)] = append(perObject[nameOf(e.Object)], describeEvent(e))
		}
		for _, name := range []string{"a", "b", "c"} {
			o.line(name, perObject[name])
		}
		o.line(len(indexer.List()), informer.HasSynced(), informer.LastSyncResourceVersion())
		w.Stop()
		w.Stop()
		o.line(ends(done))
		select {
		case _, ok := <-w.ResultChan():
			o.line(ok)
		case <-time.After(300 * time.Millisecond):
			o.line("the channel is open")
		}
	})
	try("informer watcher: stopped at once", func(o *outcome) {
		lw := &scriptedSource{o: &outcome{}, list: list, opens: []watchResult{{staysOpen: true}}}
		_, _, w, done := toolswatch.NewIndexerInformerWatcher(noStreamingLists{lw}, &v1.Pod{})
		w.Stop()
		o.line(ends(done))
	})
}

// noStreamingLists is a source that does not support streaming lists.
type noStreamingLists struct{ cache.ListerWatcher }

func (noStreamingLists) IsWatchListSemanticsUnSupported() bool { return true }
