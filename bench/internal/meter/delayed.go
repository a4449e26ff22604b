package meter

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Delayed returns the total time in which the process's threads were runnable but had no processor.
// It returns 0 if the system does not provide it.
func Delayed() (sum time.Duration) {
	files, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		var ran, waited int64
		_, _ = fmt.Sscan(string(data), &ran, &waited)
		sum += time.Duration(waited)
	}
	return sum
}
