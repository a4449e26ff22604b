//go:build !linux

package lease

import "time"

// suspended returns 0, because the time in suspension is not available here.
func suspended() time.Duration { return 0 }
