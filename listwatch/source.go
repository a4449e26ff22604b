package listwatch

import (
	"context"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Source lists and watches one resource: one type of object, in one namespace
// or in all, narrowed by whatever selectors the Source was made with.
//
// A Source is safe for concurrent use. If it is a fmt.Stringer, its name appears
// in errors about it. Errors that came from the server satisfy
// the predicates of k8s.io/apimachinery/pkg/api/errors, however deeply wrapped.
type Source[T any] interface {
	// List opens a stream of the objects that exist. It returns when the server
	// has agreed to answer, which is before the first item is read. The stream
	// lives until it is closed or ctx ends.
	List(ctx context.Context, opts ListOptions) (ListStream[T], error)

	// Watch opens a stream of the changes after opts.ResourceVersion. It returns
	// when the server has agreed to answer. The stream lives until it is closed
	// or ctx ends.
	Watch(ctx context.Context, opts WatchOptions) (WatchStream[T], error)
}

// Preparer is what a [Source] may be as well, if it needs something before it can ask
// the server that may take much longer than an answer should: a credential for which
// somebody has to log in. A caller that gives a List or a Watch a deadline, as a reflector does,
// calls Prepare first, without one. A Source that wraps another one passes it on.
type Preparer interface {
	// Prepare returns when List and Watch need not wait for that, with the error for
	// which there is none, or when ctx ends. It may be called at any time, and is cheap
	// where there is nothing to wait for.
	Prepare(ctx context.Context) error
}

// Prepare calls the method of that name, if source is a [Preparer].
func Prepare(ctx context.Context, source any) error {
	if p, ok := source.(Preparer); ok {
		return p.Prepare(ctx)
	}
	return nil
}

// ListStream is the answer to a list, or to one page of it, read item by item.
// The package comment has the contract of Next and Close.
type ListStream[T any] interface {
	Next() (Item[T], error)

	// Meta describes the list as a whole. It is complete only after Next has
	// answered io.EOF, because a server may write it after the items, as it does
	// for custom resources in JSON. Before that, fields not yet read are zero.
	Meta() ListMeta

	Close() error
}

// WatchStream is the answer to a watch, read event by event. The package
// comment has the contract of Next and Close.
//
// An error event sent by the server ends the stream: Next answers with an error
// for which the predicates of apimachinery's api/errors work, such as
// IsResourceExpired.
type WatchStream[T any] interface {
	Next() (Event[T], error)
	Close() error
}

// ListOptions says which list is wanted. The zero value asks for the most
// recent state, whole.
type ListOptions struct {
	// ResourceVersion is the version that the answer must not be older than; the
	// API concepts page of Kubernetes has the table. "" means the most recent
	// state (a quorum read), "0" whatever the server has in its cache.
	ResourceVersion string

	// ResourceVersionMatch changes the meaning of ResourceVersion. Defaults to
	// the server's own rule, which for a list is "not older than", and "exactly" for
	// one that has a Limit, unless the version is "0" (KEP-2523).
	ResourceVersionMatch metav1.ResourceVersionMatch

	// Limit is the largest number of items in one page. 0 means no paging. A
	// server is free to ignore it.
	Limit int64

	// Continue asks for the page after the one whose [ListMeta].Continue it is.
	// ResourceVersion and ResourceVersionMatch must then be empty.
	Continue string

	// VersionOnly says that only [ListMeta].ResourceVersion is wanted, for as little
	// work as possible: the stream may have few items or none, and is no page of a
	// list. No watch will start from that version.
	VersionOnly bool

	// Bytes counts the bytes of a list that takes several requests, for pages or for
	// parts: the Source adds what it reads. A Source that bounds the size of lists
	// bounds that of the whole; see [ErrListTooLarge]. Defaults to nil: this request
	// is the whole list.
	Bytes *atomic.Int64

	// Patience is what the caller has with the list; see [Patience].
	Patience Patience

	// Known reports whether the caller holds the object with this key in this
	// very version; uidHash is that of [Item]. Where it does, the stream may answer with an Item that is
	// marked Unchanged and has no object, which spares decoding it. Known may be
	// called from several goroutines at once, and in any order. Defaults to nil:
	// every item carries its object.
	Known func(key types.NamespacedName, resourceVersion string, uidHash uint64) bool

	// Owned says that the caller will change the objects in place, so that no two of
	// them may share a part. Defaults to false: they may, and must not be changed.
	Owned bool
}

// WatchOptions says from where a watch starts and how long it may last.
type WatchOptions struct {
	// ResourceVersion is the version after which changes are wanted. "" and "0"
	// start with an Added event for each object that exists.
	ResourceVersion string

	// SendInitialEvents asks for a streaming list (KEP-3157): Added events for
	// all objects that exist, not older than ResourceVersion, then a bookmark
	// with InitialEventsEnd set, then changes.
	SendInitialEvents bool

	// Timeout asks the server to end the watch after this time, in whole seconds;
	// the end is an io.EOF like any other. 0 leaves it to the server.
	Timeout time.Duration

	// Bytes is what it is in ListOptions, for the initial events of a streaming list.
	Bytes *atomic.Int64

	// Patience is what the caller has with the watch, and InitialPatience what takes
	// its place up to InitialEventsEnd; see [Patience].
	Patience, InitialPatience Patience

	// Known is what it is in ListOptions, and applies to the initial events of a
	// streaming list.
	Known func(key types.NamespacedName, resourceVersion string, uidHash uint64) bool

	// Held returns the object that the caller holds under this key, in whatever
	// version, or nil. The object of an event may share with it what is the same in
	// both, so that neither must be changed. Held may be called as Known may.
	// Defaults to nil: objects share nothing with this one.
	Held func(key types.NamespacedName) any

	// Owned is what it is in ListOptions. Held is then left aside.
	Owned bool
}

// Patience is for how long somebody waits for a stream that says nothing. A Source
// that asks one server one question may ignore it: the caller ends such a stream by
// its context. A Source that is put together of several must hold each of them to it,
// so that one which is dead is found among others which are not, and tell of what
// Next does not: that an empty part has been listed is a sign of life.
type Patience struct {
	// Limit is how long Next, or the call that opens the stream, may take to answer.
	// 0 or less means for ever.
	Limit time.Duration

	// Progress is called, from any goroutine and at any time before Close returns, to
	// say that the stream is not silent: the caller's own wait begins anew. Defaults to
	// nil, for nobody who wants to know.
	Progress func()
}

// ListMeta describes a list, or one page of it.
type ListMeta struct {
	// ResourceVersion is the state of the server that the list shows: a watch
	// started from it misses nothing. All pages of one list have the same.
	ResourceVersion string

	// Continue is the token of the next page, "" on the last one.
	Continue string

	// RemainingItemCount is how many items follow on later pages, or 0 where the
	// server does not say.
	RemainingItemCount int64

	// Bytes is how long the answer was, after decompression. 0 where the Source does
	// not count.
	Bytes int64
}

// Describer is a Source that can say what it is a source of, having asked the server, as
// rest.Resource does: two whose descriptions are equal have the same objects. An error means
// that the server does not accept us, or cannot be reached.
type Describer interface {
	Describe(ctx context.Context) (map[string]string, error)
}
