package cache

import (
	"path"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// caller returns the file and line of the innermost caller outside this package. If all callers are
// in this package, as after "go informer.Run(stop)", it returns the line that started the
// goroutine.
func caller() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if frame.Function != "runtime.goexit" && isOutsidePackage(frame.Function, frame.File) {
			return path.Base(frame.File) + ":" + strconv.Itoa(frame.Line)
		}
		if !more {
			return goroutineCreator(string(debug.Stack()))
		}
	}
}

// isOutsidePackage reports whether a function belongs to another package or to a test.
func isOutsidePackage(function, file string) bool {
	return !strings.HasPrefix(function, "k8s.io/client-go/tools/cache.") || strings.HasSuffix(file, "_test.go")
}

// goroutineCreator returns the file and line that started the goroutine with this stack. The stack
// ends with:
//
//	created by example.com/program.run in goroutine 1
//		/src/program/run.go:12 +0x1d
//
// goroutineCreator returns "reflector" for the first goroutine of the process, and for a goroutine
// that this package started.
func goroutineCreator(stack string) string {
	_, created, _ := strings.Cut(stack, "\ncreated by ")
	function, at, _ := strings.Cut(created, "\n\t")
	at, _, _ = strings.Cut(at, " +0x")
	at = strings.TrimSpace(at)
	file, _, _ := strings.Cut(path.Base(at), ":")
	if at == "" || !isOutsidePackage(function, file) {
		return "reflector"
	}
	return path.Base(at)
}
