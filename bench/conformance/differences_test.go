package conformance

import "github.com/kinform/kinform/internal/conformance"

// differences are client-go's differences.
type differences conformance.Differences

// but returns the differences of the linked module, which is client-go or, with the replace line,
// module clientgo. It removes kept: in these cases client-go has a defect on which no program could
// rely, so module clientgo keeps the contract.
func (d differences) but(kept ...string) conformance.Differences {
	if line {
		for _, name := range kept {
			delete(d, name)
		}
	}
	return conformance.Differences(d)
}
