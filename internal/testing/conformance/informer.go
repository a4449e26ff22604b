package conformance

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
)

// Informer is the interface of the informer suite: an informer of all pods of a server. Its methods
// do not follow the names of one implementation, so that every implementation can be adapted to it.
type Informer interface {
	// Run works until ctx ends, and returns when everything that it started has ended.
	Run(ctx context.Context) error

	// AddHandler registers a handler, before or while Run runs. A resync of 0 means no resync.
	AddHandler(handle func(Event), resync time.Duration) (Registration, error)

	// Synced reports whether the first list is in the store.
	Synced() bool

	// Get returns the pod that is stored under a key, or nil.
	Get(key types.NamespacedName) *corev1.Pod

	// Pods returns all pods that are stored.
	Pods() map[types.NamespacedName]*corev1.Pod

	// ByIndex returns the keys that have a value in an index of the setup.
	ByIndex(index, value string) ([]types.NamespacedName, error)

	// ResourceVersion returns the version up to which the store is complete, as far as the informer
	// knows.
	ResourceVersion() string
}

// Registration is a handler of an Informer.
type Registration interface {
	// Synced reports whether the handler has returned from every initial add.
	Synced() bool

	// Remove ends the handler, without waiting.
	Remove()
}

// Event is an event of a handler.
type Event struct {
	Type EventType

	// Initial says that the object existed when the informer or the handler started. An
	// implementation that knows this only for Added leaves it false for other events.
	Initial bool

	Key types.NamespacedName

	// Old is nil for Added. For Deleted, New is the last known state.
	Old, New *corev1.Pod

	// FinalStateUnknown marks a tombstone.
	FinalStateUnknown bool
}

// EventType says how an object has changed.
type EventType string

// These are the ways in which an object can change.
const (
	Added   EventType = "added"
	Updated EventType = "updated"
	Deleted EventType = "deleted"
)

// Setup has the options of an informer.
type Setup struct {
	// Server is the API server; the informer connects by its DialContext.
	Server *apitest.Server

	// WatchList requests streaming lists.
	WatchList bool

	// Resync is the shortest period of any handler. Defaults to no resync.
	Resync time.Duration

	// Transform may be nil.
	Transform func(*corev1.Pod) (*corev1.Pod, error)

	// Indexes may be nil.
	Indexes map[string]func(*corev1.Pod) ([]string, error)

	// OnError is called with each failure. It may be nil.
	OnError func(error)
}

// NewInformer makes the informer of a setup. The informer has its own connections to the server,
// which are closed when Run returns. Its requests have the argument name in their User-Agent, so
// that a test can inject faults for this informer only.
type NewInformer func(name string, setup Setup) (Informer, error)
