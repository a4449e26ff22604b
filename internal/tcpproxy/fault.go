package tcpproxy

import "time"

// Kind is a way in which a connection goes wrong.
type Kind uint8

// The kinds of faults.
const (
	// None forwards everything.
	None Kind = iota
	// Reset ends the connection on both sides without a proper end: by RST, if it is TCP.
	Reset
	// Cut ends the connection on both sides in an orderly way.
	Cut
	// Stall forwards nothing any more, in neither direction, and keeps both sides open: the
	// connection is half-open. Sent bytes are lost.
	Stall
	// Trickle forwards one byte at a time.
	Trickle
	// Corrupt inverts one bit.
	Corrupt
)

// String returns the name of the kind.
func (k Kind) String() string {
	names := [...]string{"none", "reset", "cut", "stall", "trickle", "corrupt"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Fault says how a connection goes wrong. With the zero value it does not.
type Fault struct {
	Kind Kind

	// After is how many bytes from the server reach the client before the fault.
	After int

	// Pause is the time between two bytes that trickle.
	Pause time.Duration

	// Bit is which bit of a byte Corrupt inverts, 0 the lowest.
	Bit uint8
}
