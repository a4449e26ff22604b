package lease

import (
	"syscall"
	"time"
	"unsafe"
)

const (
	clockMonotonic = 1
	clockBoottime  = 7
)

// suspended returns how long the machine has been suspended since boot, to a millisecond. The
// result is the difference of two kernel clocks, of which only CLOCK_BOOTTIME counts during
// suspension. Both must be read at nearly the same time.
func suspended() time.Duration {
	var asleep time.Duration
	for range 10 {
		before, boot, after := readClock(clockMonotonic), readClock(clockBoottime), readClock(clockMonotonic)
		if boot == 0 {
			return 0 // This kernel has no such clock.
		}
		if asleep = boot - before; after-before < time.Millisecond {
			break
		}
	}
	return asleep
}

func readClock(id uintptr) time.Duration {
	var at syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&at)), 0); errno != 0 {
		return 0
	}
	return time.Duration(at.Nano())
}
