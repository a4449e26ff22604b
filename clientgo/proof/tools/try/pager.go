//lint:file-ignore SA1019 what is deprecated is compared as well

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"k8s.io/client-go/tools/pager"
)

// pages is a list of numbered pods. Some of its pages have an error or another value.
type pages struct {
	o     *outcome
	items int
	kind  string
	fails map[int]error // errors by the number of the call, from 1

	mu    sync.Mutex // guards following
	calls int
}

func (p *pages) list(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	p.o.line("page", p.calls, text(options))
	if err := p.fails[p.calls]; err != nil {
		return nil, err
	}
	from, _ := strconv.Atoi(options.Continue)
	to := p.items
	if options.Limit > 0 {
		to = min(p.items, from+int(options.Limit))
	}
	next := ""
	if to < p.items {
		next = strconv.Itoa(to)
	}
	remaining := int64(p.items - to)
	about := metav1.ListMeta{ResourceVersion: fmt.Sprint(100 + p.calls), Continue: next, RemainingItemCount: &remaining}
	switch p.kind {
	case "pods":
		list := &v1.PodList{ListMeta: about}
		for i := from; i < to; i++ {
			list.Items = append(list.Items, v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}})
		}
		return list, nil
	case "unstructured":
		list := &unstructured.UnstructuredList{}
		list.SetContinue(next)
		list.SetResourceVersion(about.ResourceVersion)
		for i := from; i < to; i++ {
			item := unstructured.Unstructured{Object: map[string]any{"kind": "K", "apiVersion": "v1"}}
			item.SetName(fmt.Sprint(i))
			list.Items = append(list.Items, item)
		}
		return list, nil
	case "objects":
		list := &v1.List{ListMeta: about}
		for i := from; i < to; i++ {
			list.Items = append(list.Items, runtime.RawExtension{Object: &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}}})
		}
		return list, nil
	case "one pod":
		return &v1.Pod{}, nil
	case "no items":
		return &metav1.PartialObjectMetadata{}, nil
	case "nothing":
		return nil, nil
	case "nil list":
		return (*v1.PodList)(nil), nil
	}
	panic("the page panics")
}

func names(object runtime.Object) string {
	if object == nil {
		return "nil"
	}
	var all []string
	_ = meta.EachListItem(object, func(item runtime.Object) error {
		all = append(all, nameOf(item))
		return nil
	})
	return strings.Join(all, " ")
}

func nameOf(item runtime.Object) string {
	m, err := meta.Accessor(item)
	if err != nil {
		return fmt.Sprintf("%T", item)
	}
	return m.GetName()
}

func tryPagers() {
	expired := apierrors.NewResourceExpired("expired")
	failures := map[string]map[int]error{
		"nothing": nil, "the first": {1: errors.New("x")}, "the first expired": {1: expired}, "the second": {2: errors.New("x")}, "the second expired": {2: expired}, "the second expired, and the whole": {2: expired, 3: errors.New("whole")}, "the second expired, and the whole expired": {2: expired, 3: expired},
		"the third expired": {3: expired}, "the second gone": {2: apierrors.NewGone("gone")}, "the second expired, wrapped": {2: fmt.Errorf("w: %w", expired)},
		"the second expired inconsistently": {2: &apierrors.StatusError{ErrStatus: metav1.Status{Code: 410, Reason: metav1.StatusReasonExpired, ListMeta: metav1.ListMeta{Continue: "3"}}}},
	}
	options := map[string]metav1.ListOptions{
		"none": {}, "limit": {Limit: 3}, "version": {ResourceVersion: "5", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, LabelSelector: "a=b"}, "version 0": {ResourceVersion: "0"}, "continue": {Continue: "2", FieldSelector: "x=y"}, "negative limit": {Limit: -1},
	}
	for failing, fails := range failures {
		for given, o := range options {
			for _, fallback := range []bool{true, false} {
				if failing == "nothing" && !fallback || fallback && given == "negative limit" {
					continue
				}
				try(fmt.Sprintf("pager: %s fails, options %s, fallback %t", failing, given, fallback), func(out *outcome) {
					for _, name := range pagerMethodNames {
						if strings.HasPrefix(given, "version") && strings.HasPrefix(name, "Each") {
							continue // this is a separate case
						}
						fn := pagerMethods()[name]
						p := pager.New((&pages{o: out, items: 7, kind: "pods", fails: fails}).list)
						p.PageSize, p.FullListIfExpired = 2, fallback
						out.line(name)
						fn(out, p, o)
					}
				})
			}
		}
	}
	for _, kind := range []string{"unstructured", "objects", "one pod", "no items", "nothing", "nil list"} {
		for _, size := range []int64{0, 3, 100, -2} {
			if kind == "nil list" && size != 3 {
				continue
			}
			try(fmt.Sprintf("pager: %s, pages of %d", kind, size), func(out *outcome) {
				for _, name := range pagerMethodNames {
					fn := pagerMethods()[name]
					p := pager.New((&pages{o: out, items: 5, kind: kind}).list)
					p.PageSize = size
					out.line(name)
					out.panics(name, func() { fn(out, p, metav1.ListOptions{}) })
				}
			})
		}
	}
	try("pager: each item with a version", func(out *outcome) {
		p := pager.New((&pages{o: out, items: 3, kind: "pods"}).list)
		p.PageSize = 2
		pagerMethods()["EachListItem"](out, p, metav1.ListOptions{ResourceVersion: "5", ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	})
	try("pager: defaults", func(out *outcome) {
		p := pager.New(pager.SimplePageFunc(func(options metav1.ListOptions) (runtime.Object, error) {
			out.line(text(options))
			return nil, errors.New("x")
		}))
		out.line(p.PageSize, p.FullListIfExpired, p.PageBufferSize)
		_, paged, err := p.List(context.Background(), metav1.ListOptions{})
		out.line(paged, kindOf(err))
		p.PageBufferSize = -1
		out.line(kindOf(p.EachListItem(context.Background(), metav1.ListOptions{}, nil)))
	})
	for _, after := range []int{0, 1, 2, 3, 5} {
		try(fmt.Sprintf("pager: an end after %d items", after), func(out *outcome) {
			for _, cause := range []string{"context", "error"} {
				ctx, cancel := context.WithCancel(context.Background())
				p := pager.New((&pages{o: &outcome{}, items: 7, kind: "pods"}).list)
				p.PageSize, p.PageBufferSize = 2, 0
				seen := 0
				if after == 0 {
					cancel()
				}
				err := p.EachListItem(ctx, metav1.ListOptions{}, func(item runtime.Object) error {
					if seen++; seen == after {
						if cause == "error" {
							return errors.New("enough")
						}
						cancel()
					}
					return nil
				})
				out.line(cause, seen, kindOf(err))
				cancel()
			}
		})
	}
	try("pager: a context that has ended", func(out *outcome) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		list, paged, err := pager.New((&pages{o: out, items: 7, kind: "pods"}).list).List(ctx, metav1.ListOptions{})
		out.line(names(list), paged, kindOf(err))
	})
}

func pagerMethods() map[string]func(*outcome, *pager.ListPager, metav1.ListOptions) {
	each := func(method func(*pager.ListPager) func(context.Context, metav1.ListOptions, func(runtime.Object) error) error) func(*outcome, *pager.ListPager, metav1.ListOptions) {
		return func(o *outcome, p *pager.ListPager, options metav1.ListOptions) {
			var all []string
			err := method(p)(context.Background(), options, func(item runtime.Object) error {
				all = append(all, nameOf(item))
				return nil
			})
			o.line(all, kindOf(err))
		}
	}
	list := func(method func(*pager.ListPager) func(context.Context, metav1.ListOptions) (runtime.Object, bool, error)) func(*outcome, *pager.ListPager, metav1.ListOptions) {
		return func(o *outcome, p *pager.ListPager, options metav1.ListOptions) {
			list, paged, err := method(p)(context.Background(), options)
			o.line(fmt.Sprintf("%T", list), names(list), paged, kindOf(err))
			if m, err := meta.ListAccessor(list); err == nil && list != nil {
				o.line(m.GetResourceVersion(), m.GetContinue(), m.GetRemainingItemCount() == nil)
			}
		}
	}
	return map[string]func(*outcome, *pager.ListPager, metav1.ListOptions){
		"List": list(func(p *pager.ListPager) func(context.Context, metav1.ListOptions) (runtime.Object, bool, error) {
			return p.List
		}),
		"ListWithAlloc": list(func(p *pager.ListPager) func(context.Context, metav1.ListOptions) (runtime.Object, bool, error) {
			return p.ListWithAlloc
		}),
		"EachListItem": each(func(p *pager.ListPager) func(context.Context, metav1.ListOptions, func(runtime.Object) error) error {
			return p.EachListItem
		}),
		"EachListItemWithAlloc": each(func(p *pager.ListPager) func(context.Context, metav1.ListOptions, func(runtime.Object) error) error {
			return p.EachListItemWithAlloc
		}),
	}
}

var pagerMethodNames = []string{"List", "ListWithAlloc", "EachListItem", "EachListItemWithAlloc"}
