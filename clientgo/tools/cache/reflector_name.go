package cache

import (
	"path"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// caller is the line of code outside of this package that calls it, or else the one that has started the goroutine: of a
// program that says "go informer.Run(stop)", this is that line.
func caller() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if frame.Function != "runtime.goexit" && outside(frame.Function, frame.File) {
			return path.Base(frame.File) + ":" + strconv.Itoa(frame.Line)
		}
		if !more {
			return starter(string(debug.Stack()))
		}
	}
}

// outside tells a function of another package, or of a test, from those of this package.
func outside(function, file string) bool {
	return !strings.HasPrefix(function, "k8s.io/client-go/tools/cache.") || strings.HasSuffix(file, "_test.go")
}

// starter is the line that has started the goroutine with this stack, whose end names it:
//
//	created by example.com/program.run in goroutine 1
//		/src/program/run.go:12 +0x1d
//
// It is "reflector" if the goroutine is the first one, or started by this package.
func starter(stack string) string {
	_, created, _ := strings.Cut(stack, "\ncreated by ")
	function, at, _ := strings.Cut(created, "\n\t")
	at, _, _ = strings.Cut(at, " +0x")
	at = strings.TrimSpace(at)
	file, _, _ := strings.Cut(path.Base(at), ":")
	if at == "" || !outside(function, file) {
		return "reflector"
	}
	return path.Base(at)
}
