// Package pager reads lists in pages.
package pager

import (
	"context"
	stderrors "errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

const (
	defaultPageSize       = 500
	defaultPageBufferSize = 10
)

// ListPageFunc returns one page of a list.
type ListPageFunc func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error)

// SimplePageFunc makes a ListPageFunc of a function without a context.
func SimplePageFunc(fn func(opts metav1.ListOptions) (runtime.Object, error)) ListPageFunc {
	return func(_ context.Context, opts metav1.ListOptions) (runtime.Object, error) { return fn(opts) }
}

// ListPager reads a list page by page.
type ListPager struct {
	// PageSize is the page size if the options have no limit. 0 means that the whole list is
	// requested at once.
	PageSize int64
	// PageFn returns one page.
	PageFn ListPageFunc

	// FullListIfExpired makes the pager read the whole list at once when a continue token has
	// expired. If it is false, an expired token is an error.
	FullListIfExpired bool

	// PageBufferSize is the number of pages that EachListItem reads ahead.
	PageBufferSize int32
}

// New returns a pager with a page size of 500, a buffer of 10 pages, and FullListIfExpired.
func New(fn ListPageFunc) *ListPager {
	return &ListPager{PageSize: defaultPageSize, PageFn: fn, FullListIfExpired: true, PageBufferSize: defaultPageBufferSize}
}

// List returns the whole list. A list of one page is returned unchanged. Otherwise the result is a
// *metainternalversion.List with the items of all pages and the metadata of the first page. The
// bool reports whether the list consisted of several pages.
func (p *ListPager) List(ctx context.Context, options metav1.ListOptions) (runtime.Object, bool, error) {
	return p.list(ctx, options, meta.EachListItem)
}

// ListWithAlloc is List, except that an item does not keep the other items of its page in memory.
func (p *ListPager) ListWithAlloc(ctx context.Context, options metav1.ListOptions) (runtime.Object, bool, error) {
	return p.list(ctx, options, meta.EachListItemWithAlloc)
}

type forEach func(list runtime.Object, fn func(runtime.Object) error) error

func (p *ListPager) list(ctx context.Context, options metav1.ListOptions, each forEach) (runtime.Object, bool, error) {
	var all *metainternalversion.List
	var whole runtime.Object
	err := p.pages(ctx, options, true, func(page runtime.Object, m metav1.ListInterface, isWhole bool) error {
		if isWhole { // the only page, or the whole list after a token has expired
			whole = page
			return nil
		}
		if all == nil {
			all = &metainternalversion.List{}
			all.SetResourceVersion(m.GetResourceVersion())
			all.SetSelfLink(m.GetSelfLink())
		}
		return each(page, func(obj runtime.Object) error {
			all.Items = append(all.Items, obj)
			return nil
		})
	})
	if err != nil {
		return nil, all != nil, err
	}
	if whole != nil {
		return whole, all != nil, nil
	}
	return all, true, nil
}

// pages calls fn for each page. isWhole is true if the page is the whole list. If full is true,
// pages may read the whole list after it has passed some pages to fn.
func (p *ListPager) pages(ctx context.Context, options metav1.ListOptions, full bool, fn func(page runtime.Object, m metav1.ListInterface, isWhole bool) error) error {
	if options.Limit == 0 {
		options.Limit = p.PageSize
	}
	version, match := options.ResourceVersion, options.ResourceVersionMatch
	first := options.Continue == ""
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		page, err := p.PageFn(ctx, options)
		whole := n == 0
		if err != nil {
			// If the token has expired, the pages so far cannot be continued. Only the whole list
			// is consistent now (RC-8).
			if !errors.IsResourceExpired(err) || !p.FullListIfExpired || options.Continue == "" || !full {
				return err
			}
			options.Limit, options.Continue = 0, ""
			options.ResourceVersion, options.ResourceVersionMatch = version, match
			if page, err = p.PageFn(ctx, options); err != nil {
				return err
			}
			m, err := meta.ListAccessor(page)
			if err != nil {
				return fmt.Errorf("returned object must be a list: %w", err)
			}
			return fn(page, m, true)
		}
		m, err := meta.ListAccessor(page)
		if err != nil {
			return fmt.Errorf("returned object must be a list: %w", err)
		}
		last := m.GetContinue() == ""
		if err := fn(page, m, whole && last && (first || n == 0)); err != nil {
			return err
		}
		if last {
			return nil
		}
		// The token contains the version. A request with both is an error.
		options.Continue, options.ResourceVersion, options.ResourceVersionMatch = m.GetContinue(), "", ""
	}
}

// EachListItem calls fn for each item, and reads the next pages at the same time. It stops at the
// first error. If the context ends, it returns an error before the next page. It also returns an
// error if a token expires, because fn has already received items.
func (p *ListPager) EachListItem(ctx context.Context, options metav1.ListOptions, fn func(obj runtime.Object) error) error {
	return p.eachItem(ctx, options, fn, meta.EachListItem)
}

// EachListItemWithAlloc is EachListItem, except that an item does not keep the other items of its
// page in memory.
func (p *ListPager) EachListItemWithAlloc(ctx context.Context, options metav1.ListOptions, fn func(obj runtime.Object) error) error {
	return p.eachItem(ctx, options, fn, meta.EachListItemWithAlloc)
}

// errPanicked is the error if PageFn panics, in a program that continues after panics.
var errPanicked = stderrors.New("a page could not be read: its function has panicked")

func (p *ListPager) eachItem(ctx context.Context, options metav1.ListOptions, fn func(obj runtime.Object) error, each forEach) error {
	if p.PageBufferSize < 0 {
		return fmt.Errorf("ListPager.PageBufferSize must be >= 0, got %d", p.PageBufferSize)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ahead := make(chan runtime.Object, p.PageBufferSize)
	done := make(chan error, 1)
	go func() {
		err := errPanicked // the error if pages panics
		defer func() { done <- err }()
		defer close(ahead)
		defer utilruntime.HandleCrashWithContext(ctx)
		err = p.pages(ctx, options, false, func(page runtime.Object, _ metav1.ListInterface, _ bool) error {
			select {
			case ahead <- page:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	for page := range ahead {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := each(page, fn); err != nil {
			return err
		}
	}
	return <-done
}
