package tcpproxy

import "time"

// Kind is a way in which a connection fails.
type Kind uint8

// These are the kinds of faults.
const (
	// None forwards everything.
	None Kind = iota
	// Reset ends the connection on both sides abruptly, by RST if it is TCP.
	Reset
	// Cut ends the connection on both sides in an orderly way.
	Cut
	// Stall stops forwarding in both directions, but keeps both sides open: the connection is
	// half-open. Bytes that are sent afterwards are lost.
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

// Fault says how a connection fails. The zero value means no fault.
type Fault struct {
	Kind Kind

	// After is how many bytes from the server reach the client before the fault.
	After int

	// Pause is the time between two bytes of a Trickle.
	Pause time.Duration

	// Bit is the bit of a byte that Corrupt inverts; 0 is the lowest.
	Bit uint8
}
