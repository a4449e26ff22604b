package conformance

import "github.com/kinform/kinform/internal/testing/conformance"

// differences are client-go's differences.
type differences conformance.Differences

// without returns the differences of the linked module, which is client-go or, with the replace
// line, module clientgo. It removes kept: in these cases client-go has a defect on which no program
// could rely, so module clientgo keeps the contract.
func (d differences) without(kept ...string) conformance.Differences {
	if dropin {
		for _, name := range kept {
			delete(d, name)
		}
	}
	return conformance.Differences(d)
}
