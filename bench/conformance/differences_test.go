package conformance

import "github.com/kinform/kinform/internal/testing/conformance"

// differences lists the cases of a suite in which client-go breaks a contract.
type differences conformance.Differences

// without returns the differences of the linked module: client-go or, with the replace directive,
// module clientgo. For module clientgo it removes the cases in kept. There client-go has a defect
// on which no program could rely, so module clientgo keeps the contract.
func (d differences) without(kept ...string) conformance.Differences {
	if dropin {
		for _, name := range kept {
			delete(d, name)
		}
	}
	return conformance.Differences(d)
}
