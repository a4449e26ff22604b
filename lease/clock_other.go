//go:build !linux

package lease

import "time"

// suspended is for how long the machine has been suspended, which is not known here.
func suspended() time.Duration { return 0 }
