package listwatch

import (
	"context"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Source lists and watches one resource: one type of object, in one namespace or in all,
// those objects that match the selectors of the Source.
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

// Preparer is a [Source] that may need long before it can ask the server: for a credential,
// for which somebody has to log in. A caller that gives a List or a Watch a deadline, as a
// reflector does, calls Prepare first, without a deadline. A Source that wraps another one
// should implement Preparer by calling that of the other.
type Preparer interface {
	// Prepare returns nil when List and Watch need not wait any more. It returns an error
	// if there will be no credential, or if ctx ends. It may be called at any time, and is
	// cheap if there is nothing to wait for.
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

	// Meta describes the whole list. It is complete only after Next has returned io.EOF,
	// because a server may write it after the items, as for custom resources in JSON.
	// Before that, fields that have not been read are zero.
	Meta() ListMeta

	Close() error
}

// WatchStream is the answer to a watch, read event by event. The package
// comment has the contract of Next and Close.
//
// An ERROR event of the server ends the stream: Next returns an error for which the
// predicates of apimachinery's api/errors work, such as IsResourceExpired.
type WatchStream[T any] interface {
	Next() (Event[T], error)
	Close() error
}

// ListOptions say which list a caller wants. The zero value asks for the whole of the most
// recent state.
type ListOptions struct {
	// ResourceVersion is the version that the list must not be older than; the API
	// concepts page of Kubernetes has the table. "" means the most recent state (a quorum
	// read), and "0" any state that the server has in its cache.
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

	// VersionOnly says that the caller only needs [ListMeta].ResourceVersion, for as
	// little work as possible: the stream may have few items or none, and is no page of a
	// list. No watch will start from that version.
	VersionOnly bool

	// Bytes counts the bytes of a list that takes several requests, for pages or for
	// parts: the Source adds what it reads. A Source that bounds the size of lists
	// bounds that of the whole; see [ErrListTooLarge]. Defaults to nil: this request
	// is the whole list.
	Bytes *atomic.Int64

	// Patience is how long the list may be silent; see [Patience].
	Patience Patience

	// Known reports whether the caller has the object with this key in exactly this
	// version; uidHash is that of [Item]. If it does, the stream may return an Item that
	// is marked Unchanged and has no object, which saves decoding it. Known may be called
	// from several goroutines at once, and in any order. Defaults to nil: every item has
	// its object.
	Known func(key types.NamespacedName, resourceVersion string, uidHash uint64) bool

	// Owned says that the caller will change the objects in place, so that no two of
	// them may share a part. Defaults to false: they may, and must not be changed. An object
	// that shares parts must say so in Item.Shared: sources.Transform lets a function change
	// any other object.
	Owned bool
}

// WatchOptions say from which version a watch starts, and how long it may last.
type WatchOptions struct {
	// ResourceVersion is the version after which the watch starts. With "" and "0" it
	// starts with an Added event for each existing object.
	ResourceVersion string

	// SendInitialEvents asks for a streaming list (KEP-3157): Added events for
	// all objects that exist, not older than ResourceVersion, then a bookmark
	// with InitialEventsEnd set, then changes.
	SendInitialEvents bool

	// Timeout asks the server to end the watch after this time, in whole seconds;
	// the end is an io.EOF like any other. 0 leaves it to the server.
	Timeout time.Duration

	// Bytes is as in ListOptions, for the initial events of a streaming list.
	Bytes *atomic.Int64

	// Patience is how long the watch may be silent. Up to InitialEventsEnd, InitialPatience
	// takes its place; see [Patience].
	Patience, InitialPatience Patience

	// Known is as in ListOptions, for the initial events of a streaming list.
	Known func(key types.NamespacedName, resourceVersion string, uidHash uint64) bool

	// Held returns the object that the caller has under this key, in any version, or nil.
	// The object of an event may share equal parts with it, so that nobody may change
	// either, and says so in Item.Shared. Held may be called as Known may. Defaults to nil:
	// an object shares nothing with the caller's.
	Held func(key types.NamespacedName) any

	// Owned is as in ListOptions. With it, Held is ignored.
	Owned bool
}

// Patience says how long a stream may be silent. A Source of one server may ignore it: the
// caller ends a silent stream by its context. A Source that combines several must apply
// Limit to each of them, so that it finds a dead one among others. It must also call
// Progress for signs of life that Next does not show, such as the end of an empty part.
type Patience struct {
	// Limit is how long Next, or the call that opens the stream, may take. 0 or less
	// means for ever.
	Limit time.Duration

	// Progress says that the stream is not silent: the caller's own wait begins anew. It is
	// called from any goroutine, at any time before Close returns. Defaults to nil.
	Progress func()
}

// ListMeta describes a list, or one page of it.
type ListMeta struct {
	// ResourceVersion is the state of the server that the list shows: a watch
	// started from it misses nothing. All pages of one list have the same.
	ResourceVersion string

	// Continue is the token of the next page, "" on the last one.
	Continue string

	// RemainingItemCount is how many items follow on later pages, or 0 if the server does
	// not tell.
	RemainingItemCount int64

	// Bytes is the length of the answer, after decompression. 0 if the Source does not
	// count.
	Bytes int64
}

// Describer is a Source that can ask its server for a description of its content, as
// rest.Resource does: two Sources with equal descriptions have the same objects. An error
// means that the server refuses the client, or cannot be reached.
type Describer interface {
	Describe(ctx context.Context) (map[string]string, error)
}
