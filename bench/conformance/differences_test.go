package conformance

import "github.com/kinform/kinform/internal/conformance"

// differences are those of client-go.
type differences conformance.Differences

// but returns the differences of what is linked, which is client-go or, with the line, module
// clientgo. That one keeps these contracts: what differs there is a defect of client-go, and
// no program could rely on it.
func (d differences) but(kept ...string) conformance.Differences {
	if line {
		for _, name := range kept {
			delete(d, name)
		}
	}
	return conformance.Differences(d)
}
