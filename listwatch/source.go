package listwatch

import (
	"context"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Source lists and watches one resource: the objects of one type, in one namespace or in all, that
// match the selectors of the Source.
//
// A Source is safe for concurrent use. If it is a fmt.Stringer, errors about it contain its name.
// Errors from the server satisfy the predicates of k8s.io/apimachinery/pkg/api/errors, even if they
// are wrapped several times.
type Source[T any] interface {
	// List opens a stream of the objects that exist. It returns when the server has accepted the
	// request, before the first item is read. The stream lives until it is closed or ctx ends.
	List(ctx context.Context, opts ListOptions) (ListStream[T], error)

	// Watch opens a stream of the changes after opts.ResourceVersion. It returns when the server
	// has accepted the request. The stream lives until it is closed or ctx ends.
	Watch(ctx context.Context, opts WatchOptions) (WatchStream[T], error)
}

// Preparer is a [Source] that may need a long time before it can send a request, for example
// because a user must log in. A caller that sets a deadline for List or Watch, as a reflector does,
// first calls Prepare without a deadline. A Source that wraps another Source should implement
// Preparer by calling Prepare of that Source.
type Preparer interface {
	// Prepare waits until List and Watch can send their requests without waiting for a credential.
	// It returns an error if no credential is available, or if ctx ends. It may be called at any
	// time, and is cheap if there is nothing to wait for.
	Prepare(ctx context.Context) error
}

// Prepare calls source.Prepare if source is a [Preparer].
func Prepare(ctx context.Context, source any) error {
	if p, ok := source.(Preparer); ok {
		return p.Prepare(ctx)
	}
	return nil
}

// ListStream is the response to a list, or to one page of a list, read item by item. The package
// comment has the contract of Next and Close.
type ListStream[T any] interface {
	Next() (Item[T], error)

	// Meta returns the metadata of the list. It is complete only after Next has returned io.EOF,
	// because a server may write the metadata after the items. An API server does so for custom
	// resources in JSON. Until then, fields that have not been read are zero.
	Meta() ListMeta

	Close() error
}

// WatchStream is the response to a watch, read event by event. The package comment has the contract
// of Next and Close.
//
// An ERROR event of the server ends the stream. Next then returns an error that satisfies the
// predicates of apimachinery's api/errors, such as IsResourceExpired.
type WatchStream[T any] interface {
	Next() (Event[T], error)
	Close() error
}

// ListOptions are the options of one list, or of one page. The zero value requests all objects in
// their most recent state.
type ListOptions struct {
	// ResourceVersion is the version that the list must not be older than. "" means the most recent
	// state (a quorum read), and "0" any state that the server has in its cache. Kubernetes' page
	// "API concepts" has all cases.
	ResourceVersion string

	// ResourceVersionMatch changes the meaning of ResourceVersion. Defaults to the server's own
	// rule, which is "not older than". If there is a Limit and the version is not "0", the server's
	// rule is "exactly" (KEP-2523).
	ResourceVersionMatch metav1.ResourceVersionMatch

	// Limit is the largest number of items in one page. 0 means no paging. A server may ignore it.
	Limit int64

	// Continue requests the page after the page that has this [ListMeta].Continue. ResourceVersion
	// and ResourceVersionMatch must then be empty.
	Continue string

	// VersionOnly is true if the caller only needs [ListMeta].ResourceVersion, with as little work
	// as possible. The stream may then have few items or none, and is not a page of a list. The
	// caller must not start a watch from this version.
	VersionOnly bool

	// Bytes counts the bytes of a list that takes several requests, for its pages or its parts. The
	// Source adds the number of bytes that it reads. If a Source limits the size of lists, the
	// limit applies to this sum; see [ErrListTooLarge]. Defaults to nil: this request is the whole
	// list.
	Bytes *atomic.Int64

	// IdleTimeout is how long the list may be silent; see [IdleTimeout].
	IdleTimeout IdleTimeout

	// Known reports whether the caller has the object with this key in exactly this version;
	// uidHash is [Item].UIDHash. If Known returns true, the stream may skip decoding, and return an
	// Item that is [Unchanged]. Known may be called from several goroutines
	// at once, and in any order. Defaults to nil: every item has its object.
	Known func(key types.NamespacedName, resourceVersion string, uidHash uint64) bool

	// Owned is true if the caller will change the objects in place, so that no two objects may
	// share a part. Defaults to false: objects may share parts, and must not be changed. An object
	// that shares parts must then have Item.Shared set. So sources.Transform knows which objects it
	// must copy before a function changes them.
	Owned bool
}

// WatchOptions say from which version a watch starts, and how long it may last.
type WatchOptions struct {
	// ResourceVersion is the version after which the watch starts. With "" and "0" it
	// starts with an Added event for each existing object.
	ResourceVersion string

	// SendInitialEvents requests a streaming list (KEP-3157): first Added events for all objects
	// that exist, in a state not older than ResourceVersion. A bookmark with InitialEventsEnd set
	// follows, and then the changes.
	SendInitialEvents bool

	// Timeout asks the server to end the watch after this time, in whole seconds. The end is an
	// ordinary io.EOF. 0 leaves the time to the server.
	Timeout time.Duration

	// Bytes has the meaning of [ListOptions].Bytes, for the initial events of a streaming list.
	Bytes *atomic.Int64

	// IdleTimeout is how long the watch may be silent. Until InitialEventsEnd, InitialIdleTimeout
	// applies instead; see [IdleTimeout].
	IdleTimeout, InitialIdleTimeout IdleTimeout

	// Known has the meaning of [ListOptions].Known, for the initial events of a streaming list.
	Known func(key types.NamespacedName, resourceVersion string, uidHash uint64) bool

	// Held returns the object that the caller has under this key, in any version, or nil. The
	// object of an event may share equal parts with the held object. Then the event has Item.Shared
	// set, and nobody may change either object. Held may be called from several goroutines at once.
	// Defaults to nil: an object shares nothing with the caller's objects.
	Held func(key types.NamespacedName) any

	// Owned has the meaning of [ListOptions].Owned. If it is set, Held is ignored.
	Owned bool
}

// IdleTimeout is how long a stream may be silent. A Source of one server may ignore it, because the
// caller ends a silent stream by its context. A Source that combines several streams must apply
// Limit to each stream, to notice a dead stream among live ones. It must also call Progress for
// activity that Next does not return, such as the end of an empty part.
type IdleTimeout struct {
	// Limit is how long Next, or the call that opens the stream, may take. 0 or less means no
	// limit.
	Limit time.Duration

	// Progress reports that the stream is alive, so that the caller's own timer starts again. It
	// may be called from any goroutine, until Close returns. Defaults to nil.
	Progress func()
}

// ListMeta describes a list, or one page of it.
type ListMeta struct {
	// ResourceVersion is the state of the server that the list shows. A watch that starts from it
	// misses nothing. All pages of one list have the same ResourceVersion.
	ResourceVersion string

	// Continue is the token of the next page, or "" on the last page.
	Continue string

	// RemainingItemCount is the number of items on later pages, or 0 if the server did not send it.
	RemainingItemCount int64

	// Bytes is the length of the response body, after decompression, or 0 if the Source does not
	// count.
	Bytes int64
}

// Describer is a Source that can ask its server for a description of the content, as rest.Resource
// does. Two Sources with equal descriptions have the same objects. An error means that the server
// refuses the client, or cannot be reached.
type Describer interface {
	Describe(ctx context.Context) (map[string]string, error)
}
