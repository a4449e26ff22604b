package reflector

import "fmt"

// Phase is a state of a reflector's work. The package comment has a picture of how
// phases follow each other.
type Phase uint8

const (
	// Idle is the phase before Run.
	Idle Phase = iota
	// Listing reads a list, page by page.
	Listing
	// Streaming reads a streaming list, up to its end marker.
	Streaming
	// Connecting waits for the server's response to the request for a watch.
	Connecting
	// Comparing finds out whether the server still has the known history, after the last watch was
	// lost and a new watch was opened.
	Comparing
	// Watching reads the events of a watch.
	Watching
	// BackingOff waits after a failure, or after many attempts within a second.
	BackingOff
	// Stopped is the phase after Run.
	Stopped
)

// String returns the name of the phase, in lower case.
func (p Phase) String() string {
	switch p {
	case Idle:
		return "idle"
	case Listing:
		return "listing"
	case Streaming:
		return "streaming"
	case Connecting:
		return "connecting"
	case Comparing:
		return "comparing"
	case Watching:
		return "watching"
	case BackingOff:
		return "backing off"
	case Stopped:
		return "stopped"
	default:
		return fmt.Sprintf("Phase(%d)", uint8(p))
	}
}
