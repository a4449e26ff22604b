package conformance

import "github.com/kinform/kinform/internal/conformance"

// differences are client-go's differences.
type differences conformance.Differences

// but returns the differences of the linked module, which is client-go or, with the replace line,
// module clientgo. Module clientgo keeps the contracts in kept, because there client-go has a
// defect that no program could rely on.
func (d differences) but(kept ...string) conformance.Differences {
	if line {
		for _, name := range kept {
			delete(d, name)
		}
	}
	return conformance.Differences(d)
}
