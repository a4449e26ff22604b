package reflector

import (
	"time"

	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/types"
)

// Observer is a set of hooks into a reflector; each may be nil. Run's goroutine calls them with no
// lock held, in the order of the steps. A hook delays the reflector until it returns. Later
// versions may add hooks, and fields to their arguments.
type Observer struct {
	// OnPhase is called when the reflector enters another phase.
	OnPhase func(PhaseChange)

	// OnPage is called when a page of a list has been read. A list without pages is one
	// page.
	OnPage func(PageInfo)

	// OnItem is called for each object of a list.
	OnItem func(ItemInfo)

	// OnEvent is called for each event of a watch or of a streaming list, before the sink gets it.
	OnEvent func(EventInfo)

	// OnWait is called before the reflector waits.
	OnWait func(time.Duration)
}

// PhaseChange is a step from one phase to another.
type PhaseChange struct {
	From, To Phase

	// Cause is the failure that led to this step, or nil if nothing has failed.
	Cause error
}

// PageInfo describes a page of a list.
type PageInfo struct {
	// Items is how many objects this page has.
	Items int

	// ListMeta is the metadata that the server sent with the page.
	listwatch.ListMeta
}

// ItemInfo identifies an object of a list.
type ItemInfo struct {
	Key             types.NamespacedName
	ResourceVersion string

	// State is [listwatch.Unchanged] if the object was not decoded, because the sink has this
	// version of it.
	State listwatch.ItemState
}

// EventInfo identifies an event of a watch.
type EventInfo struct {
	// Phase is Streaming for an event of a streaming list, and Watching otherwise.
	Phase Phase

	Type            listwatch.EventType
	Key             types.NamespacedName
	ResourceVersion string
}
