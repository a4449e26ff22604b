package reflector

import (
	"time"

	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/types"
)

// Observer is a set of hooks into a reflector; any of them may be nil. They are
// called from Run's goroutine, in the order in which things happen, without any
// lock held, and they delay the reflector while they run. Hooks and fields of
// their arguments may be added.
type Observer struct {
	// OnPhase is called when the reflector enters another phase.
	OnPhase func(PhaseChange)

	// OnPage is called when a page of a list has been read; a list without
	// paging is one page.
	OnPage func(PageInfo)

	// OnItem is called for each object of a list.
	OnItem func(ItemInfo)

	// OnEvent is called for each event of a watch or of a streaming list,
	// before the sink has it.
	OnEvent func(EventInfo)

	// OnWait is called before the reflector waits.
	OnWait func(time.Duration)
}

// PhaseChange is a step from one phase to another.
type PhaseChange struct {
	From, To Phase

	// Cause is the failure that led to this step, nil where nothing has failed.
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

	// Unchanged says that the object was not decoded, because the sink has this
	// version of it.
	Unchanged bool
}

// EventInfo identifies an event of a watch.
type EventInfo struct {
	// Phase is Streaming for an event of a streaming list, else Watching.
	Phase Phase

	Type            listwatch.EventType
	Key             types.NamespacedName
	ResourceVersion string

	// Time is when the event was received.
	Time time.Time
}
